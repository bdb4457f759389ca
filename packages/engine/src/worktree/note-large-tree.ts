/** Writes what `large-trees.ts` reads; apart from it, because it needs more. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { replaceFile } from "../fs/durable-file.ts";
import { largeTreesPath, readLargeTrees } from "./large-trees.ts";

/** A second thread gains less than it takes to start on trees with fewer entries than this. */
export const LARGE_TREE_ENTRIES = 15_000;
const KEPT = 50;

export function noteLargeTree(home: AbsolutePath, root: AbsolutePath): void {
  const known = readLargeTrees(home);
  if (known.includes(root)) return;
  const list = [root, ...known].slice(0, KEPT).join("\0");
  try {
    replaceFile(largeTreesPath(home), [Buffer.from(list, "latin1")], { durable: false });
  } catch {
    // only a hint
  }
}
