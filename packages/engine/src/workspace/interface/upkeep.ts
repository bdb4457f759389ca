/** The part of a workspace that looks after its store: proving it sound, dropping, freeing and forgetting. */
import type { Checkpoint } from "../../model/checkpoint.ts";
import type { CheckpointRef, ThreadId } from "../../model/ids.ts";
import type {
  ForgetReport,
  GcReport,
  PruneReport,
  SpaceUsage,
  Stats,
  UsageBy,
  VerifyReport,
} from "../../model/reports.ts";
import type { RetentionPolicy } from "../../model/retention.ts";

/** What `prune` drops; an estimate of the space reads every tree once. */
export interface PruneOptions {
  readonly policy?: RetentionPolicy;
  readonly thread?: ThreadId;
  readonly dryRun?: boolean;
  readonly estimate?: boolean;
}

/** Care of the store; `workspace.upkeep`. */
export interface Upkeep {
  /** Proves that the store is sound; `full` also reads and hashes all content. */
  verify(options?: {
    readonly full?: boolean;
    /** Receives how many objects are checked, and how many there are. */
    readonly progress?: (done: number, total: number) => void;
  }): Promise<VerifyReport>;
  /** How much the store holds, and how much disk it uses. */
  stats(): Promise<Stats>;
  /**
   * Who takes the space: threads, kinds of checkpoint or directories, each with what no other needs; or checkpoints, each
   * with what it was the first to hold. Reads every tree once.
   */
  usage(by: UsageBy): Promise<SpaceUsage>;
  /** Drops checkpoints by policy: that of the settings unless one is passed. With `thread` only those of one thread. */
  prune(options?: PruneOptions): Promise<PruneReport>;
  /** Takes back prunings whose grace time has not passed. */
  unprune(): Promise<Checkpoint[]>;
  /** Drops one checkpoint; `unprune` brings it back within a day. Approved ones are refused. */
  deleteCheckpoint(ref: CheckpointRef): Promise<Checkpoint>;
  /** Frees the space of what no checkpoint reaches. */
  gc(options?: {
    readonly dryRun?: boolean;
    /** Receives how many objects are in their new pack, and how many there are. */
    readonly progress?: (done: number, total: number) => void;
  }): Promise<GcReport>;
  /** Purges a checkpoint or a path; `always` keeps the path out of every later checkpoint too. */
  forget(
    target: string,
    options?: { readonly dryRun?: boolean; readonly sameContent?: boolean; readonly always?: boolean },
  ): Promise<ForgetReport>;
  /** Takes `always` back; false when the path was not kept out. */
  captureAgain(path: string): Promise<boolean>;
}
