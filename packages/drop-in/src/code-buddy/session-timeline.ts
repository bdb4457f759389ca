/** Code Buddy's timeline of a session, which is a thread's. */
import { displayPath, type CheckpointId, type Message, type ThreadSummary } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import type { DropInOptions } from "../frame/options.ts";
import { findCheckpoint, findThread, openThread } from "../frame/references.ts";
import { Root } from "../frame/root.ts";
import { AGENT } from "./checkpoint.ts";

/** One turn's message. */
export interface TimelineEntry {
  turn: number;
  /** ISO 8601. */
  ts: string;
  role: "user" | "assistant";
  /** At most 400 characters. */
  textPreview: string;
  toolCalls: { name: string; ok: boolean }[];
  filesTouched: string[];
  checkpointId?: string;
}

/** What a host records beside the words. */
type Facts = Pick<TimelineEntry, "turn" | "ts" | "toolCalls" | "filesTouched" | "checkpointId">;

const PREVIEW_CHARACTERS = 400;

/** The turns of a session. What hooks captured is listed as well as what is recorded here. */
export class SessionTimeline {
  readonly #root: Root;
  readonly #session: string;

  constructor(sessionId = "project", { directory, ...options }: { directory?: string } & DropInOptions = {}) {
    this.#root = new Root(directory, options);
    this.#session = sessionId;
  }

  /** Records a message. One of the user's takes a checkpoint and begins a turn. */
  async record(entry: TimelineEntry): Promise<void> {
    const { workspace } = this.#root;
    const thread = openThread(workspace, AGENT, this.#session);
    const { turn, ts, toolCalls, filesTouched, checkpointId, role, textPreview: content } = entry;
    const said = checkpointId === undefined ? {} : { checkpointId };
    const facts: Facts = { turn, ts, toolCalls, filesTouched, ...said };
    if (role === "assistant") workspace.threads.addMessage(thread, { role, content, artifacts: [facts] });
    else
      workspace.turns.prompt(thread, {
        content,
        artifacts: [facts],
        ...this.#known(workspace, checkpointId),
      });
  }

  /** A checkpoint of a manager whose store dies with the process is only named. */
  #known(workspace: SyncWorkspace, id: string | undefined): { checkpoint?: CheckpointId } {
    if (id === undefined) return {};
    try {
      return { checkpoint: findCheckpoint(workspace, id).id };
    } catch (error) {
      if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
      this.#root.log("info", "checkpoint_elsewhere", { checkpoint: id });
      return {};
    }
  }

  /** The messages of a session, oldest first. */
  async list(sessionId: string): Promise<TimelineEntry[]> {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, sessionId);
    return workspace === undefined || thread === undefined ? [] : entriesOf(workspace, thread);
  }

  /** The message that began a turn. */
  async get(sessionId: string, turn: number): Promise<TimelineEntry | undefined> {
    return (await this.list(sessionId)).find((entry) => entry.turn === turn);
  }
}

function entriesOf(workspace: SyncWorkspace, { id }: ThreadSummary): TimelineEntry[] {
  const { messages } = workspace.threads.history(id, { limit: Number.MAX_SAFE_INTEGER });
  const changed = new Map<number, Set<string>>();
  for (const { messageIndex, path } of workspace.threads.fileEdits(id, { limit: Number.MAX_SAFE_INTEGER }))
    if (messageIndex !== null)
      changed.set(messageIndex, (changed.get(messageIndex) ?? new Set()).add(displayPath(path)));
  let turn = 0;
  return messages.flatMap((message) => {
    if (message.role !== "user" && message.role !== "assistant") return [];
    if (message.role === "user") turn += 1;
    return [
      entryOf(message, message.role, { turn, touched: [...(changed.get(message.index) ?? [])].toSorted() }),
    ];
  });
}

function entryOf(
  { content, createdAt, checkpoint, artifacts }: Message,
  role: "user" | "assistant",
  { turn, touched }: { turn: number; touched: string[] },
): TimelineEntry {
  const [facts] = artifacts as readonly (Partial<Facts> | undefined)[];
  const checkpointId = facts?.checkpointId ?? checkpoint ?? undefined;
  return {
    turn: facts?.turn ?? turn,
    ts: facts?.ts ?? new Date(createdAt).toISOString(),
    role,
    textPreview: Array.from(content).slice(0, PREVIEW_CHARACTERS).join(""),
    toolCalls: facts?.toolCalls ?? [],
    filesTouched: [...new Set([...(facts?.filesTouched ?? []), ...touched])],
    ...(checkpointId !== undefined && { checkpointId }),
  };
}
