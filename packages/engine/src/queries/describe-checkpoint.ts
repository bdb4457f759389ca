/** What does a checkpoint hold, what did it change, and what does it lack? */
import type { Context } from "../capture/context.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { readCheckpointAttributions, readCheckpointChanges } from "../history/changes.ts";
import { readDoubts, readGaps } from "../history/checkpoints.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { decodeExcluded } from "../rules/excluded-list.ts";
import type { CheckpointDetails } from "./answers.ts";
import { measureQuickly } from "./measure-excluded.ts";

/** A checkpoint with everything that is known of it. */
export function describeCheckpoint(context: Context, checkpoint: Checkpoint): CheckpointDetails {
  const { db, objects } = context.store;
  // as it was recorded: the same changes that the checkpoint counts, and that a revert would take out
  const edits = readCheckpointChanges(db, checkpoint.seq).map(({ path, old, new: to }) => ({
    path,
    from: old,
    to,
  }));
  const attributions = readCheckpointAttributions(db, checkpoint.seq);
  const excluded = decodeExcluded(objects.read(checkpoint.excluded), checkpoint.excluded);
  return {
    checkpoint,
    files: fileChanges(objects, edits, {
      detail: "counts",
      attributionOf: (path) => attributions.get(path) ?? null,
    }),
    gaps: readGaps(db, checkpoint.seq),
    doubts: readDoubts(db, checkpoint.seq),
    excluded: measureQuickly(context, excluded),
  };
}
