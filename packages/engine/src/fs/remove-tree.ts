/** Removes whole trees, a node at a time, so that the caller can give way to other work in between. */
import { chmodSync } from "node:fs";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { isErrno, kindOf, statNode } from "./file-stat.ts";
import { listDirectory } from "./list-directory.ts";
import { removeEmptyDirectory, removeName } from "./mutate.ts";

/** Removes a node and everything below it; links are removed, never followed. Does nothing if it does not exist. */
export function* removeTree(path: AbsolutePath): Generator<void> {
  const stat = statNode(path);
  if (stat === undefined) return;
  if (kindOf(stat) !== "directory") {
    removeName(path);
    return;
  }
  for (const name of namesToRemove(path)) {
    const node = below(path, name);
    const inside = statNode(node);
    if (inside === undefined) continue;
    if (kindOf(inside) === "directory") yield* removeTree(node);
    else removeName(node);
    yield;
  }
  removeEmptyDirectory(path);
}

/** The names in a directory that is about to be emptied: one that may not be written is opened up first. */
function namesToRemove(path: AbsolutePath): string[] {
  const stat = statNode(path);
  if (stat !== undefined && (stat.mode & 0o700n) !== 0o700n) {
    try {
      chmodSync(forSystem(path), 0o700);
    } catch (error) {
      if (!isErrno(error, "EPERM", "EACCES", "EROFS")) throw error;
    }
  }
  return listDirectory(path);
}
