/** What a restore, undo, redo or revert would do, and what it did. */
import type { BytePath } from "./byte-path.ts";
import type { Doubt, Gap } from "./checkpoint.ts";
import type { Entry } from "./entry.ts";
import type { CheckpointId, OperationId, ThreadId } from "./ids.ts";
import type { ObjectHash } from "./object-hash.ts";

export type StepKind = "turn" | "restore" | "reset" | "revert";

/** One path, from what is there to what shall be there; `undefined` = absent. */
export interface Edit {
  readonly path: BytePath;
  readonly from: Entry | undefined;
  readonly to: Entry | undefined;
}

/** What a directory can have become that a restore leaves alone, whatever its target has there. */
export type Foreign = "a workspace of its own" | "a mount point" | "a linked git worktree";

/** Why a path that is not in the target stays: see docs/spec.md, section "Deletion". */
export type KeptReason =
  | `it is ${Foreign}`
  | `it holds ${Foreign}`
  | "not covered by the target's rules"
  | "the target has a gap here"
  | "not saved by the safety checkpoint"
  | "it holds a git repository"
  | "keep-new"
  | "git ignores it"
  | "it was in this directory before the store was"
  | "git ignores it, and it was changed since"
  | "the directory is not empty";

export interface Kept {
  readonly path: BytePath;
  readonly reason: KeptReason;
}

export type ConflictReason =
  | "changed differently meanwhile"
  | "binary"
  | "too large to merge"
  | "shared with another thread"
  | "changed while restoring"
  | "cannot be saved";

export interface Conflict {
  readonly path: BytePath;
  readonly reason: ConflictReason;
  /** Whose change stands in the way, where that is known. */
  readonly thread?: ThreadId;
  /** The steps that were at work together when it changed, and are not part of the plan. */
  readonly sharedWith?: readonly StepSummary[];
  /** How many of the last steps an undo must take for all of them to be among those; null when others would be too. */
  readonly together?: number | null;
  /** What is there now, and what was to be there. */
  readonly ours?: ConflictSide;
  readonly theirs?: ConflictSide;
  /** The checkpoint from which a restore of this path would bring exactly what was to be there. */
  readonly restoreFrom?: CheckpointId;
}

/** One side of a conflict: enough of it to decide by. */
export interface ConflictSide {
  readonly kind: Entry["kind"] | "absent";
  /** The first lines of the first place where the two differ; none for what has no lines. */
  readonly lines: readonly string[];
  /** Where that is, counted from 1; null for what has no lines. */
  readonly line: number | null;
  /** How many lines of this place are left out. */
  readonly more: number;
}

export interface StepSummary {
  readonly id: string;
  readonly kind: StepKind;
  readonly thread: ThreadId | null;
  readonly agent: string | null;
  readonly prompt: string | null;
  readonly description: string;
}

/** What a command may have written after the turn that started it. */
export interface BackgroundWork {
  readonly step: StepSummary;
  readonly tool: string;
  readonly paths: readonly BytePath[];
}

export type PlanKind = "restore" | "reset" | "undo" | "redo" | "revert";

/** A plan is bound to the snapshot it was made on: applying it to another state is refused. */
export interface Plan {
  readonly id: OperationId;
  readonly kind: PlanKind;
  readonly description: string;
  /** The target of a restore or revert; null for undo and redo. */
  readonly checkpoint: CheckpointId | null;
  readonly thread: ThreadId | null;
  /** Only these, and what is below them; null = everything. */
  readonly paths: readonly BytePath[] | null;
  /** The state of the files this plan was made on. */
  readonly base: ObjectHash;
  readonly edits: readonly Edit[];
  readonly merged: readonly BytePath[];
  readonly kept: readonly Kept[];
  readonly conflicts: readonly Conflict[];
  /** Changes of nobody's tool that stay as they are. */
  readonly meanwhile: readonly BytePath[];
  /** Those of them that were changed while captures were paused, maybe by a tool. */
  readonly paused: readonly BytePath[];
  /** Paths among the edits of which it is not certain that the tool that ran changed them. */
  readonly maybe: readonly { readonly path: BytePath; readonly tool: string }[];
  /** Changed since the step ended, while a command that it left in the background still runs: they stay unless asked for. */
  readonly background: readonly BackgroundWork[];
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  /** Work of other threads that a whole restore would take out. */
  readonly otherThreads: readonly { readonly thread: ThreadId; readonly paths: readonly BytePath[] }[];
  readonly warnings: readonly string[];
  readonly steps: readonly StepSummary[];
}

/** What every plan begins with: nothing to do, and nothing to say about it. */
export const EMPTY_PLAN = {
  paths: null,
  edits: [],
  merged: [],
  kept: [],
  conflicts: [],
  meanwhile: [],
  paused: [],
  maybe: [],
  background: [],
  gaps: [],
  doubts: [],
  otherThreads: [],
  warnings: [],
  steps: [],
} satisfies Partial<Plan>;

/** Asked between two files whether a person wants the operation to stop. */
export interface Interrupt {
  /** How often that was wanted: once, and what was done is taken back; twice, and it is left to the next command. */
  count(): number;
  /** Told when what was done begins to be taken back. */
  takingBack(done: number, total: number): void;
}

export interface ApplyOptions {
  /** Skip conflicting and unwritable paths instead of changing nothing at all. */
  readonly bestEffort?: boolean;
}

export interface Skipped {
  readonly path: BytePath;
  readonly reason: string;
}

/** What another program had written at a path while files were put in place, and the checkpoint that holds it. */
export interface Displaced {
  readonly path: BytePath;
  readonly checkpoint: CheckpointId;
}

export interface Outcome {
  /** `displaced`: carried out while another program wrote to some of the files. */
  readonly outcome: "applied" | "unchanged" | "conflicts" | "partial" | "displaced";
  readonly plan: Plan;
  readonly restoredTo: CheckpointId | null;
  readonly safetyCheckpoint: CheckpointId | null;
  readonly newCheckpoint: CheckpointId | null;
  readonly created: number;
  readonly modified: number;
  readonly deleted: number;
  readonly merged: readonly BytePath[];
  readonly kept: readonly Kept[];
  readonly skipped: readonly Skipped[];
  readonly conflicts: readonly Conflict[];
  readonly displaced: readonly Displaced[];
  readonly steps: readonly StepSummary[];
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly durationMs: number;
  /** What was done because of it: see `afterRestore`. */
  readonly notices?: readonly string[];
}

/** Told which paths Belay itself has changed; what it answers is for the user. */
export type AfterRestore = (paths: readonly BytePath[]) => Promise<readonly string[]>;
