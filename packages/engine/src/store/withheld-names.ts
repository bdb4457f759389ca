/**
 * Content that trees and changes of this store name and that its owner keeps on another machine. Trees stay whole, so their
 * hashes are the same everywhere; where such content is absent, readers see a gap. Rows are only added: content that
 * arrives after all is in the store, and counts.
 */
import { hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Entry } from "../model/entry.ts";
import type { Database } from "./database.ts";

interface Known {
  readonly rows: number;
  readonly names: ReadonlySet<ObjectHash>;
}

const known = new WeakMap<Database, Known>();
const NONE: Known = { rows: 0, names: new Set() };

/** All content that was withheld from this store, as it was known when the task at hand began. */
export function withheldNames(db: Database): ReadonlySet<ObjectHash> {
  return (known.get(db) ?? refreshWithheld(db)).names;
}

/** Looks whether another process has added some. */
export function refreshWithheld(db: Database): Known {
  const before = known.get(db) ?? NONE;
  const rows = Number(db.get("SELECT max(rowid) AS rows FROM withheld")?.["rows"] ?? 0);
  if (rows === before.rows && known.has(db)) return before;
  const names = db.all("SELECT hash FROM withheld").map((row) => hashFromBytes(row["hash"] as Uint8Array));
  const now = { rows, names: new Set(names) };
  known.set(db, now);
  return now;
}

/** Notes content that this store will name and not have. Call it in the transaction that adds what names it. */
export function noteWithheld(db: Database, names: Iterable<ObjectHash>): void {
  for (const name of names) db.run("INSERT OR IGNORE INTO withheld (hash) VALUES (?)", hashToBytes(name));
  known.delete(db);
}

/** An entry as readers see it: a gap where its content was withheld and is not here. */
export function asSeenHere(
  names: ReadonlySet<ObjectHash> | undefined,
  has: (name: ObjectHash) => boolean,
  entry: Entry,
): Entry {
  if (names === undefined || names.size === 0) return entry;
  if (entry.kind !== "file" && entry.kind !== "symlink") return entry;
  if (!names.has(entry.hash) || has(entry.hash)) return entry;
  return { kind: "gap", reason: "withheld", size: entry.size };
}
