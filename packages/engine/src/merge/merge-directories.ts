/** Directories of a merge: one exists while anything in it does; an empty one is taken like a file. */
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { NO_OBJECT } from "../model/object-hash.ts";
import type { ChangeSet } from "./change-set.ts";
import { mergeModes } from "./merge-entries.ts";

/** Decides the directories that either side changed, once everything inside is decided. */
export function mergeDirectories(set: ChangeSet): void {
  const occupied = occupiedDirectories(set);
  // from the inside out: what stays keeps the directories above it
  const paths = [...new Set([...set.ours.keys(), ...set.theirs.keys()])].sort().reverse();
  for (const path of paths) {
    if (!isDirectory(set, path) || set.isDecided(path)) continue;
    mergeDirectory(set, path, occupied);
    if (set.resultAt(path) !== undefined) for (const above of ancestorPaths(path)) occupied.add(above);
  }
}

/** Every directory that holds a file, a link or a gap in the result, as far as the changes say. */
function occupiedDirectories(set: ChangeSet): Set<BytePath> {
  const occupied = new Set<BytePath>();
  const paths = [...set.ours.keys(), ...set.theirs.keys(), ...set.edits.keys()];
  const present = paths.filter((path) => {
    const entry = set.resultAt(path);
    return entry !== undefined && entry.kind !== "directory";
  });
  for (const path of [...present, ...(set.input.unknown?.keys() ?? [])])
    for (const above of ancestorPaths(path)) occupied.add(above);
  return occupied;
}

function isDirectory(set: ChangeSet, path: BytePath): boolean {
  const entries = [set.ours.get(path), set.theirs.get(path)].flatMap((edit) =>
    edit === undefined ? [] : [edit.from, edit.to],
  );
  return entries.every((entry) => entry === undefined || entry.kind === "directory");
}

type Directory = Entry & { readonly kind: "directory" };

function mergeDirectory(set: ChangeSet, path: BytePath, occupied: ReadonlySet<BytePath>): void {
  const [ours, theirs] = [set.oursAt(path), set.theirsAt(path)] as (Directory | undefined)[];
  const base = (set.ours.get(path) ?? set.theirs.get(path))!.from as Directory | undefined;
  if (ours !== undefined && theirs !== undefined) {
    const mode = mergeModes(set, path, { base, ours, theirs });
    if (mode !== ours.mode) set.edit(path, { ...ours, mode });
  } else if (ours !== undefined && base !== undefined) {
    if (!occupied.has(path)) set.edit(path, undefined);
  } else if (ours === undefined && (occupied.has(path) || isNewAndEmpty(set, path))) {
    set.edit(path, { kind: "directory", mode: (theirs ?? base)!.mode, hash: NO_OBJECT });
  }
}

/** A directory of theirs that ours never had, with nothing in it. */
function isNewAndEmpty(set: ChangeSet, path: BytePath): boolean {
  const edit = set.theirs.get(path);
  if (edit === undefined || edit.from !== undefined) return false;
  return !set.input.theirs.some(({ path: inside, to }) => to !== undefined && inside.startsWith(`${path}/`));
}
