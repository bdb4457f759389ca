/** Plans of restore, undo, redo, revert, reset, switch and merge, and their outcomes. */
import type { BytePath } from "./byte-path.ts";
import type { Doubt, Gap, GitState } from "./checkpoint.ts";
import type { Entry } from "./entry.ts";
import type { CheckpointId, OperationId, ThreadId } from "./ids.ts";
import type { ObjectHash } from "./object-hash.ts";
import type { OutsideEdit, OutsideOutcome } from "./outside.ts";

/** What a step was. */
export type StepKind = "turn" | "restore" | "reset" | "revert" | "switch" | "merge";

/** The change of one path, from its present entry to its target entry; `undefined` = absent. */
export interface Edit {
  readonly path: BytePath;
  readonly from: Entry | undefined;
  readonly to: Entry | undefined;
}

/** Directories that Belay leaves alone, whatever the target holds at their path. */
export type Foreign = "a workspace of its own" | "a mount point" | "a linked git worktree";

/** Why a path that the target lacks stays on disk: see docs/spec.md, section "Deletion". */
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
  | "other work is in its place"
  | "never captured or changed by Belay"
  | "the directory is not empty";

/** A path that a restore leaves as it is. */
export interface Kept {
  readonly path: BytePath;
  readonly reason: KeptReason;
}

/** Why a path cannot be changed with certainty. */
export type ConflictReason =
  | "changed differently meanwhile"
  | "binary"
  | "too large to merge"
  | "the merge would not parse"
  | "shared with another thread"
  | "changed while restoring"
  | "cannot be saved";

/** A path that is left alone because its present content is not what the plan expected. */
export interface Conflict {
  readonly path: BytePath;
  readonly reason: ConflictReason;
  /** The thread whose change is in the way, where known. */
  readonly thread?: ThreadId;
  /** The change that made the path what it is now, where it is known. */
  readonly latest?: LatestChange;
  /** The steps that were open together when the path changed and that the plan does not include. */
  readonly sharedWith?: readonly StepSummary[];
  /**
   * How many of the last steps an undo must take to include all of them; null when that would include
   * unrelated steps.
   */
  readonly together?: number | null;
  /** `ours` is what stands on disk now, `theirs` what the plan wanted there. */
  readonly ours?: ConflictSide;
  readonly theirs?: ConflictSide;
  /** The checkpoint from which restoring this path brings the wanted content. */
  readonly restoreFrom?: CheckpointId;
}

/** Who changed a path last, and when. `hand`: no agent was about. `outside`: one was, and it is not known who wrote. */
export interface LatestChange {
  readonly by: "agent" | "hand" | "outside";
  /** The agent's name; null where it was none. */
  readonly agent: string | null;
  /** The file's own time, at most that of the checkpoint that found the change. */
  readonly at: number;
}

/**
 * What a person decided about a path in conflict: it stays as it is on disk, becomes what the plan wanted, what a merge
 * by lines makes of both although that does not parse, or this text.
 */
export type Decision =
  | { readonly path: BytePath; readonly take: "disk" | "plan" | "merged" }
  | { readonly path: BytePath; readonly take: "text"; readonly text: Buffer };

/** One side of a conflict, with enough content to decide by. */
export interface ConflictSide {
  readonly kind: Entry["kind"] | "absent";
  /** The first lines of the first difference; empty when the content has no lines. */
  readonly lines: readonly string[];
  /** Where the difference begins, counted from 1; null when the content has no lines. */
  readonly line: number | null;
  /** How many lines of the difference are left out. */
  readonly more: number;
}

/** A step as previews and lists show it. */
export interface StepSummary {
  readonly id: string;
  readonly kind: StepKind;
  readonly thread: ThreadId | null;
  readonly agent: string | null;
  readonly prompt: string | null;
  readonly description: string;
  /** When it began. */
  readonly at: number;
}

/** What a background command may have written after its turn ended. */
export interface BackgroundWork {
  readonly step: StepSummary;
  readonly tool: string;
  readonly paths: readonly BytePath[];
}

/** Paths that a thread changed. */
export interface ThreadPaths {
  readonly thread: ThreadId;
  readonly paths: readonly BytePath[];
}

/** Some hunks of one file, by their numbers in the file's diff of a plan (`diffPlanned`), counted from 0. */
export interface ChosenHunks {
  readonly path: BytePath;
  readonly hunks: readonly number[];
}

/** The operations that have a plan. */
export type PlanKind = "restore" | "reset" | "undo" | "redo" | "revert" | "switch" | "merge";

/**
 * Every change an operation would make, and what it keeps and why. Bound to one snapshot: applying it to
 * another state is refused.
 */
export interface Plan {
  readonly id: OperationId;
  readonly kind: PlanKind;
  readonly description: string;
  /** The target of a restore or revert; null for undo and redo. */
  readonly checkpoint: CheckpointId | null;
  /** The id of the merge that a plan is of. */
  readonly subject?: string;
  readonly thread: ThreadId | null;
  /** Limits the plan to these paths and what is below them; null = everything. */
  readonly paths: readonly BytePath[] | null;
  /** Files of which only some hunks go back; null = none is limited. */
  readonly hunks: readonly ChosenHunks[] | null;
  /** The snapshot of the working copy that the plan was made on. */
  readonly base: ObjectHash;
  readonly edits: readonly Edit[];
  readonly merged: readonly BytePath[];
  readonly kept: readonly Kept[];
  readonly conflicts: readonly Conflict[];
  /** Changes made outside any tool call; they stay. */
  readonly meanwhile: readonly BytePath[];
  /** The part of `meanwhile` that changed during a pause, possibly by a tool. */
  readonly paused: readonly BytePath[];
  /** Edited paths that the named tool changed only probably. */
  readonly maybe: readonly { readonly path: BytePath; readonly tool: string }[];
  /**
   * Changes made after the step ended, by a background command that still runs. They stay unless included
   * explicitly.
   */
  readonly background: readonly BackgroundWork[];
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  /** Files outside the workspace that the target holds and that are otherwise now; listed apart. */
  readonly outside: readonly OutsideEdit[];
  /** Whether those files are written back too. */
  readonly writesOutside: boolean;
  /** Work of other threads that a whole restore would take out. */
  readonly otherThreads: readonly ThreadPaths[];
  /** Files that only excepted threads changed: a restore leaves them as they are. Each stands under one thread. */
  readonly leftAlone: readonly ThreadPaths[];
  /** What git said when the target was captured, and what it says now; neither is changed. */
  readonly git: { readonly target: GitState | null; readonly now: GitState | null };
  readonly warnings: readonly string[];
  readonly steps: readonly StepSummary[];
}

/** The fields of a plan that does nothing and reports nothing. */
export const EMPTY_PLAN = {
  paths: null,
  hunks: null,
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
  outside: [],
  writesOutside: false,
  otherThreads: [],
  leftAlone: [],
  git: { target: null, now: null },
  warnings: [],
  steps: [],
} satisfies Partial<Plan>;

/** Lets a person stop a running operation. It is polled between files. */
export interface Interrupt {
  /**
   * How often the person asked to stop: once takes back what was done, twice leaves that to the next command.
   */
  count(): number;
  /** Called when taking back begins. */
  takingBack(done: number, total: number): void;
}

/**
 * What a running operation does: it saves what is there, stages the new content beside the files, then the files change.
 * When that is recorded, what was replaced is cleared away.
 */
export type RestorePhase = "saving" | "staging" | "changing" | "clearing";

/** How far a running operation is in its phase. */
export interface RestoreProgress {
  readonly phase: RestorePhase;
  readonly done: number;
  readonly total: number;
}

/** How to apply a plan. */
export interface ApplyOptions {
  /** Skip conflicting and unwritable paths instead of changing nothing at all. */
  readonly bestEffort?: boolean;
  /** Who asks for it, where that is known for sure. It is recorded. */
  readonly by?: Asker | undefined;
}

/** "page": a person, in the page. An agent runs the same commands as a person: who is at a terminal is not known. */
export type Asker = "page";

/** A path that a best-effort operation did not change. */
export interface Skipped {
  readonly path: BytePath;
  readonly reason: string;
}

/** Content that another program wrote while a restore replaced the path, and the checkpoint that holds it. */
export interface Displaced {
  readonly path: BytePath;
  readonly checkpoint: CheckpointId;
}

/** What an operation did. */
export interface Outcome {
  /** `displaced`: applied while another program wrote to some of the files. */
  readonly outcome: "applied" | "unchanged" | "conflicts" | "partial" | "displaced";
  readonly plan: Plan;
  readonly restoredTo: CheckpointId | null;
  readonly safetyCheckpoint: CheckpointId | null;
  readonly newCheckpoint: CheckpointId | null;
  readonly created: number;
  readonly modified: number;
  readonly deleted: number;
  /** The size of the content that was put in place. */
  readonly bytesWritten: number;
  readonly merged: readonly BytePath[];
  readonly kept: readonly Kept[];
  readonly skipped: readonly Skipped[];
  readonly conflicts: readonly Conflict[];
  readonly displaced: readonly Displaced[];
  /** What became of files outside the workspace; only where they were to be written. */
  readonly outside?: OutsideOutcome;
  readonly steps: readonly StepSummary[];
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly durationMs: number;
  /** What `afterRestore` answered, for the user. */
  readonly notices?: readonly string[];
}

/** Receives the paths Belay changed and returns notices for the user. */
export type AfterRestore = (paths: readonly BytePath[]) => Promise<readonly string[]>;
