/**
 * Three-way merge of text, byte for byte: `git merge-file` without its guesses. As in git, changes of the two
 * sides that touch are a conflict, and the same text on both sides is not. Every clean result equals git's
 * (the oracle of the property test), unless git reports a conflict between two equal texts. Where git picks
 * one of several equally good alignments of repeated lines, this reports a conflict (certain-changes.ts).
 * Content with NUL bytes is never merged.
 */
import { joinLines, splitLines, type Lines } from "../diff/lines.ts";
import { certainChanges } from "./certain-changes.ts";
import { touchingChanges, type LineRange } from "./touching-changes.ts";

/** The same place in the three contents. */
export interface MergeConflict {
  readonly base: LineRange;
  readonly ours: LineRange;
  readonly theirs: LineRange;
}

/** A merged content, or the conflicts that prevented it. */
export type MergeResult =
  | { readonly clean: true; readonly content: Buffer }
  | {
      readonly clean: false;
      readonly reason: "overlap" | "binary";
      readonly conflicts: readonly MergeConflict[];
    };

/** Applies the changes from `base` to `theirs` to `ours`. */
export function mergeText(base: Buffer, ours: Buffer, theirs: Buffer): MergeResult {
  const isBinary = [base, ours, theirs].some((content) => content.includes(0));
  if (isBinary) return { clean: false, reason: "binary", conflicts: [] };
  return mergeLines(splitLines(base), splitLines(ours), splitLines(theirs));
}

function mergeLines(base: Lines, ours: Lines, theirs: Lines): MergeResult {
  const conflicts: MergeConflict[] = [];
  const merged: string[] = [];
  let mergedUpTo = 0;
  const regions = touchingChanges(certainChanges(base, ours), certainChanges(base, theirs));
  for (const { changedBy, ...region } of regions) {
    appendLines(merged, base, { start: mergedUpTo, end: region.base.start });
    mergedUpTo = region.base.end;
    if (changedBy === "theirs") appendLines(merged, theirs, region.theirs);
    else if (changedBy === "ours" || isSameText(ours, theirs, region)) appendLines(merged, ours, region.ours);
    else conflicts.push(region);
  }
  if (conflicts.length > 0) return { clean: false, reason: "overlap", conflicts };
  appendLines(merged, base, { start: mergedUpTo, end: base.length });
  return { clean: true, content: joinLines(merged) };
}

function appendLines(merged: string[], lines: Lines, { start, end }: LineRange): void {
  for (let at = start; at < end; at++) merged.push(lines[at]!);
}

function isSameText(ours: Lines, theirs: Lines, region: MergeConflict): boolean {
  const length = region.ours.end - region.ours.start;
  if (region.theirs.end - region.theirs.start !== length) return false;
  for (let at = 0; at < length; at++) {
    if (ours[region.ours.start + at] !== theirs[region.theirs.start + at]) return false;
  }
  return true;
}
