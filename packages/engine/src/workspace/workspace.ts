/**
 * The library's front door: one protected directory and everything that can be done with it.
 * Every method that changes files makes a safety checkpoint first and leaves a new checkpoint behind;
 * every method that reports success has already made it durable.
 */
import type { Checkpoint, CheckpointRequest, Doubt, Gap } from "../model/checkpoint.ts";
import type {
  CheckpointDetails,
  Diff,
  DiffOptions,
  ExportedFile,
  FileContent,
  WorkspaceStatus,
} from "../queries/answers.ts";
import type { Approvals } from "./approvals.ts";
import type { Conversations } from "./conversations.ts";
import type { EventOptions, WorkspaceEvent } from "../model/event.ts";
import type { CheckpointId, CheckpointRef, ThreadId, WorkspaceId } from "../model/ids.ts";
import type { Pause } from "../model/pause.ts";
import type { AfterRestore, Interrupt, ApplyOptions, Outcome, Plan } from "../model/plan.ts";
import type { BytePath } from "../model/byte-path.ts";
import type {
  ForgetReport,
  ForgetWordsReport,
  GcReport,
  PruneReport,
  Stats,
  VerifyReport,
} from "../model/reports.ts";
import type { RetentionPolicy } from "../model/retention.ts";

/** Told now and then while a large capture reads files. */
export type Progress = (progress: { done: number; total: number; bytes: number }) => void;

export interface TakenCheckpoint {
  readonly id: CheckpointId;
  readonly checkpoint: Checkpoint;
  /** The tree equals the newest checkpoint's: the row exists, nothing else was stored. */
  readonly unchanged: boolean;
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  readonly warnings: readonly string[];
  readonly durationMs: number;
}

export interface ListOptions {
  readonly thread?: ThreadId;
  readonly kind?: string;
  readonly search?: string;
  readonly limit?: number;
  /** Look at the disk and tell `hasChanges` of each message's checkpoint. */
  readonly fresh?: boolean;
}

/** What goes back: the files, the conversation (its messages are marked), or both. */
export type RestoreScope = "files" | "conversation" | "both";

export interface RestoreOptions {
  /** Relative to the root; files or whole directories. */
  readonly paths?: readonly string[];
  readonly keepNew?: boolean;
  readonly thread?: ThreadId;
  /** "files" unless said otherwise. */
  readonly scope?: RestoreScope;
}

export interface UndoOptions {
  readonly count?: number;
  readonly thread?: ThreadId;
  readonly includeShared?: boolean;
  /** Also what a command wrote that the step left in the background and that still runs. */
  readonly includeBackground?: boolean;
  readonly bestEffort?: boolean;
}

export interface RevertOptions {
  readonly paths?: readonly string[];
  readonly includeShared?: boolean;
}

export interface TurnRequest {
  readonly thread?: ThreadId;
  readonly agent?: string;
  readonly prompt?: string;
  readonly description?: string;
}

export interface Turn {
  readonly id: string;
  readonly thread: ThreadId;
  readonly before: Checkpoint;
  /** Announces paths that are about to be written on purpose, ignored ones included. */
  name(paths: readonly string[]): Promise<void>;
}

export interface TurnResult<Result> {
  readonly result: Result;
  readonly before: Checkpoint;
  readonly after: Checkpoint;
  readonly changed: boolean;
  readonly warnings: readonly string[];
}

/** How captures learn what changed. */
export interface Watching {
  /** live: only what the watcher named is looked at. cold: each capture scans everything. */
  readonly state: "live" | "cold";
  /** Why captures are cold; null when they are live. */
  readonly reason: string | null;
  /** How many directories are watched. */
  readonly directories: number;
}

/** What a scan found that the watcher had not reported. */
export interface Reconciled {
  /** These had changed in silence; the captures that lack the change have the doubt `missed` now. */
  readonly missed: readonly BytePath[];
  /** Those captures. */
  readonly checkpoints: readonly CheckpointId[];
}

export interface Workspace extends Conversations, Approvals, AsyncDisposable {
  readonly id: WorkspaceId;
  readonly root: string;
  /** The directory of the store; "memory" when there is none. */
  readonly store: string;
  /** The disk is full, and as long as this is open nothing else can open the store: not for processes that stay. */
  readonly isAlone: boolean;
  /** What opening noticed: moved, replaced, recovered … */
  readonly notices: readonly string[];

  checkpoint(request?: CheckpointRequest, progress?: Progress): Promise<TakenCheckpoint>;
  turn<Result>(request: TurnRequest, work: (turn: Turn) => Promise<Result>): Promise<TurnResult<Result>>;

  readonly watching: Watching;
  /**
   * Watches the files from now on, so that a capture costs what changed. Never fails for want of watches: then
   * captures stay cold, and `watching` says why. Take a first capture of a big tree in another process: this one
   * gives way to the event loop, that one would not.
   */
  watch(options?: { directoryLimit?: number }): Promise<Watching>;
  /** Looks at everything once more, a little at a time, for what no watcher reports; meant for idle moments after a turn. */
  reconcile(): Promise<Reconciled>;

  list(options?: ListOptions): Promise<Checkpoint[]>;
  resolve(ref: CheckpointRef): Promise<Checkpoint>;
  show(ref: CheckpointRef): Promise<CheckpointDetails>;
  /** `diff(a, b)`: each other; `diff(a)`: with the disk; unified diffs included. */
  diff(from: CheckpointRef, to?: CheckpointRef): Promise<Diff>;
  diff(options: DiffOptions): Promise<Diff>;
  status(): Promise<WorkspaceStatus>;

  /** The pause that this workspace is in, its own or that of all. */
  readonly paused: Pause | null;
  /**
   * From now to its end nothing is captured by itself: hooks are answered and prompts recorded, without checkpoints.
   * What stands now is captured first. Checkpoints made by hand, `turn` and whatever goes back work as ever.
   */
  pause(pause: Pause, scope?: "workspace" | "all"): Promise<void>;
  /** Ends a pause and captures what changed in it. The pause of all goes on after the end of a workspace's own. */
  resume(scope?: "workspace" | "all"): Promise<void>;

  /** Called whenever files went back, whichever way was taken; what it says is in the outcome's notices. */
  afterRestore(work: AfterRestore): void;
  /** Lets a restore, undo, redo, revert or reset be stopped while it is under way; undefined = no longer. */
  interruptedBy(interrupt: Interrupt | undefined): void;

  // A plan only looks; `restore(plan)` carries it out. The others plan and act in one go.
  planRestore(ref: CheckpointRef, options?: RestoreOptions): Promise<Plan>;
  planUndo(options?: UndoOptions): Promise<Plan | null>;
  planRedo(options?: UndoOptions): Promise<Plan | null>;
  planRevert(ref: CheckpointRef, options?: RevertOptions): Promise<Plan>;
  /** Carries out a plan; throws `PLAN_STALE` when the files, or whose changes they are, moved on since it was made. */
  restore(plan: Plan, options?: ApplyOptions): Promise<Outcome>;
  restoreTo(ref: CheckpointRef, options?: RestoreOptions & ApplyOptions): Promise<Outcome>;
  undo(options?: UndoOptions): Promise<Outcome>;
  redo(options?: UndoOptions): Promise<Outcome>;
  revert(ref: CheckpointRef, options?: RevertOptions & ApplyOptions): Promise<Outcome>;

  note(ref: CheckpointRef, text: string): Promise<Checkpoint>;
  rename(ref: CheckpointRef, name: string): Promise<Checkpoint>;
  tag(ref: CheckpointRef, tag: string): Promise<Checkpoint>;
  untag(tag: string): Promise<Checkpoint>;

  /** Drops one checkpoint; `unprune` brings it back within a day. Approved ones are refused. */
  deleteCheckpoint(ref: CheckpointRef): Promise<Checkpoint>;
  /** Everything that happens here, by any process, as it happens. */
  events(options?: EventOptions): AsyncIterable<WorkspaceEvent>;

  verify(options?: {
    full?: boolean;
    progress?: (done: number, total: number) => void;
  }): Promise<VerifyReport>;
  prune(options?: { policy?: RetentionPolicy; dryRun?: boolean }): Promise<PruneReport>;
  /** Takes back prunings whose grace time has not passed. */
  unprune(): Promise<Checkpoint[]>;
  gc(options?: { dryRun?: boolean }): Promise<GcReport>;
  /** Forgets what was said in a conversation, wherever it was written down; files and checkpoints stay. */
  forgetThread(ref: string, options?: { dryRun?: boolean }): Promise<ForgetWordsReport>;
  /** The same for one message, by its id or the agent's name for it, and its turn. */
  forgetMessage(ref: string, options?: { dryRun?: boolean }): Promise<ForgetWordsReport>;
  /** Purges a checkpoint or a path; `always` keeps the path out of every later checkpoint too. */
  forget(
    target: string,
    options?: { dryRun?: boolean; sameContent?: boolean; always?: boolean },
  ): Promise<ForgetReport>;
  /** Takes `always` back; false when the path was not kept out. */
  captureAgain(path: string): Promise<boolean>;
  stats(): Promise<Stats>;
  /** A file at a checkpoint, or on disk (`null`); null when none is there. Content up to `limitBytes`. */
  file(ref: CheckpointRef | null, path: BytePath, limitBytes: number): Promise<FileContent | null>;
  /** The files of a checkpoint, for export: directories before what they hold. */
  files(ref: CheckpointRef): AsyncIterable<ExportedFile>;
  close(): Promise<void>;
}
