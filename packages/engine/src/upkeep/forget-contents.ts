/**
 * Purges contents by their names: what an admin of a space asks every machine to forget [R2027]. A path becomes a gap in the
 * checkpoints that hold one of these contents, and stays as it is in the others.
 */
import { readTree } from "../diff/compare-trees.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { keepOut } from "../history/kept-out.ts";
import { isAtOrBelow, joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ForgetRequest } from "../model/exchange.ts";
import { isEngineError } from "../model/errors.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { System } from "../model/system.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { Store } from "../store/store.ts";
import { forgetChanges, forgetCheckpoint, forgetIn } from "./forget.ts";
import { purge } from "./purge.ts";

/** The contents that a path has in any checkpoint; empty files aside. */
export function contentsAt(store: Store, path: BytePath): ObjectHash[] {
  const found = new Set<ObjectHash>();
  eachFile(store, snapshotsBut(store), (at, hash) => isAtOrBelow(at, path) && found.add(hash));
  return [...found];
}

/** The contents that no other checkpoint has. */
export function contentsOnlyIn(store: Store, checkpoint: Checkpoint): ObjectHash[] {
  const found = new Set<ObjectHash>();
  eachFile(store, [checkpoint.snapshot], (_, hash) => found.add(hash));
  eachFile(store, snapshotsBut(store, checkpoint.seq), (_, hash) => found.delete(hash));
  return [...found];
}

/** Forgets contents, and a checkpoint, where they are here; returns the checkpoints that had them. */
export function forgetContents(
  store: Store,
  system: System,
  { contents, checkpoint, always }: ForgetRequest,
): Checkpoint[] {
  const dropped = checkpoint === null ? undefined : ownCheckpoint(store, checkpoint);
  if (dropped !== undefined) evenIfUnfinished(() => forgetCheckpoint(store, system, dropped, false));
  const names = new Set<string>(contents);
  const finder = new ContentFinder(store.objects, names);
  const affected = store.db
    .all("SELECT seq FROM checkpoint ORDER BY seq DESC")
    .map((row) => checkpointAt(store.db, Number(row["seq"]))!)
    .map((one) => ({ seq: one.seq, checkpoint: one, paths: [...finder.paths(one.snapshot)] }))
    .filter(({ paths }) => paths.length > 0);
  const work = () => {
    for (const { seq, paths } of affected)
      for (const path of paths) {
        // read again: another path was forgotten in it just before
        forgetIn(store, system, checkpointAt(store.db, seq)!, path);
        if (always) keepOut(store.db, path, system.now());
      }
    forgetChanges(store, (_, entry) => entry.kind === "file" && names.has(entry.hash));
  };
  if (affected.length > 0)
    evenIfUnfinished(() => purge(store, system, { detail: { target: "everywhere" }, packs: true, work }));
  return [...(dropped === undefined ? [] : [dropped]), ...affected.map((one) => one.checkpoint)];
}

/** No user waits for it here: what could not be overwritten yet is forgotten all the same, and `gc` finishes it. */
function evenIfUnfinished(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!isEngineError(error, "PURGE_UNFINISHED")) throw error;
  }
}

function ownCheckpoint({ db }: Store, id: string): Checkpoint | undefined {
  const row = db.get("SELECT seq FROM checkpoint WHERE id = ?", id);
  return row === undefined ? undefined : checkpointAt(db, Number(row["seq"]));
}

function snapshotsBut({ db }: Store, seq = -1): ObjectHash[] {
  return db
    .all("SELECT DISTINCT snapshot FROM checkpoint WHERE seq <> ?", seq)
    .map(({ snapshot }) => hashFromBytes(snapshot as Uint8Array));
}

function eachFile(
  { objects }: Store,
  snapshots: readonly ObjectHash[],
  note: (path: BytePath, hash: ObjectHash) => unknown,
): void {
  const looked = new Set<string>();
  const visit = (tree: ObjectHash, at: BytePath) => {
    // the same directory at the same path was searched already
    if (looked.has(`${tree} ${at}`)) return;
    looked.add(`${tree} ${at}`);
    for (const [name, entry] of readTree(objects, tree)) {
      const inside = joinPath(at, name);
      if (entry.kind === "directory") visit(entry.hash, inside);
      else if (entry.kind === "file" && entry.size > 0) note(inside, entry.hash);
    }
  };
  for (const snapshot of snapshots) visit(snapshot, ROOT_PATH);
}

/** Where trees hold certain contents; a tree that holds none is looked through once. */
class ContentFinder {
  readonly #objects: ObjectSource;
  readonly #names: ReadonlySet<string>;
  readonly #without = new Set<ObjectHash>();

  constructor(objects: ObjectSource, names: ReadonlySet<string>) {
    this.#objects = objects;
    this.#names = names;
  }

  *paths(tree: ObjectHash, at: BytePath = ROOT_PATH): Generator<BytePath> {
    if (this.#without.has(tree)) return;
    let isWithout = true;
    for (const [name, entry] of readTree(this.#objects, tree)) {
      const inside = joinPath(at, name);
      const found =
        entry.kind === "directory"
          ? this.paths(entry.hash, inside)
          : entry.kind === "file" && this.#names.has(entry.hash)
            ? [inside]
            : [];
      for (const path of found) {
        isWithout = false;
        yield path;
      }
    }
    if (isWithout) this.#without.add(tree);
  }
}
