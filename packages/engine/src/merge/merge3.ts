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
export interface MergePlace {
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
      readonly conflicts: readonly MergePlace[];
    };

/** Merged lines, or a place where the two sides exclude each other. */
export type MergePiece =
  | { readonly lines: Lines; readonly conflict?: undefined }
  | { readonly conflict: MergePlace };

/** Applies the changes from `base` to `theirs` to `ours`. */
export function mergeText(base: Buffer, ours: Buffer, theirs: Buffer): MergeResult {
  const isBinary = [base, ours, theirs].some((content) => content.includes(0));
  if (isBinary) return { clean: false, reason: "binary", conflicts: [] };
  const pieces = mergePieces(splitLines(base), splitLines(ours), splitLines(theirs));
  const conflicts = pieces.flatMap(({ conflict }) => conflict ?? []);
  if (conflicts.length > 0) return { clean: false, reason: "overlap", conflicts };
  return { clean: true, content: joinLines(pieces.flatMap((piece) => linesOf(piece))) };
}

function linesOf(piece: MergePiece): Lines {
  return piece.conflict === undefined ? piece.lines : [];
}

/** The result in order: what is merged, and between it the conflicts. Works on lines, or on anything else in pieces. */
export function mergePieces(base: Lines, ours: Lines, theirs: Lines): MergePiece[] {
  const pieces: MergePiece[] = [];
  let mergedUpTo = 0;
  const regions = touchingChanges(certainChanges(base, ours), certainChanges(base, theirs));
  for (const { changedBy, ...region } of regions) {
    pieces.push({ lines: base.slice(mergedUpTo, region.base.start) });
    mergedUpTo = region.base.end;
    if (changedBy === "theirs") pieces.push({ lines: theirs.slice(region.theirs.start, region.theirs.end) });
    else if (changedBy === "ours" || isSameText(ours, theirs, region))
      pieces.push({ lines: ours.slice(region.ours.start, region.ours.end) });
    else pieces.push({ conflict: region });
  }
  pieces.push({ lines: base.slice(mergedUpTo) });
  return pieces;
}

function isSameText(ours: Lines, theirs: Lines, region: MergePlace): boolean {
  const length = region.ours.end - region.ours.start;
  if (region.theirs.end - region.theirs.start !== length) return false;
  for (let at = 0; at < length; at++) {
    if (ours[region.ours.start + at] !== theirs[region.theirs.start + at]) return false;
  }
  return true;
}
