/**
 * Changes of files and directories that survive a power cut: content is synced before its name appears, the
 * directory after. A failed sync is never retried on the same data: the kernel may report success the second
 * time without having written anything.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { randomId } from "../model/ids.ts";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";
import { isErrno } from "./file-stat.ts";
import { childProcesses } from "./on-demand.ts";

/** Writes all bytes at a position, however many calls that takes. */
export function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}

/** Makes the content of a file durable. */
export function syncFile(path: AbsolutePath): void {
  const descriptor = openSync(forSystem(path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a directory durable. */
export function syncDirectory(path: AbsolutePath): void {
  const descriptor = openSync(forSystem(path), constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs the whole file system that holds `path` with one call; false where the system has no such call. */
export function syncFileSystem(path: AbsolutePath): boolean {
  const done = childProcesses().spawnSync("/bin/sync", ["-f", "--", forSystem(path) as string], {
    stdio: "ignore",
    timeout: 60_000,
  });
  return done.status === 0;
}

/** Replaces a small file as a whole. `durable: false` is for caches, which may be lost but never torn. */
export function replaceFile(
  path: AbsolutePath,
  pieces: readonly Uint8Array[],
  options: { durable: boolean; mode?: number },
): void {
  const temporary = `${path}.${randomId()}.new` as AbsolutePath;
  try {
    writeNew(temporary, pieces, options);
    renameSync(forSystem(temporary), forSystem(path));
  } catch (error) {
    // on a full disk half a file would take the last of the space
    removeFile(temporary);
    throw error;
  }
  if (options.durable) syncDirectory(path.slice(0, path.lastIndexOf("/")) as AbsolutePath);
}

function writeNew(
  path: AbsolutePath,
  pieces: readonly Uint8Array[],
  options: { durable: boolean; mode?: number },
): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(forSystem(path), flags, options.mode ?? 0o600);
  try {
    let size = 0;
    for (const piece of pieces) {
      writeAll(descriptor, piece, size);
      size += piece.length;
    }
    if (options.durable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes a file; does nothing if it does not exist. */
export function removeFile(path: AbsolutePath): void {
  try {
    unlinkSync(forSystem(path));
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}

/** Creates a directory and its parents, accessible to this user only, whatever the umask. */
export function makePrivateDirectory(path: AbsolutePath): void {
  const isThere = () => statSync(forSystem(path), { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  try {
    mkdirSync(forSystem(path), { mode: 0o700 });
    chmodSync(forSystem(path), 0o700);
  } catch (error) {
    if (isErrno(error, "EEXIST") && isThere()) return;
    const parent = path.slice(0, path.lastIndexOf("/")) as AbsolutePath;
    // Node's recursive mkdir loops forever where a parent exists and nothing can be created in it, as in
    // /proc
    if (!isErrno(error, "ENOENT") || parent === "" || existsSync(forSystem(parent))) throw error;
    makePrivateDirectory(parent);
    makePrivateDirectory(path);
  }
}
