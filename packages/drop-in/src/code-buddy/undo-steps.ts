/** Code Buddy's undo and redo: a checkpoint begins a step, and the step is everything until the next one. */
import { EventEmitter } from "node:events";
import { join } from "node:path";
import {
  displayPath,
  RETENTION_PRESETS,
  type Checkpoint as Taken,
  type Message,
  type Outcome,
  type ThreadId,
} from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { bytesAt, textOf, withLazy } from "../frame/contents.ts";
import { drop } from "../frame/drop.ts";
import type { DropInOptions } from "../frame/options.ts";
import { begunThread, findThread } from "../frame/references.ts";
import { messageOf, Root } from "../frame/root.ts";
import { AGENT } from "./checkpoint.ts";
import { every, type Regular } from "./regularly.ts";

/** When checkpoints are taken by themselves, and how many are kept. */
export interface CheckpointConfig {
  enabled: boolean;
  /** Defaults to 100. */
  maxCheckpoints: number;
  autoCheckpoint: boolean;
  /** Milliseconds; defaults to 300,000. */
  autoCheckpointInterval: number;
  checkpointOnDangerousOps: boolean;
  /** Patterns as in a `.belayignore`, which has the last word over them. */
  excludePatterns: string[];
  /** Bytes; defaults to 10 MiB. What is larger is not captured, is told in the log, and is never touched. */
  maxFileSize: number;
  compressCheckpoints: boolean;
}

/** A file of a checkpoint. */
export interface CheckpointFile {
  path: string;
  relativePath: string;
  size: number;
  mode: number;
}

/** The state before a step. */
export interface Checkpoint {
  id: string;
  name: string;
  description?: string;
  timestamp: Date;
  /** Listed when it is looked at. */
  files: CheckpointFile[];
  metadata: {
    workingDirectory: string;
    gitBranch?: string;
    gitCommit?: string;
    operation: string;
    tool?: string;
    automatic: boolean;
  };
  tags: string[];
  parentId?: string;
}

/** A file that differs between two checkpoints. */
export interface FileChange {
  path: string;
  type: "created" | "modified" | "deleted";
  oldContent?: string;
  newContent?: string;
  diff?: string;
}

/** What going back or forth did. */
export interface UndoResult {
  success: boolean;
  checkpoint: Checkpoint;
  restoredFiles: string[];
  errors: { path: string; error: string }[];
}

/** What is recorded with the message that begins a step. */
interface Facts {
  readonly operation: string;
  readonly tool?: string;
  readonly automatic: boolean;
  readonly name: string;
  readonly description?: string;
}

const THREAD = "undo";
const DANGEROUS = /delete|remove|\brm\b|\bmv\b|rename|overwrite|replace|refactor|rewrite/i;
const DEFAULTS: CheckpointConfig = {
  enabled: true,
  maxCheckpoints: 100,
  autoCheckpoint: true,
  autoCheckpointInterval: 300_000,
  checkpointOnDangerousOps: true,
  excludePatterns: [],
  maxFileSize: 10 * 1024 * 1024,
  compressCheckpoints: true,
};

/**
 * Undo takes the last step out of the files, redo puts it back in: the engine's, so that hand edits and other threads' work
 * stay, and `belay undo` does the same. The timer is one a directory and process; it records nothing while nothing changed.
 */
export class CheckpointManager extends EventEmitter {
  readonly #root: Root;
  readonly #config: CheckpointConfig;
  readonly #timer: Regular | undefined;

  constructor(workingDirectory: string, config: Partial<CheckpointConfig> = {}, options: DropInOptions = {}) {
    super();
    this.#config = { ...DEFAULTS, ...config };
    const { enabled, autoCheckpoint, autoCheckpointInterval, excludePatterns, maxFileSize } = this.#config;
    this.#root = new Root(workingDirectory, options, {
      retention: { ...RETENTION_PRESETS["default"]!, fileBytes: maxFileSize },
      ignore: excludePatterns,
    });
    if (enabled && autoCheckpoint)
      this.#timer = every(autoCheckpointInterval, this.#root.directory, () => this.#takeIfChanged());
  }

  /** Begins a step: takes a checkpoint of everything. */
  async createCheckpoint(o: {
    name?: string;
    description?: string;
    operation: string;
    tool?: string;
    files?: string[];
    tags?: string[];
    automatic?: boolean;
  }): Promise<Checkpoint> {
    if (!this.#config.enabled) throw new Error("Checkpoints are disabled");
    const { workspace } = this.#root;
    const thread = begunThread(workspace, AGENT, THREAD);
    const name = o.name ?? `Checkpoint ${this.getCheckpoints().length + 1}`;
    const facts: Facts = {
      operation: o.operation,
      automatic: o.automatic ?? false,
      name,
      ...(o.tool !== undefined && { tool: o.tool }),
      ...(o.description !== undefined && { description: o.description }),
    };
    const { checkpoint } = workspace.turns.prompt(thread, { content: name, artifacts: [facts] });
    if (checkpoint === null) throw new Error("Captures are paused: no checkpoint was taken.");
    for (const { path, reason } of checkpoint.gaps)
      this.#root.log("warning", "not_captured", { path: displayPath(path), reason });
    for (const tag of o.tags ?? []) workspace.tag(checkpoint.id, tag);
    const all = this.#messages();
    for (const { taken } of all.slice(0, Math.max(0, all.length - this.#config.maxCheckpoints)))
      drop(this.#root, taken);
    const made = this.getCheckpoint(checkpoint.id)!;
    this.emit("checkpoint:created", { checkpoint: made });
    return made;
  }

  /** Takes the last step out of the files; null when there is none. */
  async undo(): Promise<UndoResult | null> {
    return this.#move("undo");
  }

  /** Puts the step that was last undone back in. */
  async redo(): Promise<UndoResult | null> {
    return this.#move("redo");
  }

  /** Brings the files back to a checkpoint, exactly. */
  async restoreCheckpoint(c: Checkpoint, operation: "undo" | "redo" | "restore"): Promise<UndoResult> {
    return this.#told(c, operation, () => this.#root.workspace.restoreTo(c.id));
  }

  /** What differs between two checkpoints. */
  async getDiff(fromId: string, toId: string): Promise<FileChange[]> {
    const [from, to] = [this.#find(fromId)?.taken, this.#find(toId)?.taken];
    if (from === undefined || to === undefined) throw new Error("Checkpoint not found");
    const { workspace } = this.#root;
    const content = (at: Taken, path: string) =>
      textOf(bytesAt(workspace, at.id, path) ?? Buffer.alloc(0)).content;
    return workspace
      .diff({ from: from.id, to: to.id, detail: "text" })
      .files.flatMap((file): FileChange[] => {
        const path = displayPath(file.path);
        const old = file.from === undefined ? undefined : displayPath(file.from);
        if (old !== undefined)
          return [
            { path: old, type: "deleted" as const, oldContent: content(from, old) },
            { path, type: "created" as const, newContent: content(to, path) },
          ];
        if (file.type === "added") return [{ path, type: "created" as const, newContent: content(to, path) }];
        if (file.type === "deleted")
          return [{ path, type: "deleted" as const, oldContent: content(from, path) }];
        const texts = { oldContent: content(from, path), newContent: content(to, path) };
        return [{ path, type: "modified" as const, ...texts, ...(file.diff && { diff: file.diff }) }];
      });
  }

  /** Whether an operation is one before which a checkpoint should be taken. */
  shouldAutoCheckpoint(operation: string): boolean {
    return this.#config.enabled && this.#config.checkpointOnDangerousOps && DANGEROUS.test(operation);
  }

  /** All checkpoints, oldest first. */
  getCheckpoints(): Checkpoint[] {
    const all = this.#messages();
    return all.map((each, index) => this.#show(each, all[index - 1]?.taken.id));
  }

  /** The checkpoint of the last step that is in the files; null when there is none. */
  getCurrentCheckpoint(): Checkpoint | null {
    const last = this.#messages().findLast(({ message }) => !message.rolledBack);
    return last === undefined ? null : (this.getCheckpoint(last.taken.id) ?? null);
  }

  /** One of them. */
  getCheckpoint(id: string): Checkpoint | undefined {
    return this.getCheckpoints().find((checkpoint) => checkpoint.id === id);
  }

  /** Those whose name, description, operation or tags have a text. */
  searchCheckpoints(query: string): Checkpoint[] {
    const wanted = query.toLowerCase();
    return this.getCheckpoints().filter(({ name, description, metadata, tags }) =>
      [name, description ?? "", metadata.operation, ...tags].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    );
  }

  /** Adds a tag, which is unique. */
  async tagCheckpoint(id: string, tag: string): Promise<void> {
    this.#root.workspace.tag(this.#expect(id).id, tag);
  }

  /** Gives a checkpoint another name. */
  async renameCheckpoint(id: string, name: string): Promise<void> {
    this.#root.workspace.rename(this.#expect(id).id, name);
  }

  /** Drops a checkpoint; for a day `belay prune --undo` brings it back. */
  async deleteCheckpoint(id: string): Promise<void> {
    const checkpoint = this.getCheckpoint(id);
    if (drop(this.#root, this.#expect(id))) this.emit("checkpoint:deleted", { checkpoint });
  }

  /** Whether there is a step to take out. */
  canUndo(): boolean {
    return this.#plan("undo") !== undefined;
  }

  /** Whether there is one to put back in. */
  canRedo(): boolean {
    return this.#plan("redo") !== undefined;
  }

  /** How it stands, in a few lines. */
  formatStatus(): string {
    const [all, current] = [this.getCheckpoints(), this.getCurrentCheckpoint()];
    return [
      `Checkpoints: ${all.length}`,
      `Current: ${current === null ? "none" : `${current.name} (${current.id.slice(0, 8)})`}`,
      `Undo: ${this.canUndo() ? "yes" : "no"}, redo: ${this.canRedo() ? "yes" : "no"}`,
    ].join("\n");
  }

  /** Ends its timer and forgets its listeners. */
  dispose(): void {
    this.#timer?.end();
    this.removeAllListeners();
  }

  #takeIfChanged(): void {
    try {
      const workspace = this.#root.known;
      if (workspace === undefined || workspace.diff({ detail: "names" }).files.length === 0) return;
      void this.createCheckpoint({ name: "Auto checkpoint", operation: "auto", automatic: true });
    } catch (error) {
      this.#root.log("warning", "auto_checkpoint", { reason: messageOf(error) });
    }
  }

  #move(way: "undo" | "redo"): UndoResult | null {
    const plan = this.#plan(way);
    if (plan === undefined) {
      this.emit(`${way}:noop`, { reason: way === "undo" ? "No previous checkpoint" : "No next checkpoint" });
      return null;
    }
    const all = this.#messages();
    const counted = all.filter(({ message }) => !message.rolledBack).length;
    const moved = all[way === "undo" ? counted - 1 : counted] ?? all.at(-1)!;
    return this.#told(this.#show(moved, undefined), way, () => this.#root.workspace.restore(plan));
  }

  #plan(way: "undo" | "redo") {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, THREAD)?.id;
    if (workspace === undefined || thread === undefined) return undefined;
    return (way === "undo" ? workspace.planUndo({ thread }) : workspace.planRedo({ thread })) ?? undefined;
  }

  #told(checkpoint: Checkpoint, operation: "undo" | "redo" | "restore", act: () => Outcome): UndoResult {
    const result = this.#attempt(checkpoint, act);
    this.emit(`${operation}:complete`, result);
    return result;
  }

  #attempt(checkpoint: Checkpoint, act: () => Outcome): UndoResult {
    try {
      const { outcome, plan, conflicts } = act();
      if (outcome === "conflicts") {
        const errors = conflicts.map(({ path, reason }) => ({ path: displayPath(path), error: reason }));
        return { success: false, checkpoint, restoredFiles: [], errors };
      }
      const restoredFiles = plan.edits
        .filter(({ from, to }) => (to ?? from)?.kind !== "directory")
        .map(({ path }) => displayPath(path));
      return { success: true, checkpoint, restoredFiles, errors: [] };
    } catch (error) {
      this.#root.log("error", "undo", { reason: messageOf(error) });
      return {
        success: false,
        checkpoint,
        restoredFiles: [],
        errors: [{ path: "", error: messageOf(error) }],
      };
    }
  }

  #expect(id: string): Taken {
    const found = this.#find(id);
    if (found === undefined) throw new Error(`Checkpoint not found: ${id}`);
    return found.taken;
  }

  #find(id: string) {
    return this.#messages().find(({ taken }) => taken.id === id);
  }

  /** What began steps, oldest first, with the checkpoints that are still there. */
  #messages(): { message: Message; taken: Taken }[] {
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, THREAD)?.id;
    if (workspace === undefined || thread === undefined) return [];
    return stepsOf(workspace, thread);
  }

  #show({ message, taken }: { message: Message; taken: Taken }, parentId: string | undefined): Checkpoint {
    const [facts] = message.artifacts as readonly Facts[];
    const { workspace, directory } = this.#root;
    const { git } = taken;
    const shown = {
      id: taken.id as string,
      name: taken.name ?? facts?.name ?? message.content,
      ...(facts?.description !== undefined && { description: facts.description }),
      timestamp: new Date(taken.createdAt),
      metadata: {
        workingDirectory: directory,
        ...(git?.branch && { gitBranch: git.branch }),
        ...(git?.commit && { gitCommit: git.commit }),
        operation: facts?.operation ?? "",
        ...(facts?.tool !== undefined && { tool: facts.tool }),
        automatic: facts?.automatic ?? false,
      },
      tags: [...taken.tags],
      ...(parentId !== undefined && { parentId }),
    };
    return withLazy<typeof shown, { files: CheckpointFile[] }>(shown, {
      files: () =>
        [...workspace.files(taken.id)]
          .filter(({ kind }) => kind !== "directory")
          .map(({ path, size, mode }) => ({
            path: join(directory, displayPath(path)),
            relativePath: displayPath(path),
            size,
            mode,
          })),
    });
  }
}

function stepsOf(workspace: SyncWorkspace, thread: ThreadId): { message: Message; taken: Taken }[] {
  const taken = new Map(workspace.list({ thread }).map((each) => [each.id, each]));
  const { messages } = workspace.threads.history(thread, { limit: Number.MAX_SAFE_INTEGER });
  return messages.flatMap((message) => {
    const checkpoint = message.checkpoint === null ? undefined : taken.get(message.checkpoint);
    return message.role !== "user" || checkpoint === undefined ? [] : [{ message, taken: checkpoint }];
  });
}

/** A manager of a directory. */
export function createCheckpointManager(
  workingDirectory: string,
  config?: Partial<CheckpointConfig>,
  options?: DropInOptions,
): CheckpointManager {
  return new CheckpointManager(workingDirectory, config, options);
}
