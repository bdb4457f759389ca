/** Branches as other programs see them. */
import type { CheckpointId } from "./ids.ts";

/** `merged`: brought into another branch; `discarded`: deleted, and kept for a while to be brought back. */
export type BranchState = "open" | "merged" | "discarded";

/** A named line of checkpoints. */
export interface Branch {
  readonly name: string;
  /** Its newest checkpoint; null when there is none, or the branch was deleted too long ago. */
  readonly head: CheckpointId | null;
  /** The checkpoint it began with; null for the first branch, or where that one was dropped. */
  readonly base: CheckpointId | null;
  /** The branch it began on; null for the first one. */
  readonly parent: string | null;
  /** Whether this working copy is on it. */
  readonly current: boolean;
  /** The directory whose files are on it; null when there is none. */
  readonly workingCopy: string | null;
  readonly state: BranchState;
  readonly description: string | null;
  /** How many checkpoints it has that its parent lacks, and the parent has since it began. */
  readonly ahead: number;
  readonly behind: number;
  /** How many files its head holds. */
  readonly files: number;
  /** The newest run of an agent on it; null when there was none. */
  readonly run: string | null;
  readonly createdAt: number;
  /** The time of its head. */
  readonly updatedAt: number;
}

/** What to call a new branch, and where it begins. */
export interface BranchRequest {
  /** The checkpoint to begin with; without one the present is captured and the branch begins there. */
  readonly from?: string;
  readonly description?: string;
}

/** How to go to another branch. */
export interface SwitchOptions {
  /** Leave the files as they are: they become the next checkpoint there. */
  readonly keepFiles?: boolean;
  /** Go although an agent's tool runs in this working copy. */
  readonly whileWorking?: boolean;
}
