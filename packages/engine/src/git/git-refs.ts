/**
 * The file of a new ref, written as git does it: a lock beside it that takes its name. Only refs of ghosts are written
 * here, whose names no other program gives. Reftables and repositories with rights of their own are left to git.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync } from "node:fs";
import { below, forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { writeAll } from "../fs/durable-file.ts";
import { readGitFile, statGitFile } from "./git-file.ts";
import { PACKED_REFS_LIMIT } from "./git-head.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import { takesLooseObjects } from "./git-objects.ts";
import type { Repository } from "./git-repository.ts";

/** Adds a ref; false where git has to decide: it may be there, or its place is taken. */
export function addRefFile(repository: Repository, ref: string, commit: string): boolean {
  if (!repository.hasRefFiles || !takesLooseObjects(repository) || isPacked(repository, ref)) return false;
  const place = below(repository.commonDir, ref);
  try {
    mkdirSync(forSystem(place.slice(0, place.lastIndexOf("/"))), { recursive: true });
    return takeName(place, Buffer.from(`${commit}\n`));
  } catch {
    return false;
  }
}

/** Under the lock no other program makes the ref. */
function takeName(place: AbsolutePath, content: Buffer): boolean {
  const lock = `${place}.lock` as AbsolutePath;
  const descriptor = openSync(forSystem(lock), "wx", 0o666);
  let isOurs = false;
  try {
    if (statGitFile(place) !== undefined) return false;
    writeAll(descriptor, content, 0);
    // as git does: after a power cut an empty ref would make the user's own commands complain
    fsyncSync(descriptor);
    renameSync(forSystem(lock), forSystem(place));
    isOurs = true;
    return true;
  } finally {
    closeSync(descriptor);
    if (!isOurs) unlinkSync(forSystem(lock));
  }
}

/** A packed ref may have the same name, or that of a directory above it. */
function isPacked({ commonDir }: Repository, ref: string): boolean {
  const packed = readGitFile(below(commonDir, "packed-refs"), PACKED_REFS_LIMIT);
  if (packed === undefined) return false;
  return [...ancestorPaths(ref as BytePath), ref].some((name) => packed.includes(` ${name}\n`, 0, "latin1"));
}
