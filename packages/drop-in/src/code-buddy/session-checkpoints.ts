/** Code Buddy's quick undo within one session. */
import { EventEmitter } from "node:events";
import { basename } from "node:path";
import type { Checkpoint as Taken, CheckpointId } from "@belay/engine";
import { drop } from "../frame/drop.ts";
import type { DropInOptions } from "../frame/options.ts";
import { Root } from "../frame/root.ts";
import { sessionHome } from "../frame/session-home.ts";
import {
  checkpointOf,
  formatLine,
  formatList,
  idOf,
  take,
  type Checkpoint,
  type Rewound,
} from "./checkpoint.ts";
import { rewindTo } from "./rewind-to.ts";

/** How many checkpoints a manager keeps, and whether the host should take them by itself. */
export interface CheckpointManagerOptions {
  /** Defaults to 50. */
  maxCheckpoints?: number;
  autoCheckpoint?: boolean;
}

/** A checkpoint of this manager, and which files it is about; undefined: all. */
interface Own {
  readonly root: Root;
  readonly taken: Taken;
  readonly named: readonly string[] | undefined;
}

/**
 * Lists only what it made itself. Where the directory is protected, its checkpoints are in the directory's store, and
 * every other front and `belay undo` see them. Where it is not, they are in a store that dies with the process, the
 * directory stays unprotected, and going back touches only files that were named.
 */
export class CheckpointManager extends EventEmitter {
  readonly #options: DropInOptions;
  readonly #root: Root;
  readonly #most: number;
  /** The same directory, over a store that dies with the process. */
  #unprotected: Root | undefined;
  #own: Own[] = [];
  #auto: boolean;

  constructor(
    { maxCheckpoints = 50, autoCheckpoint = true }: CheckpointManagerOptions = {},
    options: DropInOptions = {},
  ) {
    super();
    this.#options = options;
    this.#root = new Root(undefined, options);
    this.#most = maxCheckpoints;
    this.#auto = autoCheckpoint;
  }

  /** Takes a checkpoint: of these files, or of everything. */
  createCheckpoint(description: string, files?: string[]): Checkpoint {
    const root = this.#root.known === undefined ? this.#fleeting() : this.#root;
    const named = files === undefined || files.length === 0 ? undefined : root.insideAll(files);
    const taken = take(root, description, named);
    this.#own.push({ root, taken, named });
    for (const gone of this.#own.splice(0, Math.max(0, this.#own.length - this.#most)))
      drop(gone.root, gone.taken);
    const checkpoint = checkpointOf(root, taken);
    this.emit("checkpoint-created", checkpoint);
    return checkpoint;
  }

  /** Takes a checkpoint of a file that is about to change. */
  checkpointBeforeEdit(filePath: string, description = `Before editing: ${basename(filePath)}`): Checkpoint {
    return this.createCheckpoint(description, [filePath]);
  }

  /** Takes a checkpoint of a file that is about to be made: going back removes it. */
  checkpointBeforeCreate(
    filePath: string,
    description = `Before creating: ${basename(filePath)}`,
  ): Checkpoint {
    return this.createCheckpoint(description, [filePath]);
  }

  /** Goes back to a checkpoint: exactly, or in an unprotected directory the files that were named. */
  rewindTo(checkpointId: string): Rewound {
    const own = this.#own.find(({ taken }) => isMeant(taken, checkpointId));
    if (own === undefined)
      return { success: false, restored: [], errors: [`Checkpoint not found: ${checkpointId}`] };
    const rewound = rewindTo(own.root, own.taken, { also: this.#namedSince(own) });
    this.emit("rewind", rewound.checkpoint, rewound.restored, rewound.errors);
    return rewound;
  }

  /** Goes back to the newest checkpoint. */
  rewindToLast(): Rewound {
    const last = this.#own.at(-1);
    return last === undefined
      ? { success: false, restored: [], errors: ["No checkpoints available"] }
      : this.rewindTo(idOf(last.taken));
  }

  /** The checkpoints of this manager, oldest first. */
  getCheckpoints(): Checkpoint[] {
    return this.#own.map(({ root, taken }) => checkpointOf(root, taken));
  }

  /** One of them. */
  getCheckpoint(id: string): Checkpoint | undefined {
    const own = this.#own.find(({ taken }) => isMeant(taken, id));
    return own && checkpointOf(own.root, own.taken);
  }

  /** The newest of them, oldest first. */
  getRecentCheckpoints(count = 10): Checkpoint[] {
    return count <= 0 ? [] : this.getCheckpoints().slice(-count);
  }

  /** Drops one; for a day `belay prune --undo` brings it back where the directory is protected. */
  deleteCheckpoint(id: string): boolean {
    const gone = this.#own.filter(({ taken }) => isMeant(taken, id));
    this.#own = this.#own.filter((own) => !gone.includes(own));
    for (const { root, taken } of gone) drop(root, taken);
    return gone.length > 0;
  }

  /** Drops all of them. */
  clearCheckpoints(): void {
    for (const { root, taken } of this.#own.splice(0)) drop(root, taken);
    this.emit("checkpoints-cleared");
  }

  /** Whether the host should take checkpoints by itself. */
  isAutoCheckpointEnabled(): boolean {
    return this.#auto;
  }

  /** Tells the host to take checkpoints by itself, or not to. */
  setAutoCheckpoint(on: boolean): void {
    this.#auto = on;
  }

  /** A checkpoint in one line. */
  formatCheckpoint(checkpoint: Checkpoint): string {
    return formatLine(checkpoint, checkpoint.timestamp.toLocaleTimeString());
  }

  /** All of them, for people. */
  formatCheckpointList(): string {
    return formatList(
      this.getCheckpoints().map((each) => this.formatCheckpoint(each)),
      "Checkpoints:",
    );
  }

  /** How many there are, and from when to when. */
  getStats(): { count: number; totalFiles: number; oldestTimestamp?: Date; newestTimestamp?: Date } {
    const all = this.getCheckpoints();
    const [oldest, newest] = [all[0]?.timestamp, all.at(-1)?.timestamp];
    return {
      count: all.length,
      totalFiles: all.reduce((sum, { files }) => sum + files.length, 0),
      ...(oldest && { oldestTimestamp: oldest }),
      ...(newest && { newestTimestamp: newest }),
    };
  }

  /** Forgets its list and its listeners; what is in a store stays there. */
  dispose(): void {
    this.#own = [];
    this.removeAllListeners();
  }

  /**
   * Files that were first named after a checkpoint, each with the checkpoint that named it: its earliest content. None where
   * the store has all files of every checkpoint.
   */
  #namedSince(own: Own): { ref: CheckpointId; paths: string[] }[] {
    const at = this.#own.indexOf(own);
    const before = this.#own.slice(0, at + 1);
    if (own.root === this.#root || before.some(({ named }) => named === undefined)) return [];
    const known = new Set(before.flatMap(({ named }) => named ?? []));
    return this.#own.slice(at + 1).flatMap(({ taken, named = [] }) => {
      const paths = named.filter((path) => !known.has(path));
      for (const path of paths) known.add(path);
      return paths.length === 0 ? [] : [{ ref: taken.id, paths }];
    });
  }

  #fleeting(): Root {
    if (this.#unprotected !== undefined) return this.#unprotected;
    const home = sessionHome((notice) => this.#root.log("info", "notice", { notice }));
    const options = { ...this.#options, home, nested: true };
    this.#unprotected = new Root(this.#root.directory, options, { coverage: "named" });
    return this.#unprotected;
  }
}

function isMeant(taken: Taken, id: string): boolean {
  return id === taken.id || id === idOf(taken);
}

let instance: CheckpointManager | undefined;

/** The manager of this process; the options count for the first call. */
export function getCheckpointManager(
  options?: CheckpointManagerOptions,
  dropIn?: DropInOptions,
): CheckpointManager {
  return (instance ??= new CheckpointManager(options, dropIn));
}

/** Forgets the manager of this process. */
export function resetCheckpointManager(): void {
  instance?.dispose();
  instance = undefined;
}
