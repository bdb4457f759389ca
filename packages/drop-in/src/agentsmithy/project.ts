/** AgentSmithy's project: its dialogs and their messages. */
import { EngineError, type Message, type ThreadSummary } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import type { DropInOptions } from "../frame/options.ts";
import { findThread } from "../frame/references.ts";
import { Root } from "../frame/root.ts";
import { AGENT, checkpointIn, dialogThread } from "./dialog-thread.ts";

/** A dialog as the index lists it. */
export interface Dialog {
  id: string;
  title: string | null;
  created_at: string;
  updated_at: string;
  active_session: string;
  /** Null until something was approved. */
  last_approved_at: string | null;
  initial_checkpoint: string | null;
}

/** All dialogs of a project, newest first. */
export interface DialogsIndex {
  dialogs: Dialog[];
  current_dialog_id: string | null;
}

/** A message of a dialog. */
export interface DialogMessage {
  type: "human" | "ai";
  content: string;
  additional_kwargs: { checkpoint?: string; session?: string };
}

/** The directory of a project, for the other classes of this front. */
export let rootOf: (project: Project) => Root;

/** A directory and its dialogs. */
export class Project {
  readonly root: string;
  readonly #root: Root;
  #current: string | null = null;

  constructor(root: string, options: DropInOptions = {}) {
    this.#root = new Root(root, options);
    this.root = this.#root.directory;
  }

  static {
    rootOf = (project) => project.#root;
  }

  /** Begins a dialog, with a checkpoint of the project as it is; returns its id. */
  create_dialog(title?: string | null, set_current = true): string {
    const { id } = this.#root.workspace.threads.create({ agent: AGENT, ...(title && { title }) });
    if (set_current) this.#current = id;
    return id;
  }

  /** The index of dialogs. */
  load_dialogs_index(): DialogsIndex {
    return { dialogs: this.list_dialogs(), current_dialog_id: this.get_current_dialog_id() };
  }

  /** All dialogs, newest first. */
  list_dialogs(): Dialog[] {
    return this.#threads().map(dialogOf);
  }

  /** The dialog that was chosen here, else the one that was last at work; null when there is none. */
  get_current_dialog_id(): string | null {
    const threads = this.#threads();
    const chosen = threads.find((thread) => thread.externalId === this.#current);
    const [newest] = chosen === undefined ? threads : [chosen];
    return newest?.externalId ?? null;
  }

  /** Chooses a dialog for this project object. */
  set_current_dialog_id(id: string): void {
    this.#current = this.#dialog(id).thread.externalId;
  }

  /** Hides a dialog and prunes its checkpoints; those of others stay. */
  delete_dialog(id: string): void {
    const { workspace, thread } = this.#dialog(id);
    workspace.threads.delete(thread.id, { checkpoints: true });
    if (this.#current === thread.externalId) this.#current = null;
  }

  /** The messages of a dialog. */
  get_dialog_history(id: string): DialogHistory {
    return new DialogHistory(this.#root, id);
  }

  #threads(): ThreadSummary[] {
    return (this.#root.known?.threads.list() ?? []).filter(({ agent }) => agent === AGENT);
  }

  #dialog(id: string): { workspace: SyncWorkspace; thread: ThreadSummary } {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, id);
    if (workspace === undefined || thread === undefined)
      throw new EngineError("THREAD_NOT_FOUND", `There is no dialog "${id}". Nothing was changed.`, {
        thread: id,
      });
    return { workspace, thread };
  }
}

/** What was said in a dialog. */
export class DialogHistory {
  readonly #root: Root;
  readonly #dialog: string;

  constructor(root: Root, dialog: string) {
    this.#root = root;
    this.#dialog = dialog;
  }

  /**
   * Records a user's message and begins the turn that answers it. With the checkpoint that was taken for it, the turn
   * begins there. Which session it belongs to is known already.
   */
  add_user_message(content: string, checkpoint?: string | null, _session?: string | null): void {
    const { workspace } = this.#root;
    const thread = dialogThread(workspace, this.#dialog);
    const taken = checkpoint ? { checkpoint: checkpointIn(workspace, thread, checkpoint).id } : {};
    workspace.turns.prompt(thread, { content, ...taken });
  }

  /** Records an answer. */
  add_ai_message(content: string): void {
    const { workspace } = this.#root;
    const thread = dialogThread(workspace, this.#dialog);
    workspace.threads.addMessage(thread, { role: "assistant", content });
  }

  /** The messages, oldest first; with a limit the last ones. */
  get_messages(limit?: number | null): DialogMessage[] {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, this.#dialog);
    if (workspace === undefined || thread === undefined) return [];
    const { messages } = workspace.threads.history(thread.id, { limit: limit ?? Number.MAX_SAFE_INTEGER });
    return messages.filter(({ role }) => role === "user" || role === "assistant").map(messageOf);
  }
}

function dialogOf(thread: ThreadSummary): Dialog {
  const { lastApprovedAt } = thread;
  return {
    id: thread.externalId,
    title: thread.title,
    created_at: iso(thread.createdAt),
    updated_at: iso(thread.updatedAt),
    active_session: thread.session,
    last_approved_at: lastApprovedAt === null ? null : iso(lastApprovedAt),
    initial_checkpoint: thread.initialCheckpoint,
  };
}

function messageOf({ role, content, checkpoint, session }: Message): DialogMessage {
  const isHuman = role === "user";
  return {
    type: isHuman ? "human" : "ai",
    content,
    additional_kwargs: isHuman && checkpoint !== null ? { checkpoint, session } : {},
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
