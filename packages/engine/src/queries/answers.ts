/** The answers to questions about a workspace. */
import type { OutsideFile } from "../model/outside.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint, Doubt, ExcludedRoot, Gap, GitState } from "../model/checkpoint.ts";
import type { ThreadSummary } from "../model/conversation.ts";
import type { ChangeCounts, DiffDetail, FileChange } from "../model/file-change.ts";
import type { CheckpointId, CheckpointRef, WorkspaceId } from "../model/ids.ts";
import type { Pause } from "../model/pause.ts";
import type { StepSummary } from "../model/plan.ts";
import type { KnownDamage } from "../model/reports.ts";
import type { SessionStatus } from "../model/session.ts";

/** A checkpoint with what it holds and what it lacks. */
export interface CheckpointDetails {
  readonly checkpoint: Checkpoint;
  readonly files: readonly FileChange[];
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  readonly excluded: readonly ExcludedRoot[];
  /** Files outside the workspace that it holds. */
  readonly outside: readonly OutsideFile[];
  /** The bytes of the files that it has and the checkpoint before it, or `since`, did not have like that. */
  readonly newBytes: number;
  /** What captures keep to now: what is a gap for its size may have been captured under others. */
  readonly limits: CaptureLimits;
}

/** The limits for one file, and for what is new in a checkpoint (`limits.fileBytes`, `limits.checkpointBytes`). */
export interface CaptureLimits {
  readonly fileBytes: number;
  readonly checkpointBytes: number;
}

/** How a checkpoint is shown. */
export interface ShowOptions {
  /** An earlier checkpoint: what is new is counted against it. */
  readonly since?: CheckpointRef;
}

/** Which two states are compared, and how closely. */
export interface DiffOptions {
  /** undefined = the newest checkpoint */
  readonly from?: CheckpointRef;
  /** undefined = the disk as it is now */
  readonly to?: CheckpointRef;
  readonly paths?: readonly string[];
  /** "names" compares trees only; "counts" also lines, "list" only where at most 300 files differ; "text" also makes unified diffs. */
  readonly detail: DiffDetail;
  /** Also tell who changed each file between the two states. */
  readonly authors?: boolean;
}

/** What differs between two states. */
export interface Diff {
  readonly from: CheckpointId;
  /** null = the disk */
  readonly to: CheckpointId | null;
  readonly files: readonly FileChange[];
  /** Lines are null where they were not counted. */
  readonly summary: ChangeCounts & {
    readonly linesAdded: number | null;
    readonly linesDeleted: number | null;
  };
}

/** The status of a workspace. */
export interface WorkspaceStatus {
  readonly id: WorkspaceId;
  readonly root: string;
  /** False when the directory itself is gone: then nothing is known of its files. */
  readonly exists: boolean;
  readonly store: string;
  readonly newest: Checkpoint | null;
  /** The conversation that was last at work. */
  readonly thread: ThreadSummary | null;
  /** How it stands; null without a conversation, or when its approved state is damaged. */
  readonly session: SessionStatus | null;
  readonly checkpoints: number;
  /** Since the newest checkpoint. */
  readonly changedFiles: readonly FileChange[];
  /** How many; null when unknown: the directory is gone, or the newest checkpoint is damaged. */
  readonly changes: ChangeCounts | null;
  readonly gaps: readonly Gap[];
  /** What captures keep to. */
  readonly limits: CaptureLimits;
  readonly excluded: readonly ExcludedRoot[];
  /** What the store takes, and apart from that what forks take. */
  readonly disk: {
    readonly bytes: number;
    readonly capBytes: number;
    /** Since when captures have failed for want of room; null while they succeed, as far as is known. */
    readonly fullSince: number | null;
    readonly forks: number;
  };
  /** Null unless the last verification found checkpoints that cannot be restored in full. */
  readonly damage: KnownDamage | null;
  readonly canUndo: StepSummary | null;
  readonly canRedo: StepSummary | null;
  /** The name of the branch that the files are on. */
  readonly branch: string;
  /** What git says now; null outside a repository, or when the directory is gone. */
  readonly git: GitState | null;
  /** How many forks can be worked in. */
  readonly forks: number;
  /** How many runs of agents have not ended. */
  readonly runs: number;
  /** How each remote stands. */
  readonly sync: readonly SyncState[];
  /** How many conflicts of merges wait for a decision. */
  readonly openConflicts: number;
  /** Nothing is captured automatically until then. */
  readonly paused: Pause | null;
  /** How many steps can no longer be undone: their checkpoints were dropped. */
  readonly undoDropped: number;
  /** The newest turns, if they were made while captures were paused: they cannot be undone. */
  readonly pausedTurns: number;
  readonly warnings: readonly string[];
}

/** How a remote stands, from what this machine knows. */
export interface SyncState {
  readonly remote: string;
  /** `offline`: the server was not reached; `problem`: it was, and something is wrong. */
  readonly state: "synced" | "queued" | "offline" | "problem";
  /** How many checkpoints wait to be sent. */
  readonly queued: number;
  readonly pushedAt: number | null;
  readonly pulledAt: number | null;
  /** Why the last try did not end well. */
  readonly problem: string | null;
}

/** One file as it was or is. */
export interface FileContent {
  readonly kind: "file" | "symlink";
  readonly mode: number;
  readonly size: number;
  /** Null when it is on disk and larger than the limit. */
  readonly hash: string | null;
  /** Null when it is larger than the limit. */
  readonly content: Buffer | null;
}

/** One node of a checkpoint, for archives and exports. */
export interface ExportedFile {
  readonly path: BytePath;
  readonly kind: "file" | "symlink" | "directory";
  readonly mode: number;
  readonly size: number;
  /** SHA-256 of the content; empty for a directory. */
  readonly hash: string;
  /** Whether git ignored it when it was captured. */
  isIgnored(): boolean;
  /** The content (a link's target for a symlink), verified. */
  content(): Iterable<Buffer>;
}
