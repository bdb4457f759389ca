/** The objects that a checkpoint needs and a remote lacks, and where they lie in the store. */
import { readWholeTree } from "../diff/compare-trees.ts";
import { EngineError } from "../model/errors.ts";
import type { LocatedObject, NeededObject, StoredPack } from "../model/exchange.ts";
import { HASH_BYTES, hashBytes, hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import { decodeEntry } from "../model/tree.ts";
import { FORM } from "../store/object-store.ts";
import type { Row } from "../store/database.ts";
import type { Store } from "../store/store.ts";

/** Which objects a checkpoint needs, and of which of them a remote gets nothing. */
export interface Needing {
  /** Whether a remote has an object. */
  readonly isKnown: (name: ObjectHash) => boolean;
  /** What stays at home. */
  readonly keptBack: ReadonlySet<ObjectHash>;
}

/**
 * What a checkpoint needs: its trees and contents, its rules, and what its changes name, which an undo needs. What is
 * inside a tree comes before the tree, so a tree that is known has everything below it known too and is not entered.
 */
export function* neededBy(store: Store, checkpoint: string, needing: Needing): Generator<NeededObject> {
  const row = store.db.get("SELECT seq, snapshot, rules, excluded FROM checkpoint WHERE id = ?", checkpoint);
  if (row === undefined) return;
  const name = (column: string) => hashFromBytes(row[column] as Uint8Array);
  yield* whole(store, { hash: name("rules"), isTree: false }, needing);
  yield* whole(store, { hash: name("excluded"), isTree: false }, needing);
  for (const change of store.db.all("SELECT old, new FROM change WHERE checkpoint = ?", Number(row["seq"])))
    for (const bytes of [change["old"], change["new"]]) {
      const entry = bytes === null ? undefined : decodeEntry(bytes as Uint8Array);
      if (entry?.kind === "file" || entry?.kind === "symlink") yield* blob(store, entry.hash, needing);
    }
  yield* tree(store, name("snapshot"), needing);
}

function* tree(store: Store, name: ObjectHash, needing: Needing): Generator<NeededObject> {
  if (needing.isKnown(name)) return;
  for (const [, entry] of readWholeTree(store.objects, name)) {
    if (entry.kind === "directory") yield* tree(store, entry.hash, needing);
    else if (entry.kind !== "gap") yield* blob(store, entry.hash, needing);
  }
  yield* whole(store, { hash: name, isTree: true }, needing);
}

/** The content of a file or a link. One that has a piece in common with what stays at home stays there too. */
function* blob(store: Store, name: ObjectHash, needing: Needing): Generator<NeededObject> {
  const { isKnown, keptBack } = needing;
  if (isKnown(name)) return;
  const { objects } = store;
  const isHere = objects.has(name) || !objects.withheld().has(name);
  const pieces = isHere ? objects.pieceNames(name) : [];
  if (isHere && !keptBack.has(name) && !pieces.some((piece) => keptBack.has(piece)))
    return yield* whole(store, { hash: name, isTree: false }, needing);
  for (const hash of pieces)
    if (keptBack.has(hash) && !isKnown(hash)) yield { hash, isTree: false, isWithheld: true };
  yield { hash: name, isTree: false, isWithheld: true };
}

/** An object after its pieces, which a large file or directory has. */
function* whole(store: Store, object: NeededObject, { isKnown }: Needing): Generator<NeededObject> {
  if (isKnown(object.hash)) return;
  for (const piece of store.objects.pieceNames(object.hash))
    if (!isKnown(piece)) yield { hash: piece, isTree: false };
  // two directories with the same content are one object
  if (!isKnown(object.hash)) yield object;
}

/** Where objects lie, in the order in which they are stored. */
export function locateObjects({ db }: Store, names: readonly ObjectHash[]): LocatedObject[] {
  const found = isMost(db, names.length)
    ? locatedAmongAll(db, new Set(names))
    : names.flatMap((name): LocatedObject[] => {
        const row = db.get("SELECT pack, offset, size, form FROM object WHERE hash = ?", hashToBytes(name));
        return row === undefined ? [] : [toLocated(name, row)];
      });
  return found.sort((a, b) => a.pack - b.pack || a.offset - b.offset);
}

/** One pass over all objects is faster from here on: a first push looks up every one. */
const ONE_BY_ONE = 1000;

function isMost(db: Store["db"], wanted: number): boolean {
  if (wanted < ONE_BY_ONE) return false;
  return Number(db.get("SELECT count(*) AS n FROM object")?.["n"] ?? 0) < wanted * 4;
}

function locatedAmongAll(db: Store["db"], wanted: ReadonlySet<ObjectHash>): LocatedObject[] {
  return db.all("SELECT hash, pack, offset, size, form FROM object").flatMap((row) => {
    const name = hashFromBytes(row["hash"] as Uint8Array);
    return wanted.has(name) ? [toLocated(name, row)] : [];
  });
}

function toLocated(hash: ObjectHash, row: Row): LocatedObject {
  const number = (column: string) => Number(row[column]);
  return {
    hash,
    pack: number("pack"),
    offset: number("offset"),
    size: number("size"),
    form: number("form"),
  };
}

/** A pack as it lies in the store; undefined when `gc` has moved its objects meanwhile. */
export function readPack({ db }: Store, id: number): StoredPack | undefined {
  const row = db.get("SELECT raw_bytes, data FROM pack WHERE id = ?", id);
  return row === undefined
    ? undefined
    : { data: Buffer.from(row["data"] as Uint8Array), rawBytes: Number(row["raw_bytes"]) };
}

/** The stored bytes of an object, proved: a damaged one does not leave this machine. */
export function readProved(store: Store, name: ObjectHash): { bytes: Buffer; form: number } {
  const stored = store.objects.stored(name);
  assertProved(name, stored);
  return stored;
}

/** Throws unless the bytes are what the object's name says; of a large object, unless they are a list of pieces. */
export function assertProved(name: ObjectHash, { bytes, form }: { bytes: Buffer; form: number }): void {
  const isProved =
    form === FORM.bytes ? hashBytes(bytes) === name : bytes.length > 0 && bytes.length % HASH_BYTES === 0;
  if (isProved) return;
  throw new EngineError(
    "OBJECT_CORRUPT",
    `Object ${name.slice(0, 12)} is damaged. It was not used; your files are untouched.`,
    { object: name, checkpoints: [] },
  );
}
