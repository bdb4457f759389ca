/**
 * Which trees were big the last time they were scanned: a hint for those who start, before they know anything
 * else. Losing it, or a path too many in it, costs some milliseconds.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { readSmallFile } from "../fs/read-file.ts";

const LARGEST_LIST = 2 ** 20;

export function isInLargeTree(home: AbsolutePath, directory: AbsolutePath): boolean {
  return readLargeTrees(home).some((root) => directory === root || directory.startsWith(`${root}/`));
}

export function readLargeTrees(home: AbsolutePath): string[] {
  const list = readSmallFile(largeTreesPath(home), LARGEST_LIST)?.toString("latin1") ?? "";
  return list === "" ? [] : list.split("\0");
}

export function largeTreesPath(home: AbsolutePath): AbsolutePath {
  return below(home, "large-trees");
}
