/**
 * Purges content for good: a checkpoint, or a path from every checkpoint. The one thing that cannot be
 * undone [R15]. A forgotten path becomes a gap wherever it was, so that no restore deletes or overwrites it.
 */
import { editTree } from "../diff/edit-tree.ts";
import { lookUp, walkTree } from "../diff/compare-trees.ts";
import { hashChanges, readCheckpointChanges, type Change } from "../history/changes.ts";
import { checkpointAt, SEAL_VERSION, sealOf } from "../history/checkpoints.ts";
import { isAtOrBelow, pathToBytes, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import { hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ForgetReport } from "../model/reports.ts";
import type { System } from "../model/system.ts";
import { encodeEntry } from "../model/tree.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Store } from "../store/store.ts";
import { dropCheckpoint, tellDropped } from "./gc.ts";
import { purge } from "./purge.ts";
import { Reachable } from "./reachable.ts";

const FORGOTTEN: Entry = { kind: "gap", reason: "forgotten", size: 0 };

/** Forgets one checkpoint, and what only it had also where the changes of its neighbours name it. */
export function forgetCheckpoint(
  store: Store,
  system: System,
  checkpoint: Checkpoint,
  dryRun: boolean,
): ForgetReport {
  if (dryRun) return { checkpoints: [checkpoint.id], steps: [], objects: 0, bytes: 0, dryRun };
  const { result: steps, ...freed } = purge(store, system, { target: checkpoint.id }, () => {
    const content = new Set<ObjectHash>();
    for (const { entry } of walkTree(store.objects, checkpoint.snapshot))
      if (entry.kind !== "gap") content.add(entry.hash);
    const dropped = dropCheckpoint(store, checkpoint.seq);
    tellDropped(store, system, dropped);
    const kept = new Reachable(store).addSnapshots().uses;
    forgetChanges(
      store,
      (_, entry) => entry.kind !== "gap" && content.has(entry.hash) && !kept.has(entry.hash),
    );
    return dropped;
  });
  return { checkpoints: [checkpoint.id], steps, ...freed, dryRun };
}

/** Forgets a file, or everything below a directory, in every checkpoint. */
export function forgetPath(store: Store, system: System, path: BytePath, dryRun: boolean): ForgetReport {
  if (path === ROOT_PATH)
    throw new EngineError(
      "PATH_OUTSIDE",
      "That is the whole workspace, not a path in it. Nothing was changed.",
      { path: "." },
    );
  const affected = checkpointsWith(store, path);
  if (dryRun || affected.length === 0)
    return { checkpoints: affected.map(({ id }) => id), steps: [], objects: 0, bytes: 0, dryRun };
  const { objects, bytes } = purge(store, system, { target: "path" }, () => {
    for (const checkpoint of affected) forgetIn(store, system, checkpoint, path);
    forgetChanges(store, (changed) => isAtOrBelow(changed, path));
    store.db.run("DELETE FROM named_path WHERE path = ?", pathToBytes(path));
  });
  return { checkpoints: affected.map(({ id }) => id), steps: [], objects, bytes, dryRun };
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

function forgetIn(store: Store, system: System, checkpoint: Checkpoint, path: BytePath): void {
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const objects = { source: store.objects, sink: createStoreSink(writer) };
  const snapshot = editTree(objects, checkpoint.snapshot, [{ path, to: FORGOTTEN }]);
  writer.commit(() => undefined);
  store.db.run("UPDATE checkpoint SET snapshot = ? WHERE seq = ?", hashToBytes(snapshot), checkpoint.seq);
  store.db.run(
    "DELETE FROM gap WHERE checkpoint = ?1 AND (path = ?2 OR path >= ?3 AND path < ?4)",
    checkpoint.seq,
    pathToBytes(path),
    Buffer.from(`${path}/`, "latin1"),
    Buffer.from(`${path}0`, "latin1"),
  );
  store.db.run(
    "INSERT INTO gap (checkpoint, path, reason, size) VALUES (?, ?, 'forgotten', 0)",
    checkpoint.seq,
    pathToBytes(path),
  );
  seal(store, { ...checkpoint, snapshot });
}

/** Deltas hold the content's name: it must go too, or `gc` would keep the content. */
function forgetChanges(store: Store, isForgotten: (path: BytePath, entry: Entry) => boolean): void {
  for (const row of store.db.all("SELECT DISTINCT checkpoint FROM change")) {
    const seq = Number(row["checkpoint"]);
    const gapOr = (path: BytePath, entry: Entry | undefined) =>
      entry !== undefined && entry.kind !== "directory" && isForgotten(path, entry) ? FORGOTTEN : entry;
    const changed = readCheckpointChanges(store.db, seq)
      .map((change) => ({ change, old: gapOr(change.path, change.old), new: gapOr(change.path, change.new) }))
      .filter((after) => after.old !== after.change.old || after.new !== after.change.new);
    for (const after of changed) writeChange(store, after.change, after);
    if (changed.length > 0) seal(store, checkpointAt(store.db, seq)!);
  }
}

function writeChange({ db }: Store, { checkpoint, path }: Change, after: Pick<Change, "old" | "new">): void {
  const encode = (entry: Entry | undefined) => (entry === undefined ? null : encodeEntry(entry));
  db.run(
    "UPDATE change SET old = ?, new = ? WHERE checkpoint = ? AND path = ?",
    encode(after.old),
    encode(after.new),
    checkpoint,
    pathToBytes(path),
  );
}

function seal(store: Store, checkpoint: Checkpoint): void {
  const delta = hashChanges(store.db, checkpoint.seq);
  store.db.run(
    "UPDATE checkpoint SET delta = ?, seal = ?, sealed = ? WHERE seq = ?",
    delta,
    sealOf(checkpoint, delta),
    SEAL_VERSION,
    checkpoint.seq,
  );
}
