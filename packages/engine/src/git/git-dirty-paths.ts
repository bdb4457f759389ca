/** The set of paths that differ from git's index, updated by checking changed paths only. */
import { ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { firstAtOrAfter } from "../model/sorted-paths.ts";
import type { DirtyCheck } from "./git-dirty.ts";

/** All differing paths among the index's sorted ones. */
export function findDirtyPaths(paths: readonly BytePath[], check: DirtyCheck): Set<BytePath> {
  return new Set(paths.filter((_, at) => check.differs(at)));
}

interface DirtyUpdate {
  readonly paths: readonly BytePath[];
  readonly check: DirtyCheck;
  /** A changed directory stands for everything below it. */
  readonly changed: Iterable<BytePath>;
}

/** Checks the changed paths again and updates the set. */
export function updateDirtyPaths(dirty: Set<BytePath>, { paths, check, changed }: DirtyUpdate): void {
  for (const path of changed) {
    for (const at of placesOf(paths, path)) {
      if (check.differs(at)) dirty.add(paths[at]!);
      else dirty.delete(paths[at]!);
    }
  }
}

/** The places of a path and of everything below it: two ranges, since `a-b` sorts between `a` and `a/b`. */
function* placesOf(paths: readonly BytePath[], path: BytePath): Generator<number> {
  if (path === ROOT_PATH) return yield* paths.keys();
  for (let at = firstAtOrAfter(paths, path); paths[at] === path; at += 1) yield at;
  const start = `${path}/`;
  for (let at = firstAtOrAfter(paths, start); paths[at]?.startsWith(start); at += 1) yield at;
}
