/**
 * Reads files of a repository. Links are followed, as git does; anything but a regular file counts as absent.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import type { FileStat } from "../fs/file-stat.ts";

/** The file's bytes; undefined when it is missing, unreadable or larger than the limit. */
export function readGitFile(path: AbsolutePath, limit: number): Buffer | undefined {
  return readGitFileWithStat(path, limit)?.bytes;
}

/** Like `readGitFile`, with the stat of exactly the file that was read. */
export function readGitFileWithStat(
  path: AbsolutePath,
  limit: number,
): { bytes: Buffer; stat: FileStat } | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(forSystem(path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    if (!stat.isFile() || stat.size > limit) return undefined;
    return { bytes: readFileSync(descriptor), stat };
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** The stat of a path, links followed; undefined when it is not accessible. */
export function statGitFile(path: AbsolutePath): FileStat | undefined {
  try {
    return statSync(forSystem(path), { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
