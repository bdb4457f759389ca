/**
 * What stays at home: the content of paths that `sync.withhold` names. Content is withheld wherever it is, also at paths
 * that no pattern names: what may not leave at one path may not leave at another. Files without content are not.
 */
import { readWholeTree } from "../diff/compare-trees.ts";
import { displayPath, joinPath, pathFromBytes, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { KeptBack } from "../model/exchange.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import { decodeEntry } from "../model/tree.ts";
import { createWithheldPaths } from "../rules/withheld-paths.ts";
import type { Store } from "../store/store.ts";

/**
 * Finds what checkpoints have at such paths. A tree that is known was looked through when it was sent; one in a directory
 * that is named is looked through anyway.
 */
export function findKeptBack(
  store: Store,
  checkpoints: Iterable<string>,
  {
    patterns,
    isKnown,
  }: { readonly patterns: readonly string[]; readonly isKnown: (name: ObjectHash) => boolean },
): KeptBack {
  const paths = createWithheldPaths(patterns);
  const found = { names: new Set<ObjectHash>(), paths: new Map<ObjectHash, Set<string>>() };
  if (paths.isEmpty) return found;
  const visited = new Set<string>();
  const keep = (path: BytePath, { hash, size }: { readonly hash: ObjectHash; readonly size: number }) => {
    if (size === 0) return;
    const known = found.paths.get(hash);
    if (known !== undefined) return void known.add(displayPath(path));
    found.paths.set(hash, new Set([displayPath(path)]));
    found.names.add(hash);
    if (store.objects.has(hash)) for (const piece of store.objects.pieceNames(hash)) found.names.add(piece);
  };
  const visit = (directory: BytePath, tree: ObjectHash, isInside: boolean): void => {
    const key = `${directory}\0${tree}`;
    if (visited.has(key) || (!isInside && isKnown(tree))) return;
    visited.add(key);
    const isNamed = paths.inDirectory(directory);
    for (const [name, entry] of readWholeTree(store.objects, tree)) {
      const path = joinPath(directory, name);
      const isHere = isInside || isNamed(name, entry.kind === "directory");
      if (entry.kind === "directory") visit(path, entry.hash, isHere);
      else if (isHere && entry.kind !== "gap") keep(path, entry);
    }
  };
  for (const id of checkpoints) {
    const row = store.db.get("SELECT seq, snapshot FROM checkpoint WHERE id = ?", id);
    if (row === undefined) continue;
    const changes = "SELECT path, old, new FROM change WHERE checkpoint = ?";
    for (const change of store.db.all(changes, Number(row["seq"]))) {
      const path = pathFromBytes(change["path"] as Uint8Array);
      if (!paths.has(path)) continue;
      for (const bytes of [change["old"], change["new"]]) {
        const entry = bytes === null ? undefined : decodeEntry(bytes as Uint8Array);
        if (entry?.kind === "file" || entry?.kind === "symlink") keep(path, entry);
      }
    }
    visit(ROOT_PATH, hashFromBytes(row["snapshot"] as Uint8Array), false);
  }
  return found;
}
