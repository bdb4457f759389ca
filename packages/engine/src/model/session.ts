/**
 * Approval. A thread's work is a sequence of sessions. One is open; earlier ones were approved (merged) or
 * reset (abandoned). A change is pending when it differs from the approved state, was made by this thread or
 * by hand, and was not approved in another thread.
 */
import type { FileChange } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { Outcome } from "./plan.ts";

/** The name of a session within its thread: "session_1", "session_2" … */
export type SessionName = `session_${number}`;

/** One stretch of a thread that is approved or reset as a whole. */
export interface Session {
  readonly name: SessionName;
  readonly status: "active" | "merged" | "abandoned";
  readonly createdAt: number;
  readonly closedAt: number | null;
  /** The approved state it started from. */
  readonly base: CheckpointId | null;
  /** The approval that closed it. */
  readonly approved: CheckpointId | null;
  readonly message: string | null;
  /** Its newest checkpoint. */
  readonly head: CheckpointId | null;
  /** How many of its checkpoints still exist. */
  readonly checkpoints: number;
}

/** The approval state of a thread. */
export interface SessionStatus {
  readonly thread: ThreadId;
  /** The open session; null until it has a checkpoint or a pending change. */
  readonly active: SessionName | null;
  /** The open session, even if it is empty. */
  readonly session: SessionName;
  readonly hasUnapproved: boolean;
  readonly approved: CheckpointId | null;
  readonly lastApprovedAt: number | null;
  /** The pending changes, sorted by path; lines and diffs as requested. */
  readonly changedFiles: readonly PendingFile[];
}

/** A change that has not been approved. */
export interface PendingFile extends FileChange {
  /** The approved content as text; null when the file is new, binary or too large, or when not requested. */
  readonly baseContent: string | null;
}

/** How to approve a session. */
export interface ApproveOptions {
  readonly message?: string;
}

/** The result of approving a session. */
export interface Approval {
  readonly approved: CheckpointId;
  readonly session: SessionName;
  readonly newSession: SessionName;
  /** How many checkpoints the session had. */
  readonly checkpointsApproved: number;
}

/** The result of resetting a session. */
export interface ResetOutcome extends Outcome {
  /** The approved state; null while the thread has no checkpoint. */
  readonly resetTo: CheckpointId | null;
  /** Null when conflicts prevented the reset. */
  readonly newSession: SessionName | null;
}
