/** Records the newest checkpoint with some edits as a new one, without a look at the disk. */
import { compareTrees } from "../diff/compare-trees.ts";
import { editTree } from "../diff/edit-tree.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { readGaps } from "../history/gaps-and-doubts.ts";
import { recordCheckpoint, type Recorded, type Recording } from "../history/record.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { createStoreSink } from "../store/content-sink.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { asSeen, type Context } from "./context.ts";
import { momentOf } from "./moment.ts";
import { provenChanges } from "./proven-changes.ts";
import { carryWithheld, counted } from "./withheld-view.ts";

/**
 * Call it inside the writer's `commit`: what another process recorded meanwhile is below it and is not forgotten.
 * `snapshot` is what the edits lead to, where that is known. `moveOn` takes the working copy to another branch: the files
 * are then recorded as what became of that one.
 */
export function recordOnTop(
  context: Context,
  writer: ObjectWriter,
  {
    edits,
    snapshot: known,
    moveOn,
    ...recording
  }: Recording & {
    readonly edits: readonly Edit[];
    readonly snapshot?: ObjectHash;
    readonly moveOn?: (() => void) | undefined;
  },
): Recorded {
  const { store, system } = context;
  const base = headCheckpoint(store.db)!;
  const changed = new Set(edits.map(({ path }) => path));
  const objects = { source: store.objects, sink: createStoreSink(writer) };
  const edited = known ?? editTree(objects, base.snapshot, edits);
  writer.storeNow();
  const carried = carryWithheld(store, { snapshot: edited, objects: store.objects }, writer);
  const snapshot = carried?.snapshot ?? edited;
  const isCarried = new Set(carried?.gaps.map(({ path }) => path));
  moveOn?.();
  return recordCheckpoint(store.db, recording, {
    facts: {
      ...base,
      ...counted(countFiles(base, compareTrees(store.objects, base.snapshot, snapshot)), carried?.gaps ?? []),
      snapshot,
      gaps: [
        ...readGaps(store.db, base.seq).filter(({ path }) => !changed.has(path) && !isCarried.has(path)),
        ...(carried?.gaps ?? []),
      ],
      doubts: [],
    },
    moment: momentOf(context),
    newId: system.newId,
    since: moveOn === undefined ? { base, changes: edits } : sinceHead(context, { ...base, snapshot }),
  });
}

/** What the files differ by from the head of the branch that the working copy came to. */
function sinceHead(context: Context, now: Checkpoint): { base: Checkpoint; changes: Edit[] } {
  const { store } = context;
  const base = headCheckpoint(store.db)!;
  return { base, changes: provenChanges(store.objects, asSeen(context, base), asSeen(context, now)) };
}

function countFiles(base: Checkpoint, done: readonly Edit[]): { files: number; bytes: number } {
  let { files, bytes } = base;
  for (const { from, to } of done) {
    if (from?.kind === "file" || from?.kind === "symlink") [files, bytes] = [files - 1, bytes - from.size];
    if (to?.kind === "file" || to?.kind === "symlink") [files, bytes] = [files + 1, bytes + to.size];
  }
  return { files, bytes };
}
