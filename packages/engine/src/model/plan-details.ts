/** A plan in detail: each file with what would become of it and who changed it, for people to choose from. */
import type { BytePath } from "./byte-path.ts";
import type { FileDiff } from "./file-diff.ts";
import type { ThreadId } from "./ids.ts";
import type { LatestChange } from "./plan.ts";

/** What would become of a file. */
export type PlannedChange = "delete" | "change" | "create" | "mode";

/** One file of a plan. */
export interface PlannedFile {
  readonly path: BytePath;
  readonly change: PlannedChange;
  /** Lines that would be added and removed; null where they were not counted: binary, large, or one file of very many. */
  readonly plus: number | null;
  readonly minus: number | null;
  readonly binary: boolean;
  /** What to know of it, as phrases: merged with later changes, captured late, maybe not by the tool. */
  readonly reasons: readonly string[];
  /** It holds commands that run by themselves, and they change. */
  readonly scripts: boolean;
  /** A person or a program without a tool changed it since. */
  readonly byHand: boolean;
  /** The threads that changed it since. */
  readonly threads: readonly ThreadId[];
  /** Those of them whose work the plan is not about. */
  readonly others: readonly ThreadId[];
  /** What wrote it last, where that was a moment ago and is known. */
  readonly latest?: LatestChange;
}

/** A plan in detail. */
export interface PlanDetails {
  /** What is deleted first, then what changes, what comes back, modes; within each, what has a mark first. */
  readonly files: readonly PlannedFile[];
  /** Threads whose turn is under way: their agents may write while files go back. */
  readonly working: readonly ThreadId[];
}

/** What a plan would do to one file, line by line: from the present content to the planned one. */
export interface PlannedDiff extends FileDiff {
  /** How many hunks can be chosen: those of `hunks`, in that order, or 1 where the change is one piece. */
  readonly choices: number;
}
