/**
 * Merges the changes of two sides, path by path. What only one side changed is taken; what both changed is examined. A
 * path in conflict stays as ours has it, so what is returned never contains half of a change. Reads through an
 * interface, so the changes may come from a store, from memory or from git.
 */
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import { sameNode } from "../model/entry.ts";
import type { Edit } from "../model/plan.ts";
import { ChangeSet, type MergedChanges, type MergeInput } from "./change-set.ts";
import { findLostModules } from "./lost-modules.ts";
import { mergeDirectories } from "./merge-directories.ts";
import { mergeEntries, type FileEntry } from "./merge-entries.ts";
import { mergeMoves } from "./merge-moves.ts";
import { contested } from "./verdict.ts";

/** Combines the changes of both sides. */
export function mergeChanges(input: MergeInput): MergedChanges {
  const set = new ChangeSet(input);
  leaveUnknown(set);
  decideWithoutBase(set);
  findTypeConflicts(set);
  const targets = mergeMoves(set);
  for (const { path } of input.theirs) if (!set.isDecided(path)) mergePath(set, path, targets);
  findLostModules(set);
  mergeDirectories(set);
  return set.result();
}

/** What a side's rules leave out was neither added nor deleted there. */
function leaveUnknown(set: ChangeSet): void {
  for (const [path, reason] of set.input.unknown ?? []) {
    if (set.isDecided(path)) continue;
    set.decide(path);
    if (!isDirectoryEdit(set.theirs.get(path))) set.leave(path, reason);
  }
}

/** [I72] With several equally good bases, a path on which they differ is taken only where both sides agree. */
function decideWithoutBase(set: ChangeSet): void {
  for (const { path, from } of set.input.ambiguous ?? []) {
    if (set.isDecided(path)) continue;
    const [ours, theirs] = [set.ours, set.theirs].map((side) => {
      const edit = side.get(path);
      return edit === undefined ? from : edit.to;
    });
    if (ours?.kind === "directory" && theirs?.kind === "directory") continue;
    set.decide(path);
    if (sameNode(ours, theirs)) continue;
    const fact = "the histories have met more than once, and differently here: there is no common base";
    set.conflict({
      ...contested({ kind: "content", code: "no-base", fact, options: ["ours", "theirs"] }),
      path,
      base: undefined,
      ours,
      theirs,
    });
  }
}

/** A file or link on one side where the other has something below the same name. */
function findTypeConflicts(set: ChangeSet): void {
  const inTheWay = new Set<BytePath>();
  for (const [side, other] of [
    [set.ours, set.theirs],
    [set.theirs, set.ours],
  ] as const)
    for (const { path, to } of side.values())
      if (to !== undefined)
        for (const above of ancestorPaths(path)) if (isLeafEdit(other.get(above))) inTheWay.add(above);
  for (const path of inTheWay) conflictOfType(set, path);
  if (inTheWay.size === 0) return;
  for (const { path } of set.input.theirs)
    if (ancestorPaths(path).some((above) => inTheWay.has(above))) set.decide(path);
}

function conflictOfType(set: ChangeSet, path: BytePath): void {
  const [ours, theirs] = [set.oursAt(path), set.theirsAt(path)];
  const fact = `ours has a ${ours?.kind} here, theirs a ${theirs?.kind}`;
  set.decide(path);
  set.conflict({
    ...contested({ kind: "type", fact, severity: "critical", options: ["ours", "theirs"] }),
    path,
    base: (set.ours.get(path) ?? set.theirs.get(path))?.from,
    ours,
    theirs,
  });
}

function isLeafEdit(edit: Edit | undefined): boolean {
  return edit?.to !== undefined && edit.to.kind !== "directory";
}

/** True for the coming, going or mode of a directory. */
function isDirectoryEdit(edit: Edit | undefined): boolean {
  return (
    edit !== undefined &&
    [edit.from, edit.to].every((entry) => entry === undefined || entry.kind === "directory")
  );
}

function mergePath(set: ChangeSet, path: BytePath, targets: ReadonlySet<BytePath>): void {
  const edit = set.theirs.get(path)!;
  const own = set.ours.get(path);
  if (isDirectoryEdit(edit) && (own === undefined || isDirectoryEdit(own))) return;
  if (own !== undefined && sameNode(own.to, edit.to)) return;
  const gap = [edit.from, edit.to, own?.to].find((entry) => entry?.kind === "gap");
  if (gap?.kind === "gap") set.leave(path, `its content was not captured (${gap.reason})`);
  else if (own === undefined) set.edit(path, edit.to);
  else if (own.to === undefined || edit.to === undefined) conflictOfDeletion(set, path);
  else if (own.to.kind === "file" && edit.to.kind === "file") mergeFiles(set, path, targets);
  else if (own.to.kind === "symlink" && edit.to.kind === "symlink") conflictOfLinks(set, path);
  else conflictOfType(set, path);
}

function conflictOfDeletion(set: ChangeSet, path: BytePath): void {
  const [deleter, changer] = set.oursAt(path) === undefined ? ["ours", "theirs"] : ["theirs", "ours"];
  const fact = `${deleter} deleted the file that ${changer} changed`;
  set.conflict({
    ...contested({
      kind: "delete-modify",
      code: "deleted",
      fact,
      severity: "critical",
      options: ["delete", "keep"],
    }),
    path,
    base: set.theirs.get(path)!.from,
    ours: set.oursAt(path),
    theirs: set.theirsAt(path),
  });
}

function conflictOfLinks(set: ChangeSet, path: BytePath): void {
  const fact = "both sides changed where the link leads";
  set.conflict({
    ...contested({ kind: "symlink", fact, options: ["ours", "theirs", "both"] }),
    path,
    base: set.theirs.get(path)!.from,
    ours: set.oursAt(path),
    theirs: set.theirsAt(path),
  });
}

function mergeFiles(set: ChangeSet, path: BytePath, targets: ReadonlySet<BytePath>): void {
  const { from, to } = set.theirs.get(path)!;
  const base = from?.kind === "file" ? from : undefined;
  const versions = { base, ours: set.oursAt(path) as FileEntry, theirs: to as FileEntry };
  if (targets.has(path) && versions.ours.hash !== versions.theirs.hash) {
    const fact = "the two sides put different files here, at least one of them moved";
    set.conflict({
      ...contested({
        kind: "rename",
        code: "renamed",
        fact,
        severity: "critical",
        options: ["ours", "theirs", "both"],
      }),
      path,
      ...versions,
    });
    return;
  }
  const result = mergeEntries(set, path, versions);
  if (result.conflict !== undefined) set.conflict({ ...result.conflict, path, ...versions });
  else if (!sameNode(result.entry, versions.ours)) set.edit(path, result.entry);
}
