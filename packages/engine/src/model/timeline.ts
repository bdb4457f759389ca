/**
 * The timeline: what happened in a workspace, one row each, newest first. A row lies between two states: `before` and
 * `after`. One prompt is one row, however many checkpoints it took.
 */
import type { UncapturedTurn } from "./conversation.ts";
import type { ChangeCounts } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { Asker } from "./plan.ts";

/** What a row tells of. `safety` and turns without changes are listed only with `all`, `capture` only with `flat`. */
export type TimelineKind =
  | "turn"
  | "hand"
  | "checkpoint"
  | "restore"
  | "revert"
  | "reset"
  | "switch"
  | "merge"
  | "approved"
  | "initial"
  | "safety"
  | "capture";

/** Whether what a row did is in effect: `open` while a turn is under way, `empty` where nothing was changed. */
export type TimelineState = "open" | "applied" | "undone" | "empty";

/** How the work of a turn stands, or how it ended; null for everything but turns. */
export type TimelineStatus = "working" | "completed" | "interrupted" | "failed";

/** How many files and lines something changed. Lines are null where they cannot be told, or would cost too much. */
export interface TimelineCounts extends ChangeCounts {
  readonly plus: number | null;
  readonly minus: number | null;
}

/** Something that happened. */
export interface TimelineRow extends TimelineCounts {
  /** Orders the rows: the seq of the checkpoint that opened it. Rows may share one; their `ref` differs. */
  readonly seq: number;
  /** That checkpoint's id; of a turn whose beginning was dropped, that of its end. */
  readonly id: CheckpointId;
  /** What commands take, and what no other row has: "T3" for turns, else the seq. */
  readonly ref: string;
  readonly kind: TimelineKind;
  /** In one line: the prompt, the name, "Changed by hand", "Restored to before “…”". */
  readonly title: string;
  readonly thread: ThreadId | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly at: number;
  /** Null while it is under way. */
  readonly endedAt: number | null;
  readonly state: TimelineState;
  readonly status: TimelineStatus | null;
  readonly undoneAt: number | null;
  /** Set where it is known who undid it. */
  readonly undoneBy?: Asker;
  /** True when its session was approved. */
  readonly approved: boolean;
  /** True when checkpoints that an undo of it needs were dropped. */
  readonly pruned: boolean;
  /** The states on both sides; null where the checkpoint was dropped, or is still to come. */
  readonly before: CheckpointId | null;
  readonly after: CheckpointId | null;
  /** How many of the files another thread may have changed instead. */
  readonly shared: number;
  /** How many tool calls changed something. */
  readonly steps: number;
  /** How many of its files were not captured. */
  readonly gaps: number;
  /** How many files its captures came too late for, or met while they were being written. */
  readonly late: number;
  /** Whether a checkpoint on either side of it is known to be damaged. */
  readonly damaged: boolean;
  readonly name: string | null;
  readonly note: string | null;
  readonly tags: readonly string[];
  /**
   * Whether the state after it equals the files on disk; null where the disk was not looked at. Of the newest turn, while no
   * capture has ended it, its state so far.
   */
  readonly sameAsNow: boolean | null;
  readonly beforeSameAsNow: boolean | null;
  /** The file, of a change outside of agents that touched no other. */
  readonly path?: string;
  /** The state that a restore went to, where its checkpoint is still there. */
  readonly target?: CheckpointId;
  /** Set where it happened on another branch than the one that the files are on: before this one began. */
  readonly branch?: string;
  /** Other branches that began here: with the state before a turn, with the state of everything else, or between it and the next row. */
  readonly begun?: readonly string[];
}

/** Which rows to return. */
export interface TimelineOptions {
  /** Only rows with a smaller seq. */
  readonly before?: number;
  /** Only rows with a larger seq. */
  readonly after?: number;
  /** The page of a place far down: so many of the newest rows are above it. */
  readonly skip?: number;
  /** The page that has this row, by its ref, and some above it; empty where these filters leave it out. */
  readonly around?: string;
  /** Defaults to 100. Rows that share the last one's seq are returned with it. */
  readonly limit?: number;
  readonly thread?: ThreadId;
  readonly agent?: string;
  /** Only rows that began at this time or later. */
  readonly since?: number;
  /** Words over prompts, names, notes, tags and paths, and the fields of `TIMELINE_FIELDS`. */
  readonly q?: string;
  /** Also turns without changes and safety checkpoints. */
  readonly all?: boolean;
  /** One row a checkpoint, of all kinds and phases, instead of one for what happened. */
  readonly flat?: boolean;
  /** Look at the disk: fills in `now` and `sameAsNow`. */
  readonly look?: boolean;
}

/** The disk, compared with the newest capture. */
export interface TimelineNow {
  readonly at: number;
  /** How many files changed since the newest capture; null when unknown: it is damaged, or the directory is gone. */
  readonly changed: number | null;
  /** One of them. */
  readonly first: string | null;
  /** The seq of the newest capture. */
  readonly since: number | null;
  /** The threads with a turn under way. */
  readonly working: readonly ThreadId[];
  /** Agents' work of which nothing was captured since the newest capture; null where captures succeed. */
  readonly failing: CaptureFailure | null;
}

/** Captures that fail: since when, and why the first of them did. */
export interface CaptureFailure {
  readonly since: number;
  readonly problem: string;
}

/** The same of the workspace as it is: whether that is for want of room in the store. */
export interface FailingCaptures extends CaptureFailure {
  readonly isFull: boolean;
}

/** One page of the timeline. */
export interface TimelinePage {
  readonly rows: readonly TimelineRow[];
  /** The `before` of the next page; null on the last one. */
  readonly next: number | null;
  /** How many rows are above it; null where it was asked for with `before` or `after`. */
  readonly skipped: number | null;
  /** How many rows there are with these filters, and on which days; null in all but the first page. */
  readonly total: number | null;
  readonly days: readonly TimelineDay[] | null;
  /** Null unless the disk was looked at. */
  readonly now: TimelineNow | null;
  /**
   * Turns without a capture that happened between these rows, newest first: each came after the checkpoint `after`. A
   * search does not find them: nothing is known of their files.
   */
  readonly uncaptured: readonly UncapturedTurn[];
}

/** A day, as the local calendar has it, and how many rows it has. */
export interface TimelineDay {
  readonly day: string;
  readonly count: number;
}

/** Part of a turn: what one capture found that the turn had changed. */
export interface TimelineStep extends TimelineCounts {
  readonly seq: number;
  readonly id: CheckpointId;
  readonly at: number;
  /** The tool that ran; null where no tool call was announced. */
  readonly tool: string | null;
  /** What the call was about: a path or a command, in one line. */
  readonly summary: string | null;
  readonly nature: "edit" | "command" | null;
  readonly before: CheckpointId | null;
  readonly after: CheckpointId;
}
