/**
 * Which trees were big the last time they were scanned, and where their stat caches are: a hint for those who start,
 * before they know anything else. Losing it, or a path too many in it, costs some milliseconds.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { replaceFile } from "../fs/durable-file.ts";
import { readSmallFile } from "../fs/read-file.ts";

/** To begin early gains less than it takes on trees with fewer entries than this. */
export const LARGE_TREE_ENTRIES = 10_000;

const LARGEST_LIST = 2 ** 20;
const KEPT = 50;

export interface LargeTree {
  readonly root: AbsolutePath;
  readonly cachePath: AbsolutePath;
}

/** The big tree that a directory belongs to: the innermost, if they are nested. */
export function findLargeTree(home: AbsolutePath, directory: AbsolutePath): LargeTree | undefined {
  return readLargeTrees(home)
    .filter(({ root }) => directory === root || directory.startsWith(`${root}/`))
    .toSorted((a, b) => b.root.length - a.root.length)[0];
}

export function noteLargeTree(home: AbsolutePath, tree: LargeTree): void {
  const known = readLargeTrees(home);
  if (known.some(({ root, cachePath }) => root === tree.root && cachePath === tree.cachePath)) return;
  const others = known.filter(({ root }) => root !== tree.root);
  const list = [tree, ...others].slice(0, KEPT).flatMap(({ root, cachePath }) => [root, cachePath]);
  try {
    replaceFile(listPath(home), [Buffer.from(list.join("\0"), "latin1")], { durable: false });
  } catch {
    // only a hint
  }
}

function readLargeTrees(home: AbsolutePath): LargeTree[] {
  const list = readSmallFile(listPath(home), LARGEST_LIST)?.toString("latin1") ?? "";
  const paths = list === "" ? [] : (list.split("\0") as AbsolutePath[]);
  const trees: LargeTree[] = [];
  for (let at = 0; at + 1 < paths.length; at += 2)
    trees.push({ root: paths[at]!, cachePath: paths[at + 1]! });
  return trees;
}

function listPath(home: AbsolutePath): AbsolutePath {
  return below(home, "large-trees");
}
