/**
 * Purges content for good: a checkpoint, or a path from every checkpoint. The one thing that cannot be
 * undone. A forgotten path becomes a gap wherever it was, so that no restore deletes or overwrites it.
 */
import { editTree } from "../diff/edit-tree.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { hashChanges, readCheckpointChanges } from "../history/changes.ts";
import { checkpointAt, sealOf } from "../history/checkpoints.ts";
import { appendOperation } from "../history/operations.ts";
import { isAtOrBelow, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import type { OperationId } from "../model/ids.ts";
import { hashToBytes } from "../model/object-hash.ts";
import type { ForgetReport } from "../model/reports.ts";
import type { System } from "../model/system.ts";
import { encodeEntry } from "../model/tree.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { storeBytes, type Store } from "../store/store.ts";
import { collectGarbage, dropCheckpoint, withReserve } from "./gc.ts";

const FORGOTTEN: Entry = { kind: "gap", reason: "forgotten", size: 0 };

/** Forgets one checkpoint. */
export function forgetCheckpoint(store: Store, system: System, checkpoint: Checkpoint, dryRun: boolean): ForgetReport {
  if (dryRun) return { checkpoints: [checkpoint.id], objects: 0, bytes: 0, dryRun };
  return purge(store, system, { target: checkpoint.id }, () => {
    dropCheckpoint(store, checkpoint.seq);
    return [checkpoint.id];
  });
}

/** Forgets a file, or everything below a directory, in every checkpoint. */
export function forgetPath(store: Store, system: System, path: BytePath, dryRun: boolean): ForgetReport {
  const affected = checkpointsWith(store, path);
  if (dryRun || affected.length === 0) return { checkpoints: affected.map(({ id }) => id), objects: 0, bytes: 0, dryRun };
  return purge(store, system, { target: "path" }, () => {
    for (const checkpoint of affected) forgetIn(store, system, checkpoint, path);
    for (const { seq } of store.db.all("SELECT seq FROM checkpoint")) forgetChanges(store, Number(seq), path);
    store.db.run("DELETE FROM named_path WHERE path = ?", pathToBytes(path));
    return affected.map(({ id }) => id);
  });
}

function checkpointsWith(store: Store, path: BytePath): Checkpoint[] {
  return store.db
    .all("SELECT seq FROM checkpoint ORDER BY seq DESC")
    .map((row) => checkpointAt(store.db, Number(row["seq"]))!)
    .filter(({ snapshot }) => {
      const { entry } = lookUp(store.objects, snapshot, path);
      return entry !== undefined && !(entry.kind === "gap" && entry.reason === "forgotten");
    });
}

/** [R15] Overwritten, not only unlinked: freed pages are zeroed and shared packs written anew. */
function purge(store: Store, system: System, detail: Record<string, unknown>, work: () => ForgetReport["checkpoints"]): ForgetReport {
  const before = storeBytes(store);
  store.db.exec("PRAGMA secure_delete = ON");
  try {
    const checkpoints = withReserve(store, () =>
      store.db.transaction(() => {
        const done = work();
        appendOperation(store.db, { id: system.newId() as OperationId, kind: "forget", at: system.now(), detail });
        return done;
      }),
    );
    const { objectsFreed } = collectGarbage(store, system, { dropPrunedBefore: 0, dryRun: false, rewriteAll: true });
    return { checkpoints, objects: objectsFreed, bytes: Math.max(0, before - storeBytes(store)), dryRun: false };
  } finally {
    store.db.exec("PRAGMA secure_delete = OFF");
  }
}

function forgetIn(store: Store, system: System, checkpoint: Checkpoint, path: BytePath): void {
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const objects = { source: store.objects, sink: createStoreSink(writer) };
  const snapshot = editTree(objects, checkpoint.snapshot, [{ path, to: FORGOTTEN }]);
  writer.commit(() => undefined);
  store.db.run("UPDATE checkpoint SET snapshot = ? WHERE seq = ?", hashToBytes(snapshot), checkpoint.seq);
  store.db.run("DELETE FROM gap WHERE checkpoint = ?1 AND (path = ?2 OR path >= ?3 AND path < ?4)", checkpoint.seq, pathToBytes(path), Buffer.from(`${path}/`, "latin1"), Buffer.from(`${path}0`, "latin1"));
  store.db.run("INSERT INTO gap (checkpoint, path, reason, size) VALUES (?, ?, 'forgotten', 0)", checkpoint.seq, pathToBytes(path));
  seal(store, { ...checkpoint, snapshot });
}

/** Deltas hold the content's name: it must go too, or `gc` would keep the content. */
function forgetChanges(store: Store, seq: number, path: BytePath): void {
  const concerned = readCheckpointChanges(store.db, seq).filter((change) => isAtOrBelow(change.path, path));
  if (concerned.length === 0) return;
  for (const change of concerned) {
    const gapOr = (entry: Entry | undefined) => (entry === undefined || entry.kind === "directory" ? entry : FORGOTTEN);
    const encode = (entry: Entry | undefined) => (entry === undefined ? null : encodeEntry(entry));
    store.db.run(
      "UPDATE change SET old = ?, new = ? WHERE checkpoint = ? AND path = ?",
      encode(gapOr(change.old)),
      encode(gapOr(change.new)),
      seq,
      pathToBytes(change.path),
    );
  }
  seal(store, checkpointAt(store.db, seq)!);
}

function seal(store: Store, checkpoint: Checkpoint): void {
  const delta = hashChanges(store.db, checkpoint.seq);
  store.db.run("UPDATE checkpoint SET delta = ?, seal = ? WHERE seq = ?", delta, sealOf(checkpoint, delta), checkpoint.seq);
}
