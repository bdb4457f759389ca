/**
 * The difference of two snapshots, node by node. Equal subtrees are never opened, so the cost follows the
 * difference. Directories are nodes of their own (existence and mode); their children have paths of their
 * own. Nothing is known below a gap, so nothing below it is reported.
 */
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { mayHoldMore, sameEntry, sameNode, type Entry } from "../model/entry.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { decodeTree, type Tree } from "../model/tree.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { asSeenHere } from "../store/withheld-names.ts";

/**
 * Recently used trees by name. They are content-addressed, so a verified tree stays valid.
 */
const recent = new Map<ObjectHash, Tree>();
const RECENT_TREES = 512;

/** Reads a tree, with a gap for each content that its owner keeps elsewhere. */
export function readTree(source: ObjectSource, name: ObjectHash): Tree {
  return treeSeenHere(source, readWholeTree(source, name));
}

/** A tree as it is stored, with those gaps. */
export function treeSeenHere(source: ObjectSource, tree: Tree): Tree {
  const withheld = source.withheld?.();
  if (withheld === undefined || withheld.size === 0) return tree;
  const has = (hash: ObjectHash) => source.has(hash);
  let seen: Map<string, Entry> | undefined;
  for (const [entryName, entry] of tree) {
    const here = asSeenHere(withheld, has, entry);
    if (here !== entry) (seen ??= new Map(tree)).set(entryName, here);
  }
  return seen ?? tree;
}

/** Reads and decodes a tree as it is stored, through a cache. */
export function readWholeTree(source: ObjectSource, name: ObjectHash): Tree {
  const known = recent.get(name);
  if (known !== undefined) return known;
  const tree = decodeTree(source.read(name), name);
  if (recent.size >= RECENT_TREES) recent.delete(recent.keys().next().value!);
  recent.set(name, tree);
  return tree;
}

/**
 * The edits from snapshot `from` to snapshot `to`, parents before children, names in byte order; at most
 * `most`.
 */
export function compareTrees(
  source: ObjectSource,
  from: ObjectHash,
  to: ObjectHash,
  most = Infinity,
): Edit[] {
  const edits: Edit[] = [];
  if (from !== to)
    compareDirectories({ source, edits, most }, ROOT_PATH, readTree(source, from), readTree(source, to));
  return edits;
}

const NOTHING: Tree = new Map();

interface Walk {
  readonly source: ObjectSource;
  readonly edits: Edit[];
  readonly most: number;
}

function compareDirectories(walk: Walk, directory: BytePath, from: Tree, to: Tree): void {
  for (const name of mergedNames(from, to)) {
    compareEntries(walk, joinPath(directory, name), from.get(name), to.get(name));
  }
}

function compareEntries(walk: Walk, path: BytePath, from: Entry | undefined, to: Entry | undefined): void {
  if (sameEntry(from, to) || walk.edits.length >= walk.most) return;
  if (!sameNode(from, to)) walk.edits.push({ path, from, to });
  // [R12] nothing is known below such a gap: the other side's paths there are neither new nor deleted
  if (mayHoldMore(from) || mayHoldMore(to)) return;
  const before = from?.kind === "directory" ? readTree(walk.source, from.hash) : NOTHING;
  const after = to?.kind === "directory" ? readTree(walk.source, to.hash) : NOTHING;
  compareDirectories(walk, path, before, after);
}

function mergedNames(from: Tree, to: Tree): Iterable<string> {
  if (from.size === 0) return to.keys();
  if (to.size === 0) return from.keys();
  return [...new Set([...from.keys(), ...to.keys()])].sort();
}

/** The entry at a path of a snapshot. `gapAbove` is set when a directory on the way was not captured. */
export function lookUp(
  source: ObjectSource,
  root: ObjectHash,
  path: BytePath,
): { entry: Entry | undefined; gapAbove: boolean } {
  let entry: Entry | undefined = { kind: "directory", mode: 0o755, hash: root };
  for (const name of path === "" ? [] : path.split("/")) {
    if (entry?.kind === "gap") return { entry: undefined, gapAbove: true };
    if (entry?.kind !== "directory") return { entry: undefined, gapAbove: false };
    entry = readTree(source, entry.hash).get(name);
  }
  return { entry, gapAbove: false };
}

/** Every node of a snapshot, parents before children. */
export function* walkTree(
  source: ObjectSource,
  root: ObjectHash,
  directory: BytePath = ROOT_PATH,
): Generator<{ path: BytePath; entry: Entry }> {
  for (const [name, entry] of readTree(source, root)) {
    const path = joinPath(directory, name);
    yield { path, entry };
    if (entry.kind === "directory") yield* walkTree(source, entry.hash, path);
  }
}
