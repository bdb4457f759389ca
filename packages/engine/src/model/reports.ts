/** What upkeep tells when it is done. */
import type { BytePath } from "./byte-path.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { StepSummary } from "./plan.ts";

export interface Stats {
  readonly checkpoints: number;
  readonly byKind: Readonly<Record<string, number>>;
  readonly threads: number;
  readonly operations: Readonly<Record<string, number>>;
  readonly objects: number;
  readonly packs: number;
  /** Bytes of distinct content before compression. */
  readonly contentBytes: number;
  readonly storedBytes: number;
  readonly diskBytes: number;
  readonly capBytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}

export interface VerifyProblem {
  readonly kind: "object-missing" | "object-corrupt" | "tree-corrupt" | "row-invalid" | "database" | "log";
  readonly detail: string;
  readonly object?: string;
  readonly checkpoints: readonly CheckpointId[];
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly checkpoints: number;
  readonly objects: number;
  readonly bytes: number;
  readonly problems: readonly VerifyProblem[];
}

export interface PruneReport {
  readonly pruned: readonly Checkpoint[];
  readonly kept: number;
  readonly dryRun: boolean;
}

export interface GcReport {
  readonly objectsFreed: number;
  /** Bytes of their content, before compression. */
  readonly contentFreed: number;
  readonly packsFreed: number;
  readonly packsRewritten: number;
  readonly bytesBefore: number;
  /** null when it was only looked: how small the rest gets is known when it is packed. */
  readonly bytesAfter: number | null;
  readonly checkpointsDropped: number;
  /** These can no longer be undone or redone. */
  readonly stepsDropped: readonly StepSummary[];
  readonly dryRun: boolean;
}

/** What was said and is no longer known. */
export interface ForgetWordsReport {
  readonly thread: ThreadId;
  readonly messages: number;
  readonly steps: number;
  /** How many checkpoints lost their description; what they hold is as it was. */
  readonly checkpoints: number;
  readonly dryRun: boolean;
}

export interface ForgetReport {
  readonly checkpoints: readonly CheckpointId[];
  /** These can no longer be undone or redone. */
  readonly steps: readonly StepSummary[];
  /** Other paths that hold bytes of what was to be forgotten; forgotten too only if that was asked for. */
  readonly sameContent: readonly BytePath[];
  readonly objects: number;
  readonly bytes: number;
  readonly dryRun: boolean;
}
