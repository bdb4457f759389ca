/**
 * Events of a workspace, whichever process caused them. Each has a number that never changes, so a reader
 * that was away resumes after the last one it received.
 */
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
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
      /** How many of `total` edits are in place. */
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
  /** These steps can no longer be undone or redone: their checkpoints were dropped. */
  | { readonly type: "steps_dropped"; readonly steps: readonly string[] }
  /** Automatic captures are paused until then, or have resumed. */
  | { readonly type: "capture_paused"; readonly until: number }
  | { readonly type: "capture_resumed" }
  /** Work of a turn was not captured; `events` of it were lost. */
  | { readonly type: "capture_failed"; readonly events: number; readonly problem: string }
  | { readonly type: "coverage_gap"; readonly checkpoint: CheckpointId; readonly gaps: number }
  | { readonly type: "done"; readonly checkpoint: CheckpointId | null };

/** One event with its number, time and thread. */
export type WorkspaceEvent = EventFacts & EventDetail;

/** Where an event stream begins and what it contains. */
export interface EventOptions {
  /** Begin after this number (`Last-Event-ID`). Without it the stream begins with the next event. */
  readonly after?: number;
  readonly thread?: ThreadId;
  readonly signal?: AbortSignal;
}
