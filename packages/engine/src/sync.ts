/**
 * The engine's synchronous face, for programs that are synchronous themselves. The event loop of the caller stands still
 * during a call: for a cold capture 5 ms of computing time at 1,000 files and 45 at 20,000, for the first one of a
 * directory 0.16 s and 1.8 s, and 20 ms more where a file was written in the last 50 ms, which is read twice. Programs
 * that need milliseconds in big trees use `@belay/engine` with a watcher, or the resident process.
 *
 * `scripts/sync.js` makes this module's real form, in `dist/sync`, where nothing returns a promise.
 */
import type { EngineOptions } from "./opening/engine-options.ts";
import { findWorkspace } from "./opening/find-workspace.ts";
import { openWorkspace, type InitOptions } from "./opening/init-workspace.ts";
import type { BytePath } from "./model/byte-path.ts";
import type { Checkpoint } from "./model/checkpoint.ts";
import type { MergePlan } from "./model/merge.ts";
import type { WorkspaceEvent } from "./model/event.ts";
import type { CheckpointRef, ThreadId } from "./model/ids.ts";
import type { Diff, DiffOptions, ExportedFile } from "./queries/answers.ts";
import type { Approvals } from "./workspace/interface/approvals.ts";
import type {
  BranchMergeOptions,
  ConflictChoice,
  Merges,
  ResolvedConflict,
} from "./workspace/interface/merges.ts";
import type { Threads } from "./workspace/interface/threads.ts";
import type { Timeline } from "./workspace/interface/timeline.ts";
import type { Turns } from "./workspace/interface/turns.ts";
import type { Upkeep } from "./workspace/interface/upkeep.ts";
import type { Versions } from "./workspace/interface/versions.ts";
import type { Workspace } from "./workspace/interface/workspace.ts";
import { LocalWorkspace } from "./workspace/local-workspace.ts";

/** What waits for others, and what has another form here. */
type Apart =
  | keyof AsyncDisposable
  | "approvals"
  | "close"
  | "diff"
  | "events"
  | "files"
  | "find"
  | "merges"
  | "parseWith"
  | "planMerge"
  | "reconcile"
  | "resolve"
  | "threads"
  | "timeline"
  | "turns"
  | "upkeep"
  | "versions"
  | "watch"
  | "watching";

type Direct<Method> = Method extends (...args: infer Args) => Promise<infer Result>
  ? (...args: Args) => Result
  : Method;

/** A part of a workspace whose methods return what they did before as a promise. */
export type SyncPart<Part> = { readonly [Name in keyof Part]: Direct<Part[Name]> };

/** A protected directory whose methods return when they are done. */
export interface SyncWorkspace extends SyncPart<Omit<Workspace, Apart>>, Disposable {
  readonly approvals: SyncPart<Approvals>;
  readonly merges: SyncPart<Omit<Merges, "preview">>;
  readonly threads: SyncPart<Threads>;
  readonly timeline: SyncPart<Timeline>;
  readonly turns: SyncPart<Omit<Turns, "run">>;
  readonly upkeep: SyncPart<Upkeep>;
  readonly versions: SyncPart<Versions>;
  /** `diff(a, b)` compares two checkpoints, `diff(a)` one with the disk; unified diffs included. */
  diff(from: CheckpointRef, to?: CheckpointRef): Diff;
  /** Compares two checkpoints, or one with the disk, in as much detail as the options say. */
  diff(options: DiffOptions): Diff;
  /** The checkpoint that a reference names. */
  resolve(ref: CheckpointRef): Checkpoint;
  /** Decides a conflict of a merge. */
  resolve(conflict: string, choice: ConflictChoice): ResolvedConflict;
  /** Plans a merge. Lines alone count: parsers are loaded while a caller waits. */
  planMerge(sources: readonly string[], options?: Omit<BranchMergeOptions, "syntax">): MergePlan;
  /** The files of a checkpoint, for export: directories before what they hold. */
  files(ref: CheckpointRef): Iterable<ExportedFile>;
  /** What happened after an event, by any process. */
  eventsAfter(seq: number, thread?: ThreadId): WorkspaceEvent[];
  /** Calls a listener each time files went back; the answer ends that. */
  afterRestore(listener: (paths: readonly BytePath[]) => void): () => void;
  close(): void;
}

/** Opens the workspace whose root is exactly `path`, protecting it first if need be. */
export function openWorkspaceSync(path: string, options: InitOptions = {}): SyncWorkspace {
  return synchronous(openWorkspace(path, options));
}

/** Opens the nearest protected directory at or above `directory`; throws `WORKSPACE_NOT_FOUND`. */
export function findWorkspaceSync(directory: string, options: EngineOptions = {}): SyncWorkspace {
  return synchronous(findWorkspace(directory, options));
}

function synchronous(opened: unknown): SyncWorkspace {
  if (!(opened instanceof LocalWorkspace))
    throw new TypeError("The engine was built without scripts/sync.js.");
  const { events } = opened.runner;
  const own = {
    eventsAfter: (seq: number, thread?: ThreadId) => events.after(seq, thread),
    afterRestore: (listener: (paths: readonly BytePath[]) => unknown) =>
      events.afterRestore((paths) => {
        listener(paths);
        return [] as never;
      }),
  };
  return Object.assign(opened, own) as never;
}
