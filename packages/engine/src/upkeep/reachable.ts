/** Everything that some checkpoint or recorded change still refers to. */
import { readTree } from "../diff/compare-trees.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { decodeEntry } from "../model/tree.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Store } from "../store/store.ts";

/** A live object and where it is used: objects used at the same place compress well together. */
export interface Use {
  readonly path: BytePath;
  readonly isTree: boolean;
  /** Newest first: the order in which its users were met. */
  readonly age: number;
}

/** Every object that must stay, with its use by the newest checkpoint that has it. */
export function findReachable(store: Store): Map<ObjectHash, Use> {
  const found = findInSnapshots(store);
  for (const row of store.db.iterate("SELECT path, old, new FROM change")) {
    const path = Buffer.from(row["path"] as Uint8Array).toString("latin1") as BytePath;
    for (const bytes of [row["old"], row["new"]]) {
      const entry = bytes === null ? undefined : decodeEntry(bytes as Uint8Array);
      if (entry?.kind === "file" || entry?.kind === "symlink") addBlob(store, found, entry.hash, { path, isTree: false, age: Infinity });
    }
  }
  return found;
}

/** What the checkpoints themselves refer to, leaving aside what only an undo would need. */
export function findInSnapshots(store: Store): Map<ObjectHash, Use> {
  const found = new Map<ObjectHash, Use>();
  let age = 0;
  for (const row of store.db.iterate("SELECT snapshot, rules, excluded FROM checkpoint ORDER BY seq DESC")) {
    age += 1;
    const name = (column: string) => hashFromBytes(row[column] as Uint8Array);
    addTree(store, found, name("snapshot"), { path: ROOT_PATH, isTree: true, age });
    for (const column of ["rules", "excluded"]) addBlob(store, found, name(column), { path: ROOT_PATH, isTree: false, age });
  }
  return found;
}

function addTree(store: Store, found: Map<ObjectHash, Use>, name: ObjectHash, use: Use): void {
  if (found.has(name)) return;
  addBlob(store, found, name, use);
  for (const [child, entry] of readTree(store.objects, name)) {
    const path = joinPath(use.path, child);
    if (entry.kind === "directory") addTree(store, found, entry.hash, { ...use, path });
    else if (entry.kind !== "gap") addBlob(store, found, entry.hash, { path, isTree: false, age: use.age });
  }
}

function addBlob(store: Store, found: Map<ObjectHash, Use>, name: ObjectHash, use: Use): void {
  if (found.has(name)) return;
  found.set(name, use);
  for (const piece of store.objects.pieceNames(name)) if (!found.has(piece)) found.set(piece, use);
}
