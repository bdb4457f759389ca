/**
 * Events of a workspace, whichever process caused them. Each has a number that never changes, so a reader
 * that was away resumes after the last one it received.
 */
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { RestorePhase } from "./plan.ts";
import type { SessionName } from "./session.ts";

interface EventFacts {
  readonly seq: number;
  readonly at: number;
  readonly thread: ThreadId | null;
}

/** The kinds of event, with the facts of each. */
export type EventDetail =
  | {
      /** `assistant` covers every message that is not the user's; it has no checkpoint. */
      readonly type: "user" | "assistant";
      readonly content: string;
      /** True when `content` is only the beginning of the message. */
      readonly truncated: boolean;
      readonly messageId: string;
      readonly checkpoint: CheckpointId | null;
      readonly session: SessionName;
    }
  | {
      /** `file` is absolute. `diff` is null when the file is binary, too large or gone. */
      readonly type: "file_edit";
      readonly file: string;
      readonly path: string;
      readonly diff: string | null;
    }
  | { readonly type: "checkpoint_created" | "checkpoint_updated"; readonly checkpoint: Checkpoint | null }
  | { readonly type: "checkpoint_deleted"; readonly checkpointId: CheckpointId }
  | {
      readonly type: "restore_started" | "restore_finished" | "restore_conflicts";
      readonly operation: string;
      readonly kind: string;
      readonly description: string;
      readonly files: number;
    }
  | {
      readonly type: "restore_progress";
      readonly operation: string;
      /** Until `changing` no file has been touched. */
      readonly phase: RestorePhase;
      /** How many of the `total` files of this phase are done. */
      readonly done: number;
      readonly total: number;
    }
  | { readonly type: "undo" | "redo"; readonly steps: readonly string[]; readonly checkpoint: CheckpointId }
  | {
      readonly type: "session_approved" | "session_reset";
      readonly session: SessionName;
      readonly newSession: SessionName;
      /** Null for a reset that had nothing to take out. */
      readonly checkpoint: CheckpointId | null;
    }
  /** `branch` is the name it has now; `from` the name it had, or the branch that was left. */
  | { readonly type: "branch_created" | "branch_deleted"; readonly branch: string }
  | {
      readonly type: "branch_updated" | "branch_switched";
      readonly branch: string;
      readonly from: string | null;
    }
  | {
      readonly type: "fork_created" | "fork_removed";
      /** Its id, its name, and where it is or was. */
      readonly fork: string;
      readonly name: string;
      readonly path: string;
    }
  /** `open`: how many conflicts are left to decide. */
  | {
      readonly type: "merge_planned" | "merge_applied" | "merge_abandoned";
      readonly merge: string;
      readonly sources: readonly string[];
      readonly open: number;
    }
  | {
      readonly type: "conflict_opened" | "conflict_resolved";
      readonly merge: string;
      readonly conflict: string;
      readonly path: string;
    }
  /** A run began, or ended with this status. */
  | { readonly type: "agent_started"; readonly run: string }
  | {
      readonly type: "agent_progress";
      readonly run: string;
      readonly cost: number | null;
      readonly tokens: number | null;
      readonly lines: number;
    }
  | { readonly type: "agent_finished"; readonly run: string; readonly status: string }
  /** A tool of the event's thread is about to touch a path that open turns of these threads changed meanwhile. */
  | { readonly type: "agents_overlap"; readonly path: string; readonly threads: readonly ThreadId[] }
  | { readonly type: "fix_started"; readonly fix: string }
  | {
      readonly type: "fix_attempt";
      readonly fix: string;
      readonly number: number;
      readonly severity: string;
      readonly checkpoint: CheckpointId;
    }
  | { readonly type: "fix_escalated"; readonly fix: string; readonly reason: string | null }
  | { readonly type: "fix_finished"; readonly fix: string; readonly state: string }
  /** These steps can no longer be undone or redone: their checkpoints were dropped. */
  | { readonly type: "steps_dropped"; readonly steps: readonly string[] }
  /** Automatic captures are paused until then, or have resumed. */
  | { readonly type: "capture_paused"; readonly until: number }
  | { readonly type: "capture_resumed" }
  /** Work of a turn was not captured; `events` of it were lost. */
  | { readonly type: "capture_failed"; readonly events: number; readonly problem: string }
  /** The search index was compared with the newest checkpoint. */
  | {
      readonly type: "index_synced";
      readonly checked: number;
      readonly reindexed: number;
      readonly removed: number;
    }
  /** Something is sent to a remote, or the lines of others are looked at. */
  | { readonly type: "sync_started"; readonly remote: string; readonly direction: "push" | "pull" }
  /** How far that is, twice a second at most. */
  | ({ readonly type: "sync_progress" } & SyncProgress)
  /** A remote has what was to be sent, or the lines of others were looked at. */
  | { readonly type: "sync_finished"; readonly remote: string; readonly direction: "push" | "pull" }
  /** It did not end well, for another reason than the last time. */
  | {
      readonly type: "sync_failed";
      readonly remote: string;
      readonly code: string;
      readonly problem: string;
      /** When it is tried again by itself; null when it is not. */
      readonly retryAt: number | null;
    }
  /** A line of another machine has moved. */
  | {
      readonly type: "remote_changed";
      readonly remote: string;
      readonly line: string;
      readonly checkpoints: number;
    }
  /** A checkpoint is kept for the members of a space or, with `expiresAt`, copied out of it for holders of the link. */
  | {
      readonly type: "share_created";
      readonly remote: string;
      readonly share: string;
      readonly checkpoint: CheckpointId;
      readonly expiresAt: number | null;
    }
  /** The event's thread can be taken over on another machine. */
  | {
      readonly type: "handoff_offered";
      readonly remote: string;
      readonly reference: string;
      readonly checkpoint: CheckpointId;
    }
  /** A member of a space approves of the event's thread, as it was at a checkpoint. */
  | {
      readonly type: "review";
      readonly checkpoint: CheckpointId;
      readonly by: string;
      readonly message: string | null;
    }
  | { readonly type: "coverage_gap"; readonly checkpoint: CheckpointId; readonly gaps: number }
  | { readonly type: "done"; readonly checkpoint: CheckpointId | null };

/** Progress of an exchange with a remote. */
export interface SyncProgress {
  readonly remote: string;
  readonly direction: "push" | "pull";
  /** What is done now: `content`, `records` or `lines`. */
  readonly phase: "content" | "records" | "lines";
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly objects: number;
  readonly objectsTotal: number;
  readonly bytesPerSecond: number;
  /** How long the rest will take at this rate; null while that cannot be told. */
  readonly etaMs: number | null;
}

/** What is told of remotes without a change of the store. */
export type RemoteEvent = Extract<
  EventDetail,
  { readonly type: "sync_started" | "sync_progress" | "share_created" | "handoff_offered" }
>;

/** One event with its number, time and thread. */
export type WorkspaceEvent = EventFacts & EventDetail;

/** Where an event stream begins and what it contains. */
export interface EventOptions {
  /** Begin after this number (`Last-Event-ID`). Without it the stream begins with the next event. */
  readonly after?: number;
  readonly thread?: ThreadId;
  /** Only events of these types: no other is read, which matters where many working copies share a store. */
  readonly types?: readonly EventDetail["type"][];
  readonly signal?: AbortSignal;
}
