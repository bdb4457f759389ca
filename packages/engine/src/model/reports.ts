/** The reports of upkeep operations. */
import type { BytePath } from "./byte-path.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { StepSummary } from "./plan.ts";
import type { DropRule, KeepRule } from "./retention.ts";

/** How much a store holds. */
export interface Stats {
  readonly checkpoints: number;
  readonly byKind: Readonly<Record<string, number>>;
  readonly threads: number;
  readonly operations: Readonly<Record<string, number>>;
  readonly objects: number;
  readonly packs: number;
  /** Bytes of all files of all checkpoints, as if each had copies of its own. */
  readonly copiesBytes: number;
  /** Bytes of distinct content before compression. */
  readonly contentBytes: number;
  readonly storedBytes: number;
  readonly diskBytes: number;
  readonly capBytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
  readonly usage: UseCounts;
}

/** How Belay was used, counted in its log: what is pruned still counts. Nothing of it leaves the machine. */
export interface UseCounts {
  readonly threads: number;
  /** Restores, undos, reverts and resets. */
  readonly rollbacks: number;
  readonly undos: number;
  readonly redos: number;
  readonly reverts: number;
  readonly resets: number;
  readonly approvals: number;
  readonly manualCheckpoints: number;
  /** Threads on whose behalf something was rolled back, and those with a manual checkpoint. */
  readonly threadsWithRollback: number;
  readonly threadsWithManual: number;
  /** Of all threads, from 0 to 1. */
  readonly rollbackShare: number;
  readonly manualShare: number;
}

/** By what the space of a store is told apart. */
export type UsageBy = "thread" | "kind" | "directory" | "checkpoint";

/** Bytes of content, and about how many they take compressed. */
export interface SpaceUse {
  readonly bytes: number;
  readonly storedBytes: number;
}

/** A group's own bytes: those that no other group needs. */
export interface SpaceGroup extends SpaceUse {
  /**
   * A thread's id (null: checkpoints without one), a kind, or a directory of the first two levels ("" for files at the top). By thread and
   * by kind, "pruned" stands for checkpoints that are pruned and not freed yet.
   */
  readonly key: string | null;
  /** Null for a directory. */
  readonly checkpoints: number | null;
}

/** Who takes the space of a store, largest first. */
export interface SpaceUsage {
  readonly groups: readonly SpaceGroup[];
  /** What several groups need. */
  readonly shared: SpaceUse;
  /** Records of Belay's own, and what no checkpoint needs any more. */
  readonly rest: SpaceUse;
}

/** One thing `verify` found wrong. */
export interface VerifyProblem {
  readonly kind: "object-missing" | "object-corrupt" | "tree-corrupt" | "row-invalid" | "database" | "log";
  readonly detail: string;
  readonly object?: string;
  readonly checkpoints: readonly CheckpointId[];
}

/** The result of `verify`. */
export interface VerifyReport {
  readonly ok: boolean;
  readonly checkpoints: number;
  readonly objects: number;
  readonly bytes: number;
  readonly problems: readonly VerifyProblem[];
}

/** What the last verification found, as far as those checkpoints are still there. */
export interface KnownDamage {
  readonly at: number;
  /** How many cannot be restored in full. */
  readonly checkpoints: number;
  readonly sound: number;
}

/** The result of `prune`. */
export interface PruneReport {
  readonly pruned: readonly Checkpoint[];
  readonly kept: number;
  /** How many stay, by the first rule that keeps them. */
  readonly keptBy: Readonly<Partial<Record<KeepRule, number>>>;
  readonly droppedBy: Readonly<Partial<Record<DropRule, number>>>;
  readonly dryRun: boolean;
  /** About how much of the store only those need that are dropped, where an estimate was asked for. */
  readonly storedBytes?: number;
}

/** The result of `gc`. */
export interface GcReport {
  readonly objectsFreed: number;
  /** Bytes of their content before compression. */
  readonly contentFreed: number;
  /** In a dry run: about how much of the store they take. */
  readonly storedFreed?: number;
  readonly packsFreed: number;
  readonly packsRewritten: number;
  readonly bytesBefore: number;
  /** Null in a dry run: the size of the rest is known only once it is packed. */
  readonly bytesAfter: number | null;
  readonly checkpointsDropped: number;
  /** These can no longer be undone or redone. */
  readonly stepsDropped: readonly StepSummary[];
  readonly dryRun: boolean;
}

/** The result of forgetting text: messages and descriptions. */
export interface ForgetWordsReport {
  readonly thread: ThreadId;
  readonly messages: number;
  readonly steps: number;
  /** How many checkpoints lost their description; their content is unchanged. */
  readonly checkpoints: number;
  readonly dryRun: boolean;
}

/** The result of `forget`. */
export interface ForgetReport {
  readonly checkpoints: readonly CheckpointId[];
  /** These can no longer be undone or redone. */
  readonly steps: readonly StepSummary[];
  /** Other paths with the same content. They are forgotten too only on request. */
  readonly sameContent: readonly BytePath[];
  /**
   * Forgotten paths of which a program still has open what a restore replaced. If it writes to it, a checkpoint holds it
   * again, or, where the path is kept out, it gets a name of its own on disk.
   */
  readonly stillOpen: readonly BytePath[];
  readonly objects: number;
  readonly bytes: number;
  readonly dryRun: boolean;
}
