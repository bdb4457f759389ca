/**
 * What changed between two looks that may have used different rules. Absent does not mean "did not exist"
 * (N6): what the earlier rules excluded is not new, what the later ones exclude is not gone. Undo deletes and
 * creates by these changes, so every doubt counts as no change.
 */
import { compareTrees } from "../diff/compare-trees.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { coversOnlyNamed, decodeRules, type RecordedRules } from "../model/rules.ts";
import { encodeTree } from "../model/tree.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { decodeExcluded } from "../rules/excluded-list.ts";
import { createRecordedMatcher } from "../rules/recorded-rules.ts";

/** A snapshot, its rules, what they left out, and what is known to have been absent regardless of them. */
export interface RuledSnapshot {
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
  readonly excluded: ObjectHash;
  readonly absent?: ReadonlySet<BytePath>;
}

/** The changes that lead from one to the other. */
export function provenChanges(objects: ObjectSource, from: RuledSnapshot, to: RuledSnapshot): Edit[] {
  const edits = compareTrees(objects, from.snapshot, to.snapshot).filter((edit) => !isOnlyElsewhere(edit));
  if (edits.length === 0 || (from.rules === to.rules && from.excluded === to.excluded)) return edits;
  const [before, after] = [from, to].map((side) => absenceProof(objects, side));
  const isOfFiles = [from, to].some(({ rules }) => coversOnlyNamed(rulesIn(objects, rules)));
  return edits.filter((edit) => {
    if (isOfFiles && isBetweenDirectories(edit)) return false;
    if (edit.from === undefined) return before!(edit.path, edit.to);
    return edit.to !== undefined || after!(edit.path, edit.from);
  });
}

/** [R2022] What its owner keeps on another machine was never on this disk: that it is not there is no change. */
function isOnlyElsewhere({ from, to }: Edit): boolean {
  const [entry, other] = from === undefined ? [to, from] : [from, to];
  return other === undefined && entry?.kind === "gap" && entry.reason === "withheld";
}

/** What the earlier look has and the rules of the later one leave out: only the disk shows what became of it. */
export function leavers(objects: ObjectSource, from: RuledSnapshot, to: RuledSnapshot): Edit[] {
  if (from.snapshot === to.snapshot || (from.rules === to.rules && from.excluded === to.excluded)) return [];
  const isGone = absenceProof(objects, to);
  return compareTrees(objects, from.snapshot, to.snapshot).filter(
    (edit) => edit.to === undefined && edit.from?.kind !== "gap" && !isGone(edit.path, edit.from),
  );
}

/** Decides whether a path that a snapshot lacks was truly absent then. */
export function absenceProof(
  objects: ObjectSource,
  { rules, excluded, absent }: RuledSnapshot,
): AbsenceProof {
  const recorded = rulesIn(objects, rules);
  const matcher = createRecordedMatcher(recorded);
  const isOfFiles = coversOnlyNamed(recorded);
  // no rule names mount points and linked worktrees, and they are left out all the same
  const leftOut = new Set(decodeExcluded(objects.read(excluded), excluded).map(({ path }) => path));
  const isLeftOut = (path: BytePath) =>
    leftOut.has(path) || ancestorPaths(path).some((above) => leftOut.has(above));
  return (path, other) =>
    absent?.has(path) === true ||
    // of a directory a list of files says something only by what is in it: an empty one may be older than the list
    (!(isOfFiles && isEmptyDirectory(other)) &&
      matcher.wouldCapture(path, other?.kind === "directory") &&
      !isLeftOut(path));
}

/** An edit that only gives a directory another mode. Where files are all that is known, its mode is not. */
export function isBetweenDirectories({ from, to }: Edit): boolean {
  return from?.kind === "directory" && to?.kind === "directory";
}

function isEmptyDirectory(entry: Entry | undefined): boolean {
  return entry?.kind === "directory" && entry.hash === EMPTY_TREE;
}

const EMPTY_TREE = hashBytes(encodeTree([]));

function rulesIn(objects: ObjectSource, rules: ObjectHash): RecordedRules {
  return decodeRules(objects.read(rules), rules);
}

/** True when the path was absent; `other` is what stands there in another snapshot. */
export type AbsenceProof = (path: BytePath, other: Entry | undefined) => boolean;
