/**
 * For those who start a process to look at a big tree: the look begins before the rest of the engine is loaded and the
 * store is open. An entry of its own, because it comes before everything else.
 */
import { absolutePath } from "../fs/absolute-path.ts";
import { HeadStart } from "../scan/head-start.ts";
import { findLargeTree } from "../scan/large-trees.ts";

export type { HeadStart };

/** Begins to look, where that is worth it. Pass it on with the engine's options. */
export function startLooking(home: string, directory: string, nowMs: number): HeadStart | undefined {
  const tree = findLargeTree(absolutePath(home), absolutePath(directory));
  return tree && HeadStart.begin(tree, nowMs);
}
