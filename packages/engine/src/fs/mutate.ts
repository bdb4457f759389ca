/** The calls that change a working copy, one line each, all on paths given by an `Anchor`. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { displayAbsolute, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { writeAll } from "./durable-file.ts";
import { isErrno } from "./file-stat.ts";
import { CHUNK_BYTES } from "./read-file.ts";
import { explainSystemError } from "./system-error.ts";

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Writes a new file that only its owner can read until its mode is set at the end. Pieces of nothing but zeros become holes. */
export function createFile(
  path: AbsolutePath,
  pieces: Iterable<Buffer>,
  options: { mode: number; sync: boolean },
): void {
  const descriptor = openSync(forSystem(path), CREATE_FLAGS, 0o600);
  try {
    let size = 0;
    for (const piece of pieces) {
      if (!piece.equals(ZEROS)) writeAll(descriptor, piece, size);
      size += piece.length;
    }
    ftruncateSync(descriptor, size);
    fchmodSync(descriptor, options.mode);
    if (options.sync) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** Makes a synced copy of a regular file, with another mode. */
export function copyFile(from: AbsolutePath, to: AbsolutePath, mode: number): void {
  copyFileSync(forSystem(from), forSystem(to), constants.COPYFILE_EXCL);
  const descriptor = openSync(forSystem(to), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function createLink(path: AbsolutePath, target: Buffer): void {
  symlinkSync(target, forSystem(path));
}

export function createDirectory(path: AbsolutePath): void {
  mkdirSync(forSystem(path), { mode: 0o700 });
}

/** Creates a directory and those above it that are missing, as the user would. */
export function createDirectories(path: AbsolutePath): void {
  mkdirSync(forSystem(path), { recursive: true });
}

export function move(from: AbsolutePath, to: AbsolutePath): void {
  renameSync(forSystem(from), forSystem(to));
}

/** Gives a node a second name; false where the file system or its protections do not allow that. */
export function addName(from: AbsolutePath, to: AbsolutePath): boolean {
  try {
    linkSync(forSystem(from), forSystem(to));
    return true;
  } catch (error) {
    if (isErrno(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS", "EXDEV")) return false;
    throw error;
  }
}

export function removeName(path: AbsolutePath): void {
  unlinkSync(forSystem(path));
}

/** Removes an empty directory; false when something is in it. */
export function removeEmptyDirectory(path: AbsolutePath): boolean {
  try {
    rmdirSync(forSystem(path));
    return true;
  } catch (error) {
    if (isErrno(error, "ENOTEMPTY", "EEXIST")) return false;
    throw error;
  }
}

/** Sets the mode of a file or directory, never through a symbolic link. A directory goes on handing down its group. */
export function setMode(path: AbsolutePath, mode: number): void {
  let descriptor: number;
  try {
    descriptor = openSync(
      forSystem(path),
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
  } catch (error) {
    // one's own unreadable file can only be reached by name
    if (!isErrno(error, "EACCES")) throw error;
    return chmodSync(forSystem(path), mode);
  }
  try {
    const stat = fstatSync(descriptor);
    fchmodSync(descriptor, stat.isDirectory() ? mode | (stat.mode & HANDS_DOWN_GROUP) : mode);
  } finally {
    closeSync(descriptor);
  }
}

/** The setgid bit, which a new directory has from the one it is made in. */
const HANDS_DOWN_GROUP = 0o2000;

/** For this user alone, by name: the file is not opened. */
export function makePrivateFile(path: AbsolutePath): void {
  const name = displayAbsolute(path);
  try {
    chmodSync(forSystem(path), 0o600);
  } catch (error) {
    throw explainSystemError(error, {
      what: `${name} cannot be made private`,
      path: name,
      operation: "store",
    });
  }
}

/** What keeps a node from being written: "EPERM" for an immutable one, "EROFS", "EACCES"; undefined = nothing. */
export function whyUnwritable(path: AbsolutePath, isDirectory: boolean): string | undefined {
  try {
    accessSync(forSystem(path), constants.W_OK | (isDirectory ? constants.X_OK : 0));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "EIO";
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "no permission to change it",
  EPERM: "it is immutable",
  EROFS: "the file system is read-only",
};

/** A code of `whyUnwritable`, or of a call that failed, in words. */
export function whyRefused(code: string): string {
  return REFUSALS[code] ?? code;
}

/** Bytes this user may still write on the file system of `path`. */
export function freeBytes(path: AbsolutePath): number {
  const { bavail, bsize } = statfsSync(forSystem(path), { bigint: true });
  return Number(bavail * bsize);
}
