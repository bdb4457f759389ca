/** Code Buddy's checkpoints that outlive the process. */
import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import { basename, join } from "node:path";
import type { Checkpoint as Taken } from "@belay/engine";
import { drop } from "../frame/drop.ts";
import type { DropInOptions } from "../frame/options.ts";
import { findCheckpoint } from "../frame/references.ts";
import { Root } from "../frame/root.ts";
import {
  checkpointOf,
  formatLine,
  formatList,
  idOf,
  listTaken,
  take,
  type Checkpoint,
  type Rewound,
} from "./checkpoint.ts";
import { rewindTo } from "./rewind-to.ts";

/** How many checkpoints are kept, and where. */
export interface PersistentCheckpointManagerOptions {
  /** Defaults to 100. */
  maxCheckpoints?: number;
  autoCheckpoint?: boolean;
  /** A directory of its own for stores: `<historyDir>/.belay` is Belay's home then. */
  historyDir?: string;
}

/** A checkpoint, and the project it is of. */
export interface PersistentCheckpoint extends Checkpoint {
  /** The first 16 hex digits of the SHA-256 of the directory's path. */
  projectHash: string;
}

/** The checkpoints of a directory, in its store: those of every manager of Code Buddy there, of this process and others. */
export class PersistentCheckpointManager extends EventEmitter {
  readonly #root: Root;
  readonly #most: number;
  readonly #hash: string;
  #auto: boolean;

  constructor(
    { maxCheckpoints = 100, autoCheckpoint = true, historyDir }: PersistentCheckpointManagerOptions = {},
    options: DropInOptions = {},
  ) {
    super();
    const home = historyDir === undefined ? {} : { home: join(historyDir, ".belay") };
    this.#root = new Root(undefined, { ...options, ...home });
    this.#most = maxCheckpoints;
    this.#auto = autoCheckpoint;
    this.#hash = hash("sha256", this.#root.directory, "hex").slice(0, 16);
  }

  /** Takes a checkpoint of everything, marked with these files if there are any. */
  createCheckpoint(description: string, files?: string[]): PersistentCheckpoint {
    const named = files === undefined || files.length === 0 ? undefined : this.#root.insideAll(files);
    const taken = take(this.#root, description, named);
    for (const gone of this.#list().slice(0, -this.#most)) drop(this.#root, gone);
    const checkpoint = this.#show(taken);
    this.emit("checkpoint-created", checkpoint);
    return checkpoint;
  }

  /** Takes a checkpoint before a file changes. */
  checkpointBeforeEdit(
    filePath: string,
    description = `Before editing: ${basename(filePath)}`,
  ): PersistentCheckpoint {
    return this.createCheckpoint(description, [filePath]);
  }

  /** Takes a checkpoint before a file is made. */
  checkpointBeforeCreate(
    filePath: string,
    description = `Before creating: ${basename(filePath)}`,
  ): PersistentCheckpoint {
    return this.createCheckpoint(description, [filePath]);
  }

  /** Goes back to a checkpoint, exactly. */
  restore(checkpointId: string): Rewound {
    const taken = this.#find(checkpointId);
    if (taken === undefined)
      return { success: false, restored: [], errors: [`Checkpoint not found: ${checkpointId}`] };
    const rewound = rewindTo(this.#root, taken);
    this.emit("restore", rewound.checkpoint, rewound.restored, rewound.errors);
    return rewound;
  }

  /** Goes back to the newest checkpoint. */
  restoreLast(): Rewound {
    const last = this.#list().at(-1);
    return last === undefined
      ? { success: false, restored: [], errors: ["No checkpoints available"] }
      : this.restore(idOf(last));
  }

  /** All checkpoints, oldest first. */
  getCheckpoints(): PersistentCheckpoint[] {
    return this.#list().map((taken) => this.#show(taken));
  }

  /** One of them; null when there is none. */
  getCheckpoint(id: string): PersistentCheckpoint | null {
    const taken = this.#find(id);
    return taken === undefined ? null : this.#show(taken);
  }

  /** The newest, oldest first. */
  getRecentCheckpoints(count = 10): PersistentCheckpoint[] {
    return count <= 0 ? [] : this.getCheckpoints().slice(-count);
  }

  /** Drops one; `belay prune --undo` brings it back for a day. */
  deleteCheckpoint(id: string): boolean {
    const taken = this.#find(id);
    return taken !== undefined && drop(this.#root, taken);
  }

  /** Drops those of Code Buddy; every other checkpoint stays. */
  clearCheckpoints(): void {
    for (const taken of this.#list()) drop(this.#root, taken);
    this.emit("checkpoints-cleared");
  }

  /** A checkpoint in one line. */
  formatCheckpoint(checkpoint: PersistentCheckpoint): string {
    return formatLine(checkpoint, checkpoint.timestamp.toLocaleString());
  }

  /** All of them, for people, and where they are. */
  formatCheckpointList(): string {
    const lines = this.getCheckpoints().map((each) => this.formatCheckpoint(each));
    return formatList(lines, "Checkpoints (persistent):", [
      "Use /restore <number> or /restore <checkpoint-id> to restore",
      `Storage: ${this.getHistoryDir()}`,
    ]);
  }

  /** How many there are, how much they take, and where. */
  getStats(): {
    count: number;
    totalFiles: number;
    storageSize: number;
    oldestTimestamp?: Date;
    newestTimestamp?: Date;
    storagePath: string;
  } {
    const all = this.getCheckpoints();
    const [oldest, newest] = [all[0]?.timestamp, all.at(-1)?.timestamp];
    return {
      count: all.length,
      totalFiles: all.reduce((sum, { files }) => sum + files.length, 0),
      storageSize: this.#root.known?.upkeep.stats().diskBytes ?? 0,
      ...(oldest && { oldestTimestamp: oldest }),
      ...(newest && { newestTimestamp: newest }),
      storagePath: this.getHistoryDir(),
    };
  }

  /** Whether the host should take checkpoints by itself. */
  isAutoCheckpointEnabled(): boolean {
    return this.#auto;
  }

  /** Tells the host to take checkpoints by itself, or not to. */
  setAutoCheckpoint(on: boolean): void {
    this.#auto = on;
  }

  /** The directory of the store; "" while there is none. */
  getHistoryDir(): string {
    return this.#root.known?.store ?? "";
  }

  /** Forgets its listeners. */
  dispose(): void {
    this.removeAllListeners();
  }

  #list(): Taken[] {
    return listTaken(this.#root);
  }

  #find(id: string): Taken | undefined {
    const workspace = this.#root.known;
    if (workspace === undefined) return undefined;
    try {
      return findCheckpoint(workspace, id);
    } catch (error) {
      if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
      return undefined;
    }
  }

  #show(taken: Taken): PersistentCheckpoint {
    return Object.assign(checkpointOf(this.#root, taken), { projectHash: this.#hash });
  }
}

let instance: PersistentCheckpointManager | undefined;

/** The manager of this process; the options count for the first call. */
export function getPersistentCheckpointManager(
  options?: PersistentCheckpointManagerOptions,
  dropIn?: DropInOptions,
): PersistentCheckpointManager {
  return (instance ??= new PersistentCheckpointManager(options, dropIn));
}

/** Forgets the manager of this process. */
export function resetPersistentCheckpointManager(): void {
  instance?.dispose();
  instance = undefined;
}
