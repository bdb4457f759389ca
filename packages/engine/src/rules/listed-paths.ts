/** The paths that are captured whatever the ignore files say: those in git's index and those a tool named. */
import type { BytePath } from "../model/byte-path.ts";
import { firstAtOrAfter } from "../model/sorted-paths.ts";

export interface ListedPaths {
  has(path: BytePath): boolean;
  /** True when something below this directory is listed. */
  hasBelow(directory: BytePath): boolean;
}

/** Looks paths up by bisection: lists of 50,000 paths cost nothing until something excluded is met. */
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
