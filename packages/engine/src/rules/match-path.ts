/** Whether a list of patterns names a path or a directory above it. */
import { ancestorPaths, baseName, parentPath, type BytePath } from "../model/byte-path.ts";
import { IgnoreLookup } from "./ignore-lookup.ts";
import type { PatternList } from "./ignore-pattern-list.ts";

/** A function that says so of the path of a file or directory. */
export function createPathMatch(
  list: PatternList | undefined,
): (path: BytePath, isDirectory?: boolean) => boolean {
  if (list === undefined) return () => false;
  const isNamed = (path: BytePath, isDirectory: boolean) =>
    new IgnoreLookup([list], list.filter, parentPath(path)).find(baseName(path), isDirectory)?.excluded !==
    undefined;
  return (path, isDirectory = false) =>
    isNamed(path, isDirectory) || ancestorPaths(path).some((above) => isNamed(above, true));
}
