/** Reading files of a repository: links are followed, as git does, and anything but a regular file is absent. */
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import type { FileStat } from "../fs/file-stat.ts";

/** The file's bytes; undefined when it is missing, unreadable or larger than the limit. */
export function readGitFile(path: AbsolutePath, limit: number): Buffer | undefined {
  return readGitFileWithStat(path, limit)?.bytes;
}

/** The same with the stat of exactly the file that was read. */
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

/** What stands at a path, links followed; undefined when nothing readable does. */
export function statGitFile(path: AbsolutePath): FileStat | undefined {
  try {
    return statSync(forSystem(path), { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
