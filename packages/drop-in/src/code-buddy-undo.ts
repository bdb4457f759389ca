/** Code Buddy's undo and redo (`src/undo`), over Belay. */
export {
  CheckpointManager,
  createCheckpointManager,
  type Checkpoint,
  type CheckpointConfig,
  type CheckpointFile,
  type FileChange,
  type UndoResult,
} from "./code-buddy/undo-steps.ts";
