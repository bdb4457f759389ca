/**
 * Loose objects of a repository, read and written as git does it: deflated, named by the hash of what they are, and
 * moved to that name when they are whole. Only ghosts are written here. Nothing is looked for in packs: git answers
 * for those.
 */
import { closeSync, mkdirSync, openSync, renameSync, unlinkSync, utimesSync } from "node:fs";
import { hash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { below, forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { writeAll } from "../fs/durable-file.ts";
import { isErrno } from "../fs/file-stat.ts";
import { randomId } from "../model/ids.ts";
import { readGitConfig } from "./git-config.ts";
import { readGitFile, statGitFile } from "./git-file.ts";
import type { Repository } from "./git-repository.ts";

/** What an object is. */
export type GitObjectKind = "blob" | "tree" | "commit";

/** Trees are read as a whole; a directory of a million files has one of this size. */
const LARGEST_TREE = 64 * 1024 * 1024;
/** What git itself compresses loose objects with. */
const FASTEST = 1;

/** Extensions of a repository's format that change nothing about a loose object. */
const HARMLESS =
  /^extensions\.(?:objectformat|refstorage|partialclone|worktreeconfig|preciousobjects|relativeworktrees|noop)$/;

/** Whether objects may be written without git: no other user needs rights to them, and git would write the file and no more. */
export function takesLooseObjects({ gitDir, commonDir }: Repository): boolean {
  const config = readGitConfig(gitDir, commonDir);
  const shared = config.get("core.sharedrepository");
  if (shared !== undefined && !/^(?:umask|false|no|off|0)$/i.test(shared)) return false;
  // who wants more synced than git does by itself gets it from git
  if (["core.fsync", "core.fsyncmethod", "core.fsyncobjectfiles"].some((key) => config.has(key)))
    return false;
  return [...config.keys()].every((key) => !key.startsWith("extensions.") || HARMLESS.test(key));
}

/** Whether an object of git lies loose. */
export function isLoose(repository: Repository, id: string): boolean {
  return statGitFile(placeOf(repository, id)) !== undefined;
}

/** The content of a tree that lies loose; undefined when it does not, or is damaged. */
export function readLooseTree(repository: Repository, id: string): Buffer | undefined {
  const file = readGitFile(placeOf(repository, id), LARGEST_TREE);
  if (file === undefined) return undefined;
  try {
    const object = inflateSync(file, { maxOutputLength: LARGEST_TREE });
    const end = object.indexOf(0);
    const isTree = object.toString("latin1", 0, end) === `tree ${object.length - end - 1}`;
    return isTree && hash(repository.objectFormat, object) === id ? object.subarray(end + 1) : undefined;
  } catch {
    return undefined;
  }
}

/** An object to be written. */
export interface NewObject {
  readonly kind: GitObjectKind;
  readonly content: Buffer;
  /** Now, in seconds since 1970. One that is there gets this time, so that no `gc` takes it. */
  readonly time: number;
}

/** Writes an object unless it is there, and returns its id. */
export function writeLooseObject(repository: Repository, { kind, content, time }: NewObject): string {
  const object = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`, "latin1"), content]);
  const id = hash(repository.objectFormat, object);
  const place = placeOf(repository, id);
  if (refresh(place, time)) return id;
  const directory = place.slice(0, place.lastIndexOf("/")) as AbsolutePath;
  // git's own name for an object that is not whole: its `gc` removes one that was left behind
  const temporary = below(directory, `tmp_obj_${randomId()}`);
  const descriptor = createIn(directory, temporary);
  try {
    try {
      writeAll(descriptor, deflateSync(object, { level: FASTEST }), 0);
    } finally {
      closeSync(descriptor);
    }
    renameSync(forSystem(temporary), forSystem(place));
  } catch (error) {
    unlinkSync(forSystem(temporary));
    throw error;
  }
  return id;
}

function placeOf({ commonDir }: Repository, id: string): AbsolutePath {
  return below(commonDir, `objects/${id.slice(0, 2)}/${id.slice(2)}`);
}

function refresh(place: AbsolutePath, time: number): boolean {
  try {
    utimesSync(forSystem(place), time, time);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** With the rights that git gives, less the user's umask. */
function createIn(directory: AbsolutePath, path: AbsolutePath): number {
  try {
    return openSync(forSystem(path), "wx", 0o444);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    mkdirSync(forSystem(directory), { recursive: true });
    return openSync(forSystem(path), "wx", 0o444);
  }
}
