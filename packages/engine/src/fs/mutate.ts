/** The calls that change a working copy, one line each, on paths from an `Anchor`. */
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
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { displayAbsolute, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { writeAll } from "./durable-file.ts";
import { isErrno } from "./file-stat.ts";
import { CHUNK_BYTES } from "./read-file.ts";
import { explainSystemError } from "./system-error.ts";

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Writes a new file that only its owner can read until its mode is set at the end. Blocks of zeros become
 * holes.
 */
export function createFile(
  path: AbsolutePath,
  pieces: Iterable<Buffer>,
  options: { mode: number; sync: boolean },
): void {
  const descriptor = openSync(forSystem(path), CREATE_FLAGS, 0o600);
  try {
    let [size, isHole] = [0, false];
    for (const piece of pieces) {
      isHole = piece.equals(ZEROS);
      if (!isHole) writeAll(descriptor, piece, size);
      size += piece.length;
    }
    if (isHole) ftruncateSync(descriptor, size);
    fchmodSync(descriptor, options.mode);
    if (options.sync) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** Makes a synced copy of a regular file with the given mode. */
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

/** Creates a symbolic link. */
export function createLink(path: AbsolutePath, target: Buffer): void {
  symlinkSync(target, forSystem(path));
}

/** Creates a directory that only this user can enter, or with a mode that the user's umask narrows. */
export function createDirectory(path: AbsolutePath, mode = 0o700): void {
  mkdirSync(forSystem(path), { mode });
}

/** Creates a directory and its missing parents with the user's umask. */
export function createDirectories(path: AbsolutePath): void {
  mkdirSync(forSystem(path), { recursive: true });
}

/** Renames a file, link or directory. */
export function move(from: AbsolutePath, to: AbsolutePath): void {
  renameSync(forSystem(from), forSystem(to));
}

/** Adds a hard link; false where the file system or its protections refuse that. */
export function addName(from: AbsolutePath, to: AbsolutePath): boolean {
  try {
    linkSync(forSystem(from), forSystem(to));
    return true;
  } catch (error) {
    if (isErrno(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS", "EXDEV")) return false;
    throw error;
  }
}

/** Unlinks a file or symbolic link. */
export function removeName(path: AbsolutePath): void {
  unlinkSync(forSystem(path));
}

/** Removes an empty directory; false when it is not empty. */
export function removeEmptyDirectory(path: AbsolutePath): boolean {
  try {
    rmdirSync(forSystem(path));
    return true;
  } catch (error) {
    if (isErrno(error, "ENOTEMPTY", "EEXIST")) return false;
    throw error;
  }
}

/** Sets the mode of a file or directory, never through a symbolic link. A directory keeps its setgid bit. */
export function setMode(path: AbsolutePath, mode: number): void {
  let descriptor: number;
  try {
    descriptor = openSync(
      forSystem(path),
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
  } catch (error) {
    // an unreadable file of our own can only be reached by name
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

/** The setgid bit, which a new directory inherits from its parent. */
const HANDS_DOWN_GROUP = 0o2000;

/** Makes a file accessible to this user only, by name: the file is not opened, and not touched if it is private. */
export function makePrivateFile(path: AbsolutePath): void {
  const name = displayAbsolute(path);
  try {
    // setting the same mode again would still change the file's ctime, by which readers know that it changed
    if ((statSync(forSystem(path)).mode & 0o777) !== 0o600) chmodSync(forSystem(path), 0o600);
  } catch (error) {
    throw explainSystemError(error, {
      what: `${name} cannot be made private`,
      path: name,
      operation: "store",
    });
  }
}

/**
 * The error code that writing this node would produce ("EPERM" for an immutable one, "EROFS", "EACCES");
 * undefined = writable.
 */
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

/** An error code from `whyUnwritable` or a failed call, in words. */
export function whyRefused(code: string): string {
  return REFUSALS[code] ?? code;
}

/** The size of the file system of `path`, and how much of it this user may still write. */
export function diskBytes(path: AbsolutePath): { free: number; total: number } {
  const { bavail, blocks, bsize } = statfsSync(forSystem(path), { bigint: true });
  return { free: Number(bavail * bsize), total: Number(blocks * bsize) };
}

/** How many bytes this user may still write on the file system of `path`. */
export function freeBytes(path: AbsolutePath): number {
  return diskBytes(path).free;
}
