/**
 * What happened in a workspace, as it happened, whichever process did it. Each event has a number that never
 * changes, so that a reader who was away goes on from the last one it saw.
 */
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { SessionName } from "./session.ts";

interface EventFacts {
  readonly seq: number;
  readonly at: number;
  readonly thread: ThreadId | null;
}

export type EventDetail =
  | {
      /** `assistant`: any message that is not the user's; it has no checkpoint. */
      readonly type: "user" | "assistant";
      readonly content: string;
      /** Only its beginning: the conversation has all of it. */
      readonly truncated: boolean;
      readonly messageId: string;
      readonly checkpoint: CheckpointId | null;
      readonly session: SessionName;
    }
  | {
      /** `file` is absolute; `diff` null when binary, too large or no longer there. */
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
      /** Edits that are in place, of how many. */
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
  /** These can no longer be undone or redone: their checkpoints were dropped. */
  | { readonly type: "steps_dropped"; readonly steps: readonly string[] }
  /** Nothing is captured by itself until then, or is again. */
  | { readonly type: "capture_paused"; readonly until: number }
  | { readonly type: "capture_resumed" }
  | { readonly type: "coverage_gap"; readonly checkpoint: CheckpointId; readonly gaps: number }
  | { readonly type: "done"; readonly checkpoint: CheckpointId | null };

export type WorkspaceEvent = EventFacts & EventDetail;

export interface EventOptions {
  /** Begin after this number (`Last-Event-ID`); left out: with what happens from now on. */
  readonly after?: number;
  readonly thread?: ThreadId;
  readonly signal?: AbortSignal;
}
