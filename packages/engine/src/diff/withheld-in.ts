/** Where a snapshot names content that its owner keeps on another machine. */
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { readWholeTree } from "./compare-trees.ts";

/** An entry that names content. */
export type ContentEntry = Extract<Entry, { kind: "file" | "symlink" }>;
type Found = readonly (readonly [path: BytePath, entry: ContentEntry])[];

/** What was found in each tree, for as long as the same content is withheld: a capture looks at new trees only. */
const found = new WeakMap<ReadonlySet<ObjectHash>, Map<ObjectHash, Found>>();

/** Every path of a tree whose content was ever withheld from this store; it may be here by now. */
export function withheldIn(source: ObjectSource, tree: ObjectHash): Found {
  const withheld = source.withheld?.();
  if (withheld === undefined || withheld.size === 0) return [];
  const known = found.get(withheld) ?? new Map<ObjectHash, Found>();
  found.set(withheld, known);
  const before = known.get(tree);
  if (before !== undefined) return before;
  const here: [BytePath, ContentEntry][] = [];
  for (const [name, entry] of readWholeTree(source, tree)) {
    const path = joinPath(ROOT_PATH, name);
    if (entry.kind === "directory")
      for (const [below, inside] of withheldIn(source, entry.hash))
        here.push([joinPath(path, below), inside]);
    else if (entry.kind !== "gap" && withheld.has(entry.hash)) here.push([path, entry]);
  }
  known.set(tree, here);
  return here;
}
