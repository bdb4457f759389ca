/**
 * The events that the resident process streams. Field names are the contract's, snake_case where it says so.
 */
import type { checkpoint, Json } from "./shapes.ts";

type Checkpoint = Json<typeof checkpoint>;

/** In every event but the first. */
interface Place {
  readonly workspace: string;
  /** null = about the workspace as a whole */
  readonly thread: string | null;
  /** The thread under its other name. */
  readonly dialog_id: string | null;
  readonly at: string;
}

interface Operation {
  readonly operation: string;
  readonly kind: string;
  readonly description: string;
  readonly files: number;
}

/** One event of a workspace, as streams of events carry it. */
export type BelayEvent =
  | (Place & {
      type: "user" | "assistant";
      content: string;
      /** True when it is only the beginning; `GET …/messages` has all of it. */
      truncated: boolean;
      messageId: string;
      checkpoint: string | null;
      session: string;
    })
  /** `diff`: null when there is none to show, or it is longer than 32 KiB */
  | (Place & { type: "file_edit"; file: string; path: string; diff: string | null })
  /** null = it no longer exists */
  | (Place & { type: "checkpoint_created" | "checkpoint_updated"; checkpoint: Checkpoint | null })
  | (Place & { type: "checkpoint_deleted"; checkpoint_id: string })
  | (Place & Operation & { type: "restore_started" | "restore_finished" | "restore_conflicts" })
  /**
   * What is there is saved, then new content is staged beside the files, then the files change; after `restore_finished`
   * what was replaced is cleared away. `done` of the `total` files of this phase.
   */
  | (Place & {
      type: "restore_progress";
      operation: string;
      phase: "saving" | "staging" | "changing" | "clearing";
      done: number;
      total: number;
    })
  | (Place & { type: "session_approved"; session: string; new_session: string; approved: string | null })
  | (Place & { type: "session_reset"; session: string; new_session: string; reset_to: string | null })
  | (Place & { type: "undo" | "redo"; steps: readonly string[]; checkpoint: string })
  | (Place & { type: "branch_created" | "branch_deleted"; branch: string })
  /** `from`: the name it had, or the branch that was left */
  | (Place & { type: "branch_updated" | "branch_switched"; branch: string; from: string | null })
  | (Place & { type: "fork_created" | "fork_removed"; fork: string; name: string; path: string })
  /** `sources`: the branches that came in; `open`: how many conflicts are left to decide */
  | (Place & {
      type: "merge_planned" | "merge_applied" | "merge_abandoned";
      merge: string;
      sources: readonly string[];
      open: number;
    })
  | (Place & { type: "conflict_opened" | "conflict_resolved"; merge: string; conflict: string; path: string })
  | (Place & { type: "agent_started"; run: string })
  | (Place & {
      type: "agent_progress";
      run: string;
      cost: number | null;
      tokens: number | null;
      lines: number;
    })
  | (Place & { type: "agent_finished"; run: string; status: string })
  /** A tool of the thread is about to touch a path that open turns of other threads changed since its turn began. */
  | (Place & { type: "agents_overlap"; path: string; threads: readonly string[] })
  | (Place & { type: "fix_started"; fix: string })
  | (Place & { type: "fix_attempt"; fix: string; number: number; severity: string; checkpoint: string })
  | (Place & { type: "fix_escalated"; fix: string; reason: string | null })
  | (Place & { type: "fix_finished"; fix: string; state: string })
  /** These can no longer be undone or redone. */
  | (Place & { type: "steps_dropped"; steps: readonly string[] })
  /**
   * Automatic captures are paused until then, or have resumed. A pause that ends by itself ends without an
   * event.
   */
  | (Place & { type: "capture_paused"; until: string })
  | (Place & { type: "capture_resumed" })
  /** Work of a turn was not captured. It comes when that could be recorded, which may be later. */
  | (Place & { type: "capture_failed"; events: number; problem: string })
  /** The search index was compared with the newest checkpoint. */
  | (Place & { type: "index_synced"; checked: number; reindexed: number; removed: number })
  /** Something is sent to a remote, or the lines of other machines are looked at. */
  | (Place & { type: "sync_started"; remote: string; direction: "push" | "pull" })
  /** How far that is, twice a second at most. Without a rate there is no `etaMs`. */
  | (Place & {
      type: "sync_progress";
      remote: string;
      direction: "push" | "pull";
      phase: "content" | "records" | "lines";
      bytes: number;
      bytesTotal: number;
      objects: number;
      objectsTotal: number;
      bytesPerSecond: number;
      etaMs: number | null;
    })
  /** A remote has what was to be sent, or the lines of other machines were looked at. */
  | (Place & { type: "sync_finished"; remote: string; direction: "push" | "pull" })
  /** That did not end well, for another reason than the last time. */
  | (Place & { type: "sync_failed"; remote: string; code: string; problem: string; retryAt: string | null })
  /** A line of another machine has moved. */
  | (Place & { type: "remote_changed"; remote: string; line: string; checkpoints: number })
  /** A checkpoint is shared: with the members of the space or, until it expires, with holders of the link. */
  | (Place & {
      type: "share_created";
      remote: string;
      share: string;
      checkpoint: string;
      expiresAt: string | null;
    })
  /** The thread can be taken over on another machine, by this reference. */
  | (Place & { type: "handoff_offered"; remote: string; reference: string; checkpoint: string })
  /** A member of a space approves of the thread, as it was at a checkpoint: approve it here, where the files are. */
  | (Place & { type: "review"; checkpoint: string; by: string; message: string | null })
  | (Place & { type: "coverage_gap"; checkpoint: string; gaps: number })
  | (Place & { type: "done"; checkpoint: string | null })
  /** The first event of a stream: how reliable the following ones are. */
  | {
      type: "resident_status";
      workspace: string;
      watching: boolean;
      reason: string | null;
      /** The newest event before the stream began. */
      newest: number;
    };
