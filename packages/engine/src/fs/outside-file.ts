/**
 * Files outside the workspace: read as a whole, and put in place without losing what another program wrote meanwhile.
 * Each is reached through its directory, held open and proved to have no link on the way [R1400]. What stands at the
 * path is taken aside under a name that carries the operation's id, so that a crash in between can be settled.
 */
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import {
  below,
  displayAbsolute,
  forSystem,
  parentOf,
  realPath,
  realPathAsFarAsPossible,
  type AbsolutePath,
} from "./absolute-path.ts";
import { removeFile } from "./durable-file.ts";
import { isErrno, kindOf, statDescriptor, statNode, type FileStat } from "./file-stat.ts";
import { findWriters } from "./file-writers.ts";
import { HeldDirectory } from "./held-directory.ts";
import { addName, createDirectories, createFile, move } from "./mutate.ts";

/** A regular file as it was read. */
export interface ReadOutside {
  readonly bytes: Buffer;
  readonly stat: FileStat;
}

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads a regular file; undefined when nothing has this name, a reason when it is something else or too large. */
export function readOutsideFile(path: AbsolutePath, limit: number): ReadOutside | string | undefined {
  try {
    using parent = hold(parentOf(path));
    return parent && readRegular(parent.at(nameOf(path)), limit);
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}`;
  }
}

function readRegular(at: AbsolutePath, limit: number): ReadOutside | string | undefined {
  try {
    const seen = statNode(at);
    if (seen === undefined) return undefined;
    // before it is opened: a FIFO or device must not be
    if (kindOf(seen) !== "file") return NO_FILE;
    if (seen.size > limit) return `it is larger than ${limit / 1024 / 1024} MiB`;
    const descriptor = openSync(forSystem(at), READ_FLAGS);
    try {
      const stat = statDescriptor(descriptor);
      return kindOf(stat) === "file" ? { bytes: readFileSync(descriptor), stat } : NO_FILE;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

const NO_FILE = "it is not a regular file";

/** What to put in place of a file. */
export interface OutsideReplacement {
  /** The id in the names beside the file. */
  readonly operation: string;
  /** undefined: the file goes. */
  readonly content: { readonly pieces: Iterable<Buffer>; readonly mode: number } | undefined;
  /** Whether the file that was taken aside is the one that was saved; undefined: there was none. */
  isSaved(aside: ReadOutside | undefined): boolean;
}

/**
 * Replaces, creates or deletes one file. [N0] The old one is taken aside first and compared there; where it is not the
 * one that was saved, or a program has it open for writing, it gets its name back. Returns why nothing was changed.
 */
export function replaceOutside(path: AbsolutePath, replacement: OutsideReplacement): string | undefined {
  const { content, isSaved, operation } = replacement;
  using parent = content === undefined ? hold(parentOf(path)) : holdOrMake(parentOf(path));
  if (parent === undefined) return isSaved(undefined) ? undefined : CHANGED;
  const place = placeOf(parent, path, operation);
  try {
    if (content !== undefined) createFile(place.made, content.pieces, { mode: content.mode, sync: true });
    return swap(place, replacement);
  } finally {
    removeFile(place.made);
    parent.sync();
  }
}

const CHANGED = "it was changed meanwhile";

/** The names of one file while it is replaced, reached through its directory. */
interface Place {
  readonly at: AbsolutePath;
  readonly aside: AbsolutePath;
  readonly made: AbsolutePath;
  /** The last name of `aside`, in bytes as the kernel tells it. */
  readonly asideName: string;
  /** The whole path of `aside`, for people. */
  readonly asideText: string;
}

function placeOf(parent: HeldDirectory, path: AbsolutePath, operation: string): Place {
  const name = nameOf(path);
  const aside = `${name}.${operation}.belay-old`;
  return {
    at: parent.at(name),
    aside: parent.at(aside),
    made: parent.at(`${name}.${operation}.belay-new`),
    asideName: aside,
    asideText: displayAbsolute(below(parentOf(path), aside)),
  };
}

function swap(place: Place, { content, isSaved }: OutsideReplacement): string | undefined {
  const wasThere = takeAside(place);
  let problem: string | undefined;
  try {
    problem = wasThere ? whyNotSaved(place, isSaved) : isSaved(undefined) ? undefined : CHANGED;
    if (problem === undefined) {
      // another program may make a file of this name meanwhile: it stays, and the old one is saved
      const isPlaced = content === undefined || giveName(place.made, place.at);
      if (wasThere) removeFile(place.aside);
      return isPlaced ? undefined : CHANGED;
    }
  } catch (error) {
    problem = (error as Error).message;
  }
  return wasThere ? putBack(place, problem) : problem;
}

/** No program can open the file by its name now; one that has it open still writes to it, so it is asked about first. */
function whyNotSaved(
  { aside, asideName }: Place,
  isSaved: OutsideReplacement["isSaved"],
): string | undefined {
  const [writer] = findWriters(asideName);
  if (writer !== undefined) return `process ${writer.pid} has it open for writing`;
  const read = readRegular(aside, Infinity);
  if (typeof read === "string") return read;
  return isSaved(read) ? undefined : CHANGED;
}

/** [N1] Where another file took the name meanwhile, both stay, and the one without its name is told of. */
function putBack({ aside, at, asideText }: Place, problem: string): string {
  try {
    if (giveName(aside, at)) return problem;
  } catch (error) {
    return `${problem}, and it is ${asideText} now: ${(error as Error).message}`;
  }
  return `${problem}, and what stood there is ${asideText} now`;
}

/** Settles what a crash left beside a file; returns what a person has to know of it. */
export function settleOutside(
  path: AbsolutePath,
  { operation, isSaved }: Pick<OutsideReplacement, "operation" | "isSaved">,
): string | undefined {
  using parent = hold(parentOf(path));
  if (parent === undefined) return undefined;
  const place = placeOf(parent, path, operation);
  removeFile(place.made);
  try {
    if (statNode(place.aside) === undefined || giveName(place.aside, place.at)) return undefined;
    if (whyNotSaved(place, isSaved) !== undefined)
      return `What stood at ${displayAbsolute(path)} is ${place.asideText} now.`;
    removeFile(place.aside);
    return undefined;
  } finally {
    parent.sync();
  }
}

function takeAside({ at, aside }: Place): boolean {
  try {
    move(at, aside);
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

/** [R1400] Holds a directory whose path has no link in it; undefined where there is none. */
function hold(directory: AbsolutePath): HeldDirectory | undefined {
  const held = HeldDirectory.open(directory);
  const real = held === undefined ? realPathAsFarAsPossible(directory) : realPath(held.at(""));
  if (real === directory && (held !== undefined || statNode(directory) === undefined)) return held;
  held?.[Symbol.dispose]();
  throw new Error("a link or a file is on the way to it");
}

function holdOrMake(directory: AbsolutePath): HeldDirectory {
  const held = hold(directory);
  if (held !== undefined) return held;
  using above = holdOrMake(parentOf(directory));
  createDirectories(above.at(nameOf(directory)));
  const made = hold(directory);
  if (made === undefined) throw new Error("its directory was taken away meanwhile");
  return made;
}

function nameOf(path: AbsolutePath): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
