/** When it is worth the while to look at what changed before anybody asks. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import type { LiveCapture } from "./live/live.ts";

/** What is written again and again before anybody wants a capture would only be read for nothing. */
export const MOST_PREPARATIONS = 20;
/** More than this is not kept for a capture that may never come. */
const MOST_NAMES = 100;
const MOST_BYTES = 2 ** 20;

/** `bytes`: what is kept already. */
export function isWorthPreparing(root: AbsolutePath, { changes, tree }: LiveCapture, bytes: number): boolean {
  if (changes.size === 0 || changes.size > MOST_NAMES) return false;
  let total = bytes;
  for (const path of changes.paths()) {
    const stat = statNode(below(root, path));
    if (stat?.isDirectory() !== true) total += Number(stat?.size ?? 0n);
    // it would be looked through
    else if (changes.isReplaced(path) || tree?.index.has(path) !== true) return false;
  }
  return total <= MOST_BYTES;
}
