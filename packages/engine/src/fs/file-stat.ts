/** What `lstat` returns, exact to the nanosecond: the key by which an unchanged file is recognised. */
import { fstatSync, lstatSync, type BigIntStats } from "node:fs";
import { isAscii } from "../model/byte-path.ts";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";

/** What stands at a path. */
export type NodeKind = "file" | "directory" | "symlink" | "special";

/** The result of a stat, with nanoseconds. */
export type FileStat = BigIntStats;

/** One object for all calls: a literal in each call takes a third of the call's time. */
const LSTAT_OPTIONS = { bigint: true, throwIfNoEntry: false } as const;

/** The node at a path, symbolic links not followed; undefined when nothing is there. */
export function statNode(path: AbsolutePath): FileStat | undefined {
  return lstat(forSystem(path));
}

/** Stats names of one directory. The common part of the path is converted once. */
export function createNameStat(directory: AbsolutePath): (name: string) => FileStat | undefined {
  const prefix = directory === "/" ? "/" : `${directory}/`;
  if (!isAscii(prefix)) return (name) => lstat(Buffer.from(prefix + name, "latin1"));
  return (name) => lstat(isAscii(name) ? prefix + name : Buffer.from(prefix + name, "latin1"));
}

function lstat(path: string | Buffer): FileStat | undefined {
  try {
    return lstatSync(path, LSTAT_OPTIONS);
  } catch (error) {
    // a file or a loop of symbolic links stands where a directory would have to be: nothing is below it
    if (isErrno(error, "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
}

/** The stat of an open file. */
export function statDescriptor(descriptor: number): FileStat {
  return fstatSync(descriptor, { bigint: true });
}

const TYPE_BITS = 0o170000n;

/** The kind that a stat's mode describes. */
export function kindOf(stat: FileStat): NodeKind {
  switch (stat.mode & TYPE_BITS) {
    case 0o100000n:
      return "file";
    case 0o040000n:
      return "directory";
    case 0o120000n:
      return "symlink";
    default:
      return "special";
  }
}

/** True when inode, size, times and mode are equal: everything a change would alter. */
export function sameStat(a: FileStat, b: FileStat): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs &&
    a.mode === b.mode
  );
}

/** Node has no names for EDQUOT, ESTALE and EUCLEAN: they are recognised by number. */
const UNNAMED_ERRNO: Record<string, number> = { EDQUOT: -122, ESTALE: -116, EUCLEAN: -117 };

/** True for a system error with one of these codes. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno } = error as NodeJS.ErrnoException;
  return codes.some((wanted) => code === wanted || (errno !== undefined && errno === UNNAMED_ERRNO[wanted]));
}

/** True when the disk or the quota is full. */
export function isDiskFull(error: unknown): boolean {
  return isErrno(error, "ENOSPC", "EDQUOT");
}
