/** Code Buddy's checkpoint managers, over Belay. */
export type { Checkpoint, FileSnapshot, Rewound } from "./code-buddy/checkpoint.ts";
export {
  CheckpointManager,
  getCheckpointManager,
  resetCheckpointManager,
  type CheckpointManagerOptions,
} from "./code-buddy/session-checkpoints.ts";
export {
  getPersistentCheckpointManager,
  PersistentCheckpointManager,
  resetPersistentCheckpointManager,
  type PersistentCheckpoint,
  type PersistentCheckpointManagerOptions,
} from "./code-buddy/project-checkpoints.ts";
export type { DiffHunk, VersionDiff } from "./code-buddy/version-diff.ts";
export {
  CheckpointVersioning,
  getCheckpointVersioning,
  resetCheckpointVersioning,
  type Branch,
  type Version,
  type VersioningConfig,
  type VersionMetadata,
} from "./code-buddy/versioning.ts";
export {
  getGhostSnapshotManager,
  GhostSnapshotManager,
  resetGhostSnapshotManager,
  type GhostSnapshot,
} from "./code-buddy/ghost-snapshots.ts";
