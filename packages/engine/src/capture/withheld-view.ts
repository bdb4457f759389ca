/**
 * The present with what its owner keeps on another machine. Such content was never on this disk, so its absence is no
 * deletion [N6]: the entry that the newest checkpoint has, or the checkpoint that was restored last, is carried over. So
 * trees keep their hashes, and a restore at home of what was captured here finds the file where it was.
 */
import { lookUp } from "../diff/compare-trees.ts";
import { editTree } from "../diff/edit-tree.ts";
import { withheldIn } from "../diff/withheld-in.ts";
import { headCheckpointView } from "../history/checkpoints.ts";
import { restoredLast } from "../history/step-rows.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Gap } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { createStoreSink } from "../store/content-sink.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import type { Store } from "../store/store.ts";
import type { Present } from "./look.ts";

/** `present` itself when nothing is to be carried over. For what is recorded: plans see the disk as it is. */
export function withheldView(store: Store, present: Present, writer: ObjectWriter): Present {
  const carried = carryWithheld(store, present, writer);
  if (carried === undefined) return present;
  const { changes: _, ...rest } = present;
  const absent = new Set(present.absent);
  for (const { path } of carried.gaps) absent.delete(path);
  const gaps = [...present.gaps, ...carried.gaps];
  return { ...rest, absent, ...counted(present, carried.gaps), snapshot: carried.snapshot, gaps };
}

/** Files and bytes are those of the tree, here as at home. */
export function counted(
  { files, bytes }: Pick<Present, "files" | "bytes">,
  carried: readonly Gap[],
): Pick<Present, "files" | "bytes"> {
  return {
    files: files + carried.length,
    bytes: carried.reduce((sum, { size }) => sum + size, bytes),
  };
}

/** A snapshot with what is carried over; undefined when nothing is. */
export function carryWithheld(
  store: Store,
  { snapshot, objects }: Pick<Present, "snapshot" | "objects">,
  writer: ObjectWriter,
): { readonly snapshot: ObjectHash; readonly gaps: readonly Gap[] } | undefined {
  if (store.objects.withheld().size === 0) return undefined;
  const edits = new Map<BytePath, Entry>();
  const gaps: Gap[] = [];
  for (const from of [headCheckpointView(store.db)?.snapshot, restoredLast(store.db)]) {
    if (from === undefined || !store.objects.has(from)) continue;
    for (const [path, entry] of withheldIn(store.objects, from)) {
      if (edits.has(path) || store.objects.has(entry.hash) || !isFree({ objects, snapshot }, path)) continue;
      for (const above of ancestorPaths(path)) {
        const directory = lookUp(objects, snapshot, above).entry ?? lookUp(store.objects, from, above).entry;
        if (directory !== undefined) edits.set(above, directory);
      }
      edits.set(path, entry);
      gaps.push({ path, reason: "withheld", size: entry.size });
    }
  }
  if (gaps.length === 0) return undefined;
  const changes = [...edits].map(([path, to]) => ({ path, to }));
  const edited = editTree({ source: objects, sink: createStoreSink(writer) }, snapshot, changes);
  writer.storeNow();
  return { snapshot: edited, gaps };
}

/** Whether nothing is at a path, and nothing but directories above it. */
function isFree({ objects, snapshot }: Pick<Present, "snapshot" | "objects">, path: BytePath): boolean {
  const { entry, gapAbove } = lookUp(objects, snapshot, path);
  if (entry !== undefined || gapAbove) return false;
  return ancestorPaths(path).every((above) => {
    const { entry: directory } = lookUp(objects, snapshot, above);
    return directory === undefined || directory.kind === "directory";
  });
}
