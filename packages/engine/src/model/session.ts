/**
 * Approval. A thread's work is a sequence of sessions: one is open, those before it were approved (merged)
 * or reset (abandoned). What is pending is what differs from the approved state by this thread's doing or
 * by hand, and was not approved in another thread.
 */
import type { FileChange } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { Outcome } from "./plan.ts";

/** "session_1", "session_2" … */
export type SessionName = `session_${number}`;

export interface Session {
  readonly name: SessionName;
  readonly status: "active" | "merged" | "abandoned";
  readonly createdAt: number;
  readonly closedAt: number | null;
  /** The approved state that it started from. */
  readonly base: CheckpointId | null;
  /** The approval that closed it. */
  readonly approved: CheckpointId | null;
  readonly message: string | null;
  /** Its newest checkpoint. */
  readonly head: CheckpointId | null;
  /** Its checkpoints that are still there. */
  readonly checkpoints: number;
}

export interface SessionStatus {
  readonly thread: ThreadId;
  /** The open session; null until it has a checkpoint or a pending change. */
  readonly active: SessionName | null;
  /** The open session, whatever it has. */
  readonly session: SessionName;
  readonly hasUnapproved: boolean;
  readonly approved: CheckpointId | null;
  readonly lastApprovedAt: number | null;
  /** What is pending, sorted by path; lines and diffs as asked for. */
  readonly changedFiles: readonly PendingFile[];
}

export interface PendingFile extends FileChange {
  /** The approved content as text; null when added, binary, too large, or not asked for. */
  readonly baseContent: string | null;
}

export interface ApproveOptions {
  readonly message?: string;
}

export interface Approval {
  readonly approved: CheckpointId;
  readonly session: SessionName;
  readonly newSession: SessionName;
  /** How many checkpoints the session had. */
  readonly checkpointsApproved: number;
}

export interface ResetOutcome extends Outcome {
  /** The approved state; null while the thread has no checkpoint. */
  readonly resetTo: CheckpointId | null;
  /** Null when conflicts kept everything as it was. */
  readonly newSession: SessionName | null;
}
