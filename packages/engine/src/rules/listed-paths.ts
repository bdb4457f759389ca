/** Paths that are captured regardless of ignore files: those in git's index and those a tool named. */
import type { BytePath } from "../model/byte-path.ts";
import { firstAtOrAfter } from "../model/sorted-paths.ts";

/** A set of paths that knows its directories. */
export interface ListedPaths {
  has(path: BytePath): boolean;
  /** True when something below this directory is listed. */
  hasBelow(directory: BytePath): boolean;
}

/** Creates the set. Binary search makes lists of 50,000 paths free until an excluded name is met. */
export function createListedPaths(...lists: (readonly BytePath[])[]): ListedPaths {
  let ordered: (readonly BytePath[])[] | undefined;
  const anyList = (path: string, found: (candidate: string) => boolean) => {
    ordered ??= lists.filter((list) => list.length > 0).map(inOrder);
    return ordered.some((list) => {
      const candidate = list[firstAtOrAfter(list, path)];
      return candidate !== undefined && found(candidate);
    });
  };
  return {
    has: (path) => anyList(path, (candidate) => candidate === path),
    hasBelow: (directory) => anyList(`${directory}/`, (candidate) => candidate.startsWith(`${directory}/`)),
  };
}

function inOrder(paths: readonly BytePath[]): readonly BytePath[] {
  const isOrdered = paths.every((path, index) => index === 0 || paths[index - 1]! <= path);
  return isOrdered ? paths : paths.toSorted();
}
