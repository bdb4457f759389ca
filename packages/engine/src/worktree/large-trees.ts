/**
 * Which trees were big the last time they were scanned: a hint for those who start, before they know anything
 * else. Losing it, or a path too many in it, costs some milliseconds.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { replaceFile } from "../fs/durable-file.ts";
import { readSmallFile } from "../fs/read-file.ts";

/** A second thread gains less than it takes to start on trees with fewer entries than this. */
export const LARGE_TREE_ENTRIES = 15_000;
const KEPT = 50;
const LARGEST_LIST = 2 ** 20;

export function isInLargeTree(home: AbsolutePath, directory: AbsolutePath): boolean {
  return readLargeTrees(home).some((root) => directory === root || directory.startsWith(`${root}/`));
}

export function noteLargeTree(home: AbsolutePath, root: AbsolutePath): void {
  const known = readLargeTrees(home);
  if (known.includes(root)) return;
  const list = [root, ...known].slice(0, KEPT).join("\0");
  try {
    replaceFile(listPath(home), [Buffer.from(list, "latin1")], { durable: false });
  } catch {
    // only a hint
  }
}

function readLargeTrees(home: AbsolutePath): string[] {
  const list = readSmallFile(listPath(home), LARGEST_LIST)?.toString("latin1") ?? "";
  return list === "" ? [] : list.split("\0");
}

function listPath(home: AbsolutePath): AbsolutePath {
  return below(home, "large-trees");
}
