/** Paths that are captured regardless of ignore files: those in git's index and those a tool named. */
import { ancestorPaths, baseName, parentPath, type BytePath } from "../model/byte-path.ts";
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

/** The names by which each directory leads to these paths. */
export function childNames(paths: readonly BytePath[]): (directory: BytePath) => readonly string[] {
  const names = new Map<BytePath, Set<string>>();
  for (const path of paths)
    for (const at of [...ancestorPaths(path), path]) {
      const own = names.get(parentPath(at)) ?? new Set();
      names.set(parentPath(at), own.add(baseName(at)));
    }
  return (directory) => [...(names.get(directory) ?? [])].sort();
}

function inOrder(paths: readonly BytePath[]): readonly BytePath[] {
  const isOrdered = paths.every((path, index) => index === 0 || paths[index - 1]! <= path);
  return isOrdered ? paths : paths.toSorted();
}
