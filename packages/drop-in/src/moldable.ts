/** Moldable's checkpoint commands, over Belay. */
export {
  cleanup_checkpoints,
  create_checkpoint,
  delete_app_checkpoints,
  get_manifest,
  get_snapshot,
  list_checkpoints,
  restore_checkpoint,
} from "./moldable/commands.ts";
export { invoke } from "./moldable/invoke.ts";
export { configureMoldable, type MoldableOptions } from "./moldable/apps.ts";
export type {
  CheckpointManifest,
  CheckpointResult,
  CheckpointSummary,
  CleanupResult,
  RestoreResult,
  Snapshot,
  SnapshotFile,
} from "./moldable/results.ts";
