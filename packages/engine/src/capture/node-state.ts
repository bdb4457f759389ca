/** Compares what is on disk with what a snapshot says should be there. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { isErrno, kindOf, statNode, type FileStat } from "../fs/file-stat.ts";
import { MODE_BITS, type Entry } from "../model/entry.ts";
import { DISCARD } from "../store/content-sink.ts";
import { readFileContent, readLinkContent } from "./read-content.ts";

/** True when the node at `path` is exactly `entry`: kind, mode and every byte. Content is read; no cache is used. */
export function matchesEntry(path: AbsolutePath, entry: Entry | undefined): boolean {
  const stat = statNodeBelow(path);
  if (stat === undefined || entry === undefined) return (stat === undefined) === (entry === undefined);
  const kind = kindOf(stat);
  switch (entry.kind) {
    case "file":
      return (
        kind === "file" &&
        sameMode(stat, entry.mode) &&
        Number(stat.size) === entry.size &&
        readFileContent(path, DISCARD).hash === entry.hash
      );
    case "symlink":
      return kind === "symlink" && readLinkContent(path, DISCARD).hash === entry.hash;
    case "directory":
      return kind === "directory" && sameMode(stat, entry.mode);
    case "gap":
      return entry.reason === "special" && kind === "special";
  }
}

/** The node at a path; undefined also when a parent of it is missing or no directory. */
export function statNodeBelow(path: AbsolutePath): FileStat | undefined {
  try {
    return statNode(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
}

/** True when a node has exactly this mode. */
export function sameMode(stat: FileStat, mode: number): boolean {
  return (Number(stat.mode) & MODE_BITS) === mode;
}
