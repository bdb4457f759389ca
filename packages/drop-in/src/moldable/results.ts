/** What Moldable's commands answer. */

/** A checkpoint that was just taken. */
export interface CheckpointResult {
  id: string;
  messageId: string;
  fileCount: number;
  totalBytes: number;
  /** Contents that the store did not have before this call. */
  blobsCreated: number;
  /** The other files: their content was there, or is that of another file. */
  blobsReused: number;
}

/** A checkpoint in a list. */
export interface CheckpointSummary {
  id: string;
  messageId: string;
  createdAt: string;
  fileCount: number;
  totalBytes: number;
  /** Whether the answer changed files: each is compared with the next, the last with the disk. */
  hasChanges: boolean;
}

/** What a restore did. */
export interface RestoreResult {
  /** Files that were written; those that were equal keep their times. */
  filesRestored: number;
  filesDeleted: number;
  bytesWritten: number;
  /** The state before the restore; null when there was nothing to do. */
  safetyCheckpoint: string | null;
  kept: { path: string; reason: string }[];
  skipped: { path: string; reason: string }[];
}

/** What a clean-up did. */
export interface CleanupResult {
  snapshotsDeleted: number;
  /** What was freed now: content of checkpoints that were dropped more than a day ago. */
  blobsDeleted: number;
  bytesFreed: number;
  /** What will be freed when the day is over in which the dropped ones can be brought back. */
  blobsPending: number;
  bytesPending: number;
}

/** The checkpoints of a conversation. */
export interface CheckpointManifest {
  conversationId: string;
  appId: string;
  createdAt: string;
  updatedAt: string;
  snapshots: CheckpointSummary[];
}

/** One file of a snapshot. */
export interface SnapshotFile {
  path: string;
  /** SHA-256; null for what is known to be absent. */
  hash: string | null;
  size: number;
  mode: number;
  exists: boolean;
}

/** All files of an app before a message. */
export interface Snapshot {
  id: string;
  messageId: string;
  conversationId: string;
  appId: string;
  appDir: string;
  createdAt: string;
  files: SnapshotFile[];
}
