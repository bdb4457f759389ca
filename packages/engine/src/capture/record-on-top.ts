/** Records the newest checkpoint with some edits as a new one, without a look at the disk. */
import { compareTrees } from "../diff/compare-trees.ts";
import { editTree } from "../diff/edit-tree.ts";
import { newestCheckpoint, readGaps } from "../history/checkpoints.ts";
import { recordCheckpoint, type Recorded, type Recording } from "../history/record.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { createStoreSink } from "../store/content-sink.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "./context.ts";
import { momentOf } from "./moment.ts";

/**
 * Call it inside the writer's `commit`: what another process recorded meanwhile is below it and is not forgotten.
 * `snapshot` is what the edits lead to, where that is known.
 */
export function recordOnTop(
  context: Context,
  writer: ObjectWriter,
  {
    edits,
    snapshot: known,
    ...recording
  }: Recording & { readonly edits: readonly Edit[]; readonly snapshot?: ObjectHash },
): Recorded {
  const { store, system } = context;
  const base = newestCheckpoint(store.db)!;
  const changed = new Set(edits.map(({ path }) => path));
  const objects = { source: store.objects, sink: createStoreSink(writer) };
  const snapshot = known ?? editTree(objects, base.snapshot, edits);
  writer.storeNow();
  return recordCheckpoint(store.db, recording, {
    facts: {
      ...base,
      ...countFiles(base, compareTrees(store.objects, base.snapshot, snapshot)),
      snapshot,
      gaps: readGaps(store.db, base.seq).filter(({ path }) => !changed.has(path)),
      doubts: [],
    },
    moment: momentOf(context),
    newId: system.newId,
    since: { base, changes: edits },
  });
}

function countFiles(base: Checkpoint, done: readonly Edit[]): { files: number; bytes: number } {
  let { files, bytes } = base;
  for (const { from, to } of done) {
    if (from?.kind === "file" || from?.kind === "symlink") [files, bytes] = [files - 1, bytes - from.size];
    if (to?.kind === "file" || to?.kind === "symlink") [files, bytes] = [files + 1, bytes + to.size];
  }
  return { files, bytes };
}
