/** Applies edits to a snapshot without touching the disk. */
import type { Entry } from "../model/entry.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { encodeTree, type Tree } from "../model/tree.ts";
import { sinkBytes, type ContentSink } from "../store/content-sink.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { readWholeTree } from "./compare-trees.ts";

/** The snapshot that results from a snapshot and edits. */
export function editTree(
  objects: { source: ObjectSource; sink: ContentSink },
  root: ObjectHash,
  edits: readonly Pick<Edit, "path" | "to">[],
): ObjectHash {
  if (edits.length === 0) return root;
  const changes = edits.map(({ path, to }) => ({ names: path.split("/"), to }));
  return editDirectory(objects, readWholeTree(objects.source, root), changes);
}

interface Change {
  readonly names: readonly string[];
  readonly to: Entry | undefined;
}

function editDirectory(
  objects: { source: ObjectSource; sink: ContentSink },
  tree: Tree,
  changes: readonly Change[],
): ObjectHash {
  const entries = new Map(tree);
  for (const [name, group] of Map.groupBy(changes, (change) => change.names[0]!)) {
    const own = group.find((change) => change.names.length === 1);
    const inside = group
      .filter((change) => change.names.length > 1)
      .map(({ names, to }) => ({ names: names.slice(1), to }));
    const entry = editEntry(objects, { before: entries.get(name), own, inside });
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }
  const bytes = encodeTree([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  const hash = hashBytes(bytes);
  sinkBytes(objects.sink, hash, bytes, hashBytes);
  return hash;
}

function editEntry(
  objects: { source: ObjectSource; sink: ContentSink },
  edit: { before: Entry | undefined; own: Change | undefined; inside: readonly Change[] },
): Entry | undefined {
  const { before, own, inside } = edit;
  const target = own === undefined ? before : own.to;
  if (target?.kind !== "directory") return target;
  const content =
    before?.kind === "directory" ? readWholeTree(objects.source, before.hash) : new Map<string, Entry>();
  return { ...target, hash: editDirectory(objects, content, inside) };
}
