/** Loops that fix what a review found, as other programs see them. */
import type { CheckpointId, ThreadId } from "./ids.ts";

/** Where a loop is. */
export type FixState = "running" | "clean" | "escalated" | "rejected" | "accepted" | "manual" | "exhausted";

/** One thing that a review wants changed. */
export interface FixIssue {
  readonly severity: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly suggestion?: string;
}

/** One try to remove the issues of a severity. */
export interface FixAttempt {
  readonly number: number;
  readonly severity: string;
  /** The state before it. */
  readonly checkpoint: CheckpointId | null;
  readonly run: string | null;
  readonly issuesBefore: readonly FixIssue[];
  /** Null while it goes on. */
  readonly issuesAfter: readonly FixIssue[] | null;
  /** True when it made things worse and its changes were taken out again. */
  readonly takenBack: boolean;
}

/** A loop of attempts. */
export interface Fix {
  readonly id: string;
  readonly thread: ThreadId | null;
  /** Whether it belongs to the working copy that it was read from. */
  readonly isHere: boolean;
  /** The directory that it works in; null when that is no longer there. */
  readonly root: string | null;
  readonly state: FixState;
  /** What the caller needs to go on with it later. */
  readonly config: unknown;
  readonly review: unknown;
  /** The state that a rejection goes back to. */
  readonly before: CheckpointId | null;
  readonly attempts: readonly FixAttempt[];
  /** What is left to fix. */
  readonly issues: readonly FixIssue[];
  /** Why it needs a decision. */
  readonly reason: string | null;
  readonly result: unknown;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** What a loop begins with. */
export interface FixRequest {
  readonly config: unknown;
  readonly review: unknown;
  /** The checkpoint before the work that is reviewed; without one the present is captured. */
  readonly before?: string;
  readonly issues: readonly FixIssue[];
}

/** What became of a loop. */
export interface FixUpdate {
  readonly state: FixState;
  readonly issues: readonly FixIssue[];
  readonly reason?: string | null;
  readonly result?: unknown;
}
