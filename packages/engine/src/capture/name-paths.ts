/** Names paths that a tool is about to write, or that a user wants captured. */
import { below } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { insertNamedPaths } from "../history/named-paths.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Context } from "./context.ts";

/**
 * Captures paths from now on, unless a `.belayignore` leaves them out. Those that are absent now are known to be absent from
 * every checkpoint so far, and so are the directories that have to be made for them.
 */
export function namePaths({ store, workingCopy }: Context, paths: readonly BytePath[]): void {
  const isThere = (path: BytePath) => statNode(below(workingCopy.root, path)) !== undefined;
  const missing = paths.flatMap(ancestorPaths).filter((directory) => !isThere(directory));
  if (paths.length > 0) insertNamedPaths(store.db, [...paths, ...missing], isThere);
}
