/** What does a checkpoint hold, what did it change, and what does it lack? */
import { asSeen, type Context } from "../capture/context.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { compareTrees } from "../diff/compare-trees.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { readCheckpointAttributions, readCheckpointChanges } from "../history/changes.ts";
import { checkpointAt, seqOf } from "../history/checkpoints.ts";
import { readDoubts, readGaps } from "../history/gaps-and-doubts.ts";
import { readOutside } from "../history/outside-files.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { remoteOrigin } from "../model/origin.ts";
import type { Edit } from "../model/plan.ts";
import { decodeExcluded } from "../rules/excluded-list.ts";
import type { CheckpointDetails } from "./answers.ts";
import { measureQuickly } from "./measure-excluded.ts";

/** A checkpoint with everything that is known of it; what is new in it is counted against `since`, or the one before it. */
export function describeCheckpoint(
  context: Context,
  checkpoint: Checkpoint,
  since?: Checkpoint,
): Omit<CheckpointDetails, "limits"> {
  const { db, objects } = context.store;
  const isImported = checkpoint.origin !== null && remoteOrigin(checkpoint.origin) === undefined;
  const edits = isImported ? sinceParent(context, checkpoint) : recorded(context, checkpoint);
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
    outside: readOutside(db, checkpoint.seq),
    newBytes: newBytesOf(
      since === undefined ? edits : compareTrees(objects, since.snapshot, checkpoint.snapshot),
    ),
  };
}

/** Equal content in several places counts once: it is stored once. */
function newBytesOf(edits: readonly Edit[]): number {
  const sizes = new Map<string, number>();
  for (const { from, to } of edits)
    if (to?.kind === "file" && !(from?.kind === "file" && from.hash === to.hash)) sizes.set(to.hash, to.size);
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** As it was recorded: the same changes that the checkpoint counts, and that a revert would take out. */
function recorded({ store }: Context, { seq }: Checkpoint): Edit[] {
  return readCheckpointChanges(store.db, seq).map(({ path, old, new: to }) => ({ path, from: old, to }));
}

/** What was imported has no record of its changes: it is compared with the one before it there. */
function sinceParent(context: Context, checkpoint: Checkpoint): Edit[] {
  const { db, objects } = context.store;
  const [id] = checkpoint.parents;
  const parent = id === undefined ? undefined : checkpointAt(db, seqOf(db, id) ?? 0);
  return parent === undefined
    ? []
    : provenChanges(objects, asSeen(context, parent), asSeen(context, checkpoint));
}
