/** [R2600] Dropping checkpoints, by a front's limits or on request. */
import { EngineError, type Checkpoint } from "@belay/engine";
import type { Root } from "./root.ts";

/**
 * Drops a checkpoint, for a day restorable; false, and said in the log, where a version or an approval stands on it: a limit of
 * a front is not a reason to fail what its caller asked for.
 */
export function drop(root: Root, { id }: Pick<Checkpoint, "id">): boolean {
  try {
    root.workspace.upkeep.deleteCheckpoint(id);
    return true;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "CHECKPOINT_PROTECTED") throw error;
    root.log("warning", "checkpoint_kept", { checkpoint: id, reason: error.message });
    return false;
  }
}
