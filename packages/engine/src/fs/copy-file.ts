/** Copies of files and trees. Where the file system can, a copy shares the blocks of its original until either is written. */
import { closeSync, constants, copyFileSync, fstatSync, lutimesSync, openSync } from "node:fs";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { hasDescriptorPaths } from "./anchor.ts";
import { removeFile } from "./durable-file.ts";
import { EnteredDirectory } from "./entered-directory.ts";
import { isErrno, kindOf, sameStat, statNode, type FileStat } from "./file-stat.ts";
import { listDirectory, listIfThere } from "./list-directory.ts";
import { createDirectory, createLink } from "./mutate.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { readLink } from "./read-file.ts";

/** Copies a regular file to a name that must not exist; with `clone` by sharing its blocks where that is possible. */
export function copyContent(from: AbsolutePath, to: AbsolutePath, { clone }: { clone: boolean }): void {
  copyFileSync(
    forSystem(from),
    forSystem(to),
    constants.COPYFILE_EXCL | (clone ? constants.COPYFILE_FICLONE : 0),
  );
}

/** Whether a copy of this file in that directory would share its blocks. The copy is removed again. */
export function sharesBlocks(file: AbsolutePath, directory: AbsolutePath): boolean {
  const probe = below(directory, ".belay-probe");
  try {
    // a killed process may have left it
    removeFile(probe);
    copyFileSync(
      forSystem(file),
      forSystem(probe),
      constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE,
    );
    return true;
  } catch {
    return false;
  } finally {
    try {
      removeFile(probe);
    } catch {
      // it is empty, and the next fork removes it
    }
  }
}

/** How a tree is copied. */
export interface TreeCopy {
  readonly clone: boolean;
  /** Says where the copy of a link leads. */
  linkTarget(target: Buffer): Buffer;
  /** Called after each node, with the bytes of a file. */
  done(bytes: number): void;
  /** Called for a file that another program wrote during every attempt to copy it. */
  torn(path: BytePath): void;
  /** Collects the work to do once the whole tree has been walked; without it, everything is copied on the way. */
  readonly later?: LaterCopies;
}

/** The rest of the work of copying a tree, by paths below it. */
export interface LaterCopies {
  file(path: BytePath): void;
  /** Called for a directory after everything in it: its mode and times are set last. */
  directory(path: BytePath, mode: number, stat: FileStat | undefined): void;
}

/**
 * Copies a directory with everything below it, times and modes included. Only files, directories and links are copied.
 * [R1951] Nothing is read or written through a link that takes the place of a directory or file meanwhile: what is no
 * longer what it was is left out.
 */
export function* copyTree(
  from: AbsolutePath,
  to: AbsolutePath,
  copy: TreeCopy,
  path = ROOT_PATH,
): Generator<void> {
  createDirectory(to);
  using source = new EnteredDirectory(from);
  using target = new EnteredDirectory(to);
  const { later } = copy;
  for (const name of listDirectory(source.path)) {
    const stat = statNode(source.at(name));
    const kind = stat === undefined ? undefined : kindOf(stat);
    if (stat === undefined || kind === undefined || kind === "special") continue;
    try {
      const inside = joinPath(path, name);
      if (kind === "directory") yield* copyTree(source.at(name), target.at(name), copy, inside);
      else if (kind === "file" && later !== undefined) {
        later.file(inside);
        copy.done(Number(stat.size));
        continue;
      } else if (kind === "symlink") createLink(target.at(name), copy.linkTarget(readLink(source.at(name))));
      else if (!copySettled(source.at(name), target.at(name), copy)) copy.torn(inside);
    } catch (error) {
      if (!isSwapped(error)) throw error;
      continue;
    }
    lutimesSync(forSystem(target.at(name)), Number(stat.atimeNs) / 1e9, Number(stat.mtimeNs) / 1e9);
    copy.done(kind === "file" ? Number(stat.size) : 0);
    yield;
  }
  if (later === undefined) target.setMode(source.mode);
  else later.directory(path, source.mode, statNode(from));
}

/** True for the errors of a node that was replaced by another kind, or is gone. */
export function isSwapped(error: unknown): boolean {
  return isErrno(error, "ELOOP", "ENOTDIR", "ENOENT", "EINVAL");
}

const TRIES = 3;

/** Copies a file as it is at one moment; false, with the last copy kept, if it was written during each of them. */
export function copySettled(from: AbsolutePath, to: AbsolutePath, how: { clone: boolean }): boolean {
  for (let tries = 1; ; tries += 1) {
    const before = statNode(from);
    copyRegular(from, to, how);
    const after = statNode(from);
    const isSame = before !== undefined && after !== undefined && sameStat(before, after);
    if (isSame || tries === TRIES) return isSame;
    removeFile(to);
  }
}

/** Copies a file as `copyContent` does; throws ELOOP where something else than a regular file stands. */
function copyRegular(from: AbsolutePath, to: AbsolutePath, how: { clone: boolean }): void {
  if (!hasDescriptorPaths) return copyContent(from, to, how);
  const descriptor = openSync(forSystem(from), SOURCE_FLAGS);
  try {
    if (!fstatSync(descriptor).isFile()) throw Object.assign(new Error("not a file"), { code: "ELOOP" });
    copyContent(`/proc/self/fd/${descriptor}` as AbsolutePath, to, how);
  } finally {
    closeSync(descriptor);
  }
}

const SOURCE_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The files below a directory and their bytes; undefined as soon as they are more than a limit. */
export function measureTree(
  directory: AbsolutePath,
  limitBytes: number,
): { files: number; bytes: number } | undefined {
  let [files, bytes] = [0, 0];
  const visit = (path: AbsolutePath): boolean => {
    for (const name of listIfThere(path)) {
      const stat = statNode(below(path, name));
      if (stat === undefined) continue;
      const kind = kindOf(stat);
      if (kind === "directory" && !visit(below(path, name))) return false;
      if (kind !== "file") continue;
      files += 1;
      bytes += Number(stat.size);
      if (bytes > limitBytes) return false;
    }
    return true;
  };
  return visit(directory) ? { files, bytes } : undefined;
}
