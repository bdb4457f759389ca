/**
 * Purges content permanently: a checkpoint, or a path from every checkpoint. The only operation that cannot
 * be undone [R15]. A forgotten path becomes a gap wherever it was, so that no restore deletes or overwrites
 * it.
 */
import { editTree } from "../diff/edit-tree.ts";
import { lookUp, readTree, walkTree } from "../diff/compare-trees.ts";
import { hashChanges, readCheckpointChanges, type Change } from "../history/changes.ts";
import { SEAL_VERSION, sealOf } from "../history/checkpoint-seal.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { keepOut } from "../history/kept-out.ts";
import { forgetConflicts } from "../history/merge-rows.ts";
import { listOutside, removeOutside } from "../history/outside-files.ts";
import {
  isAtOrBelow,
  joinPath,
  pathFromText,
  pathToBytes,
  ROOT_PATH,
  type BytePath,
} from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import { hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ForgetReport } from "../model/reports.ts";
import type { System } from "../model/system.ts";
import { encodeEntry } from "../model/tree.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Store } from "../store/store.ts";
import { dropCheckpoint, emitStepsDropped } from "./gc.ts";
import { purge } from "./purge.ts";
import { Reachable } from "./reachable.ts";

/** What the store alone tells of it: `stillOpen` is known by what lies in the workspace. */
type Forgotten = Omit<ForgetReport, "stillOpen">;

/** How to forget. */
export interface ForgetOptions {
  readonly dryRun: boolean;
  readonly sameContent: boolean;
  /** Also keeps the path out of every later checkpoint. */
  readonly always: boolean;
}

const FORGOTTEN: Entry = { kind: "gap", reason: "forgotten", size: 0 };

/** Forgets one checkpoint, and content only it had even where changes of its neighbours name it. */
export function forgetCheckpoint(
  store: Store,
  system: System,
  checkpoint: Checkpoint,
  dryRun: boolean,
): Forgotten {
  if (dryRun)
    return { checkpoints: [checkpoint.id], steps: [], sameContent: [], objects: 0, bytes: 0, dryRun };
  const { result: steps, ...freed } = purge(store, system, {
    detail: { target: checkpoint.id },
    packs: true,
    work: () => {
      const content = new Set<ObjectHash>();
      for (const { entry } of walkTree(store.objects, checkpoint.snapshot))
        if (entry.kind !== "gap") content.add(entry.hash);
      const dropped = dropCheckpoint(store, checkpoint.seq);
      emitStepsDropped(store, system, dropped);
      const kept = new Reachable(store).addSnapshots().uses;
      forgetChanges(
        store,
        (_, entry) => entry.kind !== "gap" && content.has(entry.hash) && !kept.has(entry.hash),
      );
      return dropped;
    },
  });
  return { checkpoints: [checkpoint.id], steps, sameContent: [], ...freed, dryRun };
}

/**
 * Forgets a file, or everything below a directory, in every checkpoint. `sameContent`: also other paths with
 * the same bytes. A path outside the workspace is absolute.
 */
export function forgetPath(
  store: Store,
  system: System,
  path: BytePath,
  { dryRun, sameContent, always }: ForgetOptions,
): Forgotten {
  if (path === ROOT_PATH)
    throw new EngineError(
      "PATH_OUTSIDE",
      "That is the whole workspace, not a path in it. Nothing was changed.",
      { path: "." },
    );
  if (always && !dryRun) store.db.transaction(() => keepOut(store.db, path, system.now()));
  const others = pathsWithSameContent(store, path);
  const paths = sameContent ? [path, ...others] : [path];
  const affected = paths.map((each) => ({ path: each, checkpoints: checkpointsWith(store, each) }));
  const checkpoints = [...new Set(affected.flatMap((each) => each.checkpoints.map(({ id }) => id)))];
  const report = { checkpoints, steps: [], sameContent: others, dryRun };
  if (dryRun || checkpoints.length === 0) return { ...report, objects: 0, bytes: 0 };
  const { objects, bytes } = purge(store, system, {
    detail: { target: "path" },
    packs: true,
    work: () => {
      for (const each of affected) {
        // read again: another path may have been forgotten in the same checkpoint
        for (const { seq } of each.checkpoints)
          forgetIn(store, system, checkpointAt(store.db, seq)!, each.path);
        store.db.run("DELETE FROM named_path WHERE path = ?", pathToBytes(each.path));
      }
      forgetChanges(store, (changed) => paths.some((each) => isAtOrBelow(changed, each)));
    },
  });
  return { ...report, objects, bytes };
}

/**
 * [R166] Other paths that hold, in any checkpoint, bytes that this path holds in any checkpoint; empty files
 * aside.
 */
function pathsWithSameContent(store: Store, path: BytePath): BytePath[] {
  const contents = new Set<ObjectHash>();
  const found = new Set<BytePath>();
  const looked = new Set<string>();
  const visit = (tree: ObjectHash, at: BytePath, note: (path: BytePath, hash: ObjectHash) => void) => {
    // the same directory at the same path was searched already
    if (looked.has(`${tree} ${at}`)) return;
    looked.add(`${tree} ${at}`);
    for (const [name, entry] of readTree(store.objects, tree)) {
      const inside = joinPath(at, name);
      if (entry.kind === "directory") visit(entry.hash, inside, note);
      else if (entry.kind === "file" && entry.size > 0) note(inside, entry.hash);
    }
  };
  const snapshots = store.db.all("SELECT DISTINCT snapshot FROM checkpoint");
  const eachFile = (note: (path: BytePath, hash: ObjectHash) => void) => {
    looked.clear();
    for (const { snapshot } of snapshots) visit(hashFromBytes(snapshot as Uint8Array), ROOT_PATH, note);
    for (const { path: outside, entry } of listOutside(store.db))
      if (entry !== undefined && entry.size > 0) note(pathFromText(outside), entry.hash);
  };
  eachFile((each, hash) => isAtOrBelow(each, path) && contents.add(hash));
  if (contents.size > 0)
    eachFile((each, hash) => !isAtOrBelow(each, path) && contents.has(hash) && found.add(each));
  return [...found].sort();
}

/** A path outside the workspace is absolute; none in it is. */
const isOutside = (path: BytePath) => path.startsWith("/");

function outsideAt({ db }: Store, path: BytePath): { seq: number; path: string }[] {
  return listOutside(db).filter((file) => isAtOrBelow(pathFromText(file.path), path));
}

function checkpointsWith(store: Store, path: BytePath): Checkpoint[] {
  if (isOutside(path))
    return [...new Set(outsideAt(store, path).map(({ seq }) => seq))].map((seq) =>
      checkpointAt(store.db, seq)!,
    );
  return store.db
    .all("SELECT seq FROM checkpoint ORDER BY seq DESC")
    .map((row) => checkpointAt(store.db, Number(row["seq"]))!)
    .filter(({ snapshot }) => {
      const { entry } = lookUp(store.objects, snapshot, path);
      return entry !== undefined && !(entry.kind === "gap" && entry.reason === "forgotten");
    });
}

/** Makes a path a gap in one checkpoint. Call inside the work of a purge. */
export function forgetIn(store: Store, system: System, checkpoint: Checkpoint, path: BytePath): void {
  // [R1403] what no checkpoint says of a path outside is never touched by a restore
  if (isOutside(path)) {
    for (const file of outsideAt(store, path))
      if (file.seq === checkpoint.seq) removeOutside(store.db, file.seq, file.path);
    return;
  }
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

/** Deltas hold the content's name. It must go too, or `gc` would keep the content. */
export function forgetChanges(store: Store, isForgotten: (path: BytePath, entry: Entry) => boolean): void {
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
  forgetConflicts(store.db, isForgotten);
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
