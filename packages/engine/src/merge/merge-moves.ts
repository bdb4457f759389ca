/**
 * Files that a side moved while the other side touched them. The change follows the file. Where it is not certain that
 * the file was moved, or both sides moved it, the user decides: a wrong guess would put one file's change into another.
 */
import type { BytePath } from "../model/byte-path.ts";
import { mergeContents, mergeEntries, type EntryVersions, type FileEntry } from "./merge-entries.ts";
import type { ChangeSet } from "./change-set.ts";
import { CERTAIN_MOVE, findMoves, type Move } from "./similar-files.ts";
import { contested } from "./verdict.ts";

/** Decides all paths that were moved on one side and changed on the other; returns where either side moved a file to. */
export function mergeMoves(set: ChangeSet): ReadonlySet<BytePath> {
  const { input } = set;
  const ours = findMoves(input.ours, (path) => set.theirs.has(path), input.read);
  const theirs = findMoves(input.theirs, (path) => set.ours.has(path), input.read);
  for (const path of new Set([...ours.keys(), ...theirs.keys()])) {
    const isBoth = set.ours.has(path) && set.theirs.has(path);
    if (isBoth && !set.isDecided(path)) mergeMove(set, { ours: ours.get(path), theirs: theirs.get(path) });
  }
  const targets = [...ours.values(), ...theirs.values()].map(({ to }) => to);
  return new Set(targets.filter((path) => !set.isDecided(path)));
}

interface Moves {
  readonly ours: Move | undefined;
  readonly theirs: Move | undefined;
}

function mergeMove(set: ChangeSet, { ours, theirs }: Moves): void {
  if (ours !== undefined && theirs !== undefined) {
    if (ours.to === theirs.to) mergeAtTarget(set, ours, theirs);
    else conflictOfNames(set, ours, theirs);
    return;
  }
  const move = (ours ?? theirs)!;
  const [mover, other] = ours === undefined ? (["theirs", "ours"] as const) : (["ours", "theirs"] as const);
  const changed = set[other].get(move.from)!.to;
  if (changed === undefined) conflictOfDeletion(set, move, mover);
  else if (changed.kind === "file" && !set[other].has(move.to)) follow(set, move, mover);
}

/** Both moved it to the same place. */
function mergeAtTarget(set: ChangeSet, ours: Move, theirs: Move): void {
  const path = ours.to;
  const versions = {
    base: baseOf(set, ours),
    ours: ours.entry as FileEntry,
    theirs: theirs.entry as FileEntry,
  };
  set.decide(ours.from, path);
  const result = mergeEntries(set, path, versions);
  if (result.conflict !== undefined)
    set.conflict({ ...result.conflict, path, otherPath: ours.from, ...versions });
  else set.edit(path, result.entry);
}

function baseOf(set: ChangeSet, { from }: Move): FileEntry {
  return (set.ours.get(from) ?? set.theirs.get(from))!.from as FileEntry;
}

function conflictOfNames(set: ChangeSet, ours: Move, theirs: Move): void {
  set.decide(ours.from, ours.to, theirs.to);
  set.conflict({
    ...contested({
      kind: "rename",
      code: "renamed",
      fact: `ours moved the file to ${ours.to}, theirs to ${theirs.to}`,
      severity: "critical",
      options: ["ours", "theirs", "both"],
    }),
    path: ours.to,
    otherPath: theirs.to,
    base: baseOf(set, ours),
    ours: ours.entry,
    theirs: theirs.entry,
  });
}

function conflictOfDeletion(set: ChangeSet, move: Move, mover: "ours" | "theirs"): void {
  set.decide(move.from, move.to);
  set.conflict({
    ...contested({
      kind: "delete-modify",
      code: "deleted",
      fact: `${mover === "ours" ? "theirs" : "ours"} deleted the file that ${mover} moved here`,
      severity: "critical",
      options: ["delete", "keep"],
    }),
    path: move.to,
    otherPath: move.from,
    base: baseOf(set, move),
    ours: mover === "ours" ? move.entry : undefined,
    theirs: mover === "theirs" ? move.entry : undefined,
  });
}

/** The other side's change goes to where the file went. */
function follow(set: ChangeSet, move: Move, mover: "ours" | "theirs"): void {
  const versions: EntryVersions = {
    base: baseOf(set, move),
    ours: (mover === "ours" ? move.entry : set.ours.get(move.from)!.to) as FileEntry,
    theirs: (mover === "theirs" ? move.entry : set.theirs.get(move.from)!.to) as FileEntry,
  };
  set.decide(move.from, move.to);
  if (move.similarity < CERTAIN_MOVE) return proposeMove(set, move, versions);
  const result = mergeEntries(set, move.to, versions);
  if (result.conflict !== undefined)
    return set.conflict({ ...result.conflict, path: move.to, otherPath: move.from, ...versions });
  const combination = { otherPath: move.from, ...versions, result: result.entry };
  set.merged(move.to, { severity: "medium", how: "rename" }, combination);
  set.edit(move.to, result.entry);
  if (mover === "theirs") set.edit(move.from, undefined);
}

function proposeMove(set: ChangeSet, move: Move, versions: EntryVersions): void {
  const verdict = mergeContents(set, move.to, versions);
  const proposal = verdict.taken ? verdict.content : verdict.proposal;
  const isHarder = !verdict.taken && verdict.severity !== "medium";
  set.conflict({
    ...contested({
      kind: "rename",
      code: "similar",
      fact: `${Math.floor(move.similarity * 100)} % of the lines of ${move.from} are here: it may have been moved and changed`,
      severity: isHarder ? verdict.severity : "medium",
      options: ["ours", "theirs", ...(proposal === null ? [] : (["proposal"] as const))],
    }),
    regions: verdict.taken ? [] : verdict.regions,
    proposal,
    path: move.to,
    otherPath: move.from,
    ...versions,
  });
}
