/** Copies of files and trees. Where the file system can, a copy shares the blocks of its original until either is written. */
import { constants, copyFileSync, lutimesSync } from "node:fs";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { removeFile } from "./durable-file.ts";
import { kindOf, statNode } from "./file-stat.ts";
import { listDirectory } from "./list-directory.ts";
import { createDirectory, createLink, setMode } from "./mutate.ts";
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
}

/** Copies a directory with everything below it, times and modes included. Only files, directories and links are copied. */
export function* copyTree(from: AbsolutePath, to: AbsolutePath, copy: TreeCopy): Generator<void> {
  createDirectory(to);
  for (const name of listDirectory(from)) {
    const [source, target] = [below(from, name), below(to, name)];
    const stat = statNode(source);
    const kind = stat === undefined ? undefined : kindOf(stat);
    if (stat === undefined || kind === undefined || kind === "special") continue;
    if (kind === "directory") {
      yield* copyTree(source, target, copy);
      setMode(target, Number(stat.mode) & 0o7777);
    } else if (kind === "symlink") createLink(target, copy.linkTarget(readLink(source)));
    else copyContent(source, target, copy);
    lutimesSync(forSystem(target), Number(stat.atimeNs) / 1e9, Number(stat.mtimeNs) / 1e9);
    copy.done(kind === "file" ? Number(stat.size) : 0);
    yield;
  }
}

/** The files below a directory and their bytes; undefined as soon as they are more than a limit. */
export function measureTree(
  directory: AbsolutePath,
  limitBytes: number,
): { files: number; bytes: number } | undefined {
  let [files, bytes] = [0, 0];
  const visit = (path: AbsolutePath): boolean => {
    for (const name of listDirectory(path)) {
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
