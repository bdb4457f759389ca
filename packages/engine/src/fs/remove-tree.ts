/** Removes whole trees, a node at a time, so that the caller can give way to other work in between. */
import type { AbsolutePath } from "./absolute-path.ts";
import { EnteredDirectory } from "./entered-directory.ts";
import { isErrno, kindOf, statNode } from "./file-stat.ts";
import { listDirectory } from "./list-directory.ts";
import { removeEmptyDirectory, removeName } from "./mutate.ts";

/**
 * Removes a node and everything below it; links are removed, never followed, [R1951] also one that takes the place of a
 * directory meanwhile. Does nothing if it does not exist.
 */
export function* removeTree(path: AbsolutePath): Generator<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return yield* removeAsFound(path);
    } catch (error) {
      if (attempt === ATTEMPTS || !isErrno(error, ...SOMETHING_ELSE)) throw error;
    }
  }
}

/** What a node says that is something else than a moment ago, or gone. */
const SOMETHING_ELSE = ["ENOENT", "ENOTDIR", "ELOOP", "EISDIR"];
const ATTEMPTS = 10;

function* removeAsFound(path: AbsolutePath): Generator<void> {
  const stat = statNode(path);
  if (stat === undefined) return;
  if (kindOf(stat) !== "directory") return removeName(path);
  {
    using directory = new EnteredDirectory(path);
    for (const name of namesToRemove(directory)) {
      yield* removeTree(directory.at(name));
      yield;
    }
  }
  removeEmptyDirectory(path);
}

/** The names in a directory that is about to be emptied: one that may not be written is opened up first. */
function namesToRemove(directory: EnteredDirectory): string[] {
  try {
    directory.openUp();
  } catch (error) {
    if (!isErrno(error, "EPERM", "EACCES", "EROFS")) throw error;
  }
  return listDirectory(directory.path);
}
