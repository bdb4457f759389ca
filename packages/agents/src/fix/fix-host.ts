/**
 * What the loop needs of the keeper of checkpoints, of the review and of the fixer. The package owns these interfaces;
 * the engine's workspace has the first.
 */
import type { IssueSeverity, ReviewIssue } from "../review/review-issue.ts";
import type { AutoFixConfig } from "./auto-fix-config.ts";
import type { Choice, Escalation } from "./escalation.ts";

/** Where a loop is. */
export type FixState = "running" | "clean" | "escalated" | "rejected" | "accepted" | "manual" | "exhausted";

/** One attempt as it is recorded. */
export interface AttemptRecord {
  readonly number: number;
  readonly severity: string;
  readonly checkpoint: string | null;
  readonly run: string | null;
  readonly issuesAfter: readonly unknown[] | null;
  readonly takenBack: boolean;
}

/** A loop as it is recorded. */
export interface FixRecord {
  readonly id: string;
  readonly state: FixState;
  readonly config: unknown;
  readonly review: unknown;
  readonly before: string | null;
  readonly attempts: readonly AttemptRecord[];
  readonly issues: readonly unknown[];
  readonly reason: string | null;
}

/** The records of loops. */
export interface FixKeeper {
  find(ref: string): Promise<FixRecord>;
  begin(request: {
    config: unknown;
    review: unknown;
    before?: string;
    issues: readonly ReviewIssue[];
  }): Promise<FixRecord>;
  beginAttempt(
    fix: string,
    attempt: { number: number; ofSeverity: number; severity: string; issues: readonly ReviewIssue[] },
  ): Promise<{ readonly id: string }>;
  endAttempt(
    fix: string,
    number: number,
    ended: { run: string | null; issues: readonly ReviewIssue[]; takenBack: boolean },
  ): Promise<void>;
  update(
    fix: string,
    update: { state: FixState; issues: readonly ReviewIssue[]; reason?: string | null; result?: unknown },
  ): Promise<FixRecord>;
}

/** The working copy in which things are fixed. */
export interface FixWorkspace {
  readonly root: string;
  readonly fixes: FixKeeper;
  restoreTo(checkpoint: string): Promise<{ readonly outcome: string }>;
  undo(options?: { thread?: string }): Promise<{ readonly outcome: string }>;
}

/** What a fixer did. */
export interface FixerRun {
  /** The run, where it was one. */
  readonly run: string | null;
  /** The thread whose last turn is the fixer's work: an attempt that made things worse is undone there. */
  readonly thread: string | null;
  /** Names the files as they are now; null where that is not known. */
  readonly tree: string | null;
  readonly cost: number | null;
  readonly tokens: number | null;
}

/** How to fix what a review finds. */
export interface FixOptions {
  /** What is wrong now. It ends what it started when `signal` is given. */
  readonly review: () => Promise<readonly ReviewIssue[]>;
  /** Tries to remove these issues, all of one severity. */
  readonly fixer: (issues: readonly ReviewIssue[], severity: IssueSeverity) => Promise<FixerRun>;
  readonly config: AutoFixConfig;
  /** Undefined where the user cannot be asked. */
  readonly ask?: (escalation: Escalation) => Promise<Choice | undefined>;
  /** Shows what changed since a checkpoint. */
  readonly showDiff?: (checkpoint: string) => Promise<void>;
  /** What is known already; without it the review runs first. */
  readonly issues?: readonly ReviewIssue[];
  /** The checkpoint before the work that is reviewed. */
  readonly before?: string;
  /** What is needed to go on with the loop later, in another process. */
  readonly facts?: unknown;
  readonly limits?: {
    readonly timeoutMs?: number | null;
    readonly maxCost?: number | null;
    readonly maxTokens?: number | null;
  };
  /** Ends the loop: what is running is stopped, and the loop waits for a decision. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: FixClock;
  readonly log?: (line: string) => void;
}

/** Time, as the loop sees it. */
export interface FixClock {
  now(): number;
  wait(ms: number, signal?: AbortSignal): Promise<unknown>;
}

/** [M58] How a loop ended. */
export interface FixResult {
  readonly success: boolean;
  readonly totalRetries: number;
  readonly ignoredIssues?: readonly ReviewIssue[];
  readonly rollback?: boolean;
  readonly manualFix?: boolean;
  /** The state before the reviewed work. */
  readonly checkpoint: string | null;
  readonly attempts: readonly AttemptRecord[];
  readonly fix: string;
  readonly state: FixState;
  readonly issues: readonly ReviewIssue[];
}
