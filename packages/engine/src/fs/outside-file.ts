/** Files outside the workspace: read as a whole, and put in place without losing what another program wrote meanwhile. */
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { randomId } from "../model/ids.ts";
import { forSystem, parentOf, type AbsolutePath } from "./absolute-path.ts";
import { removeFile, syncDirectory } from "./durable-file.ts";
import { isErrno, kindOf, statDescriptor, statNode } from "./file-stat.ts";
import { addName, createDirectories, createFile, move } from "./mutate.ts";

/** A regular file as it was read. */
export interface ReadOutside {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly userId: number;
}

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads a regular file; undefined when nothing has this name, a reason when it is something else or too large. */
export function readOutsideFile(path: AbsolutePath, limit: number): ReadOutside | string | undefined {
  try {
    const stat = statNode(path);
    if (stat === undefined) return undefined;
    if (kindOf(stat) !== "file") return "it is no regular file";
    if (stat.size > limit) return `it is larger than ${limit / 1024 / 1024} MiB`;
    const descriptor = openSync(forSystem(path), READ_FLAGS);
    try {
      const { mode, uid } = statDescriptor(descriptor);
      return { bytes: readFileSync(descriptor), mode: Number(mode), userId: Number(uid) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    return `it cannot be read: ${(error as Error).message}`;
  }
}

/** What to put in place of a file. */
export interface OutsideReplacement {
  /** undefined: the file goes. */
  readonly content: { readonly pieces: Iterable<Buffer>; readonly mode: number } | undefined;
  /** Whether the file that was taken aside is the one that was saved; undefined: there was none. */
  isSaved(aside: AbsolutePath | undefined): boolean;
}

/**
 * Replaces, creates or deletes one file. [N0] The old one is taken aside first and compared there; where it is not the
 * one that was saved, it gets its name back. Returns why nothing was changed.
 */
export function replaceOutside(
  path: AbsolutePath,
  { content, isSaved }: OutsideReplacement,
): string | undefined {
  const own = `${path}.${randomId()}.belay` as AbsolutePath;
  const [aside, made] = [`${own}-old` as AbsolutePath, `${own}-new` as AbsolutePath];
  if (content !== undefined) {
    createDirectories(parentOf(path));
    createFile(made, content.pieces, { mode: content.mode, sync: true });
  }
  try {
    const wasThere = takeAside(path, aside);
    if (!isSaved(wasThere ? aside : undefined)) {
      // where a file took the name meanwhile, the one aside keeps its own: both stay
      if (wasThere) giveName(aside, path);
      return CHANGED;
    }
    // another program may make a file of this name meanwhile: it stays, and the old one is saved
    const isPlaced = content === undefined || giveName(made, path);
    if (wasThere) removeFile(aside);
    return isPlaced ? undefined : CHANGED;
  } finally {
    if (content !== undefined) removeFile(made);
    syncDirectory(parentOf(path));
  }
}

const CHANGED = "it was changed meanwhile";

function takeAside(path: AbsolutePath, aside: AbsolutePath): boolean {
  try {
    move(path, aside);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** Gives a file a name that no other has; false where one has it. */
function giveName(from: AbsolutePath, to: AbsolutePath): boolean {
  try {
    if (addName(from, to)) removeFile(from);
    else if (statNode(to) === undefined) move(from, to);
    else return false;
    return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
}
