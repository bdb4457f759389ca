/** Hunks of a unified diff: nearby changes with the unchanged lines around them. */
import type { DiffHunk, DiffLine } from "../model/file-diff.ts";
import type { LineChange, Lines } from "./lines.ts";

/** The lines a hunk spans on both sides, and the changes in it. */
export interface Hunk {
  readonly span: LineChange;
  readonly changes: readonly LineChange[];
}

/** Puts changes into one hunk when their context would touch or overlap. */
export function groupIntoHunks(
  changes: readonly LineChange[],
  { context, oldLength }: { context: number; oldLength: number },
): Hunk[] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change[0] - last[1] <= 2 * context) groups.at(-1)!.push(change);
    else groups.push([change]);
  }
  return groups.map((group) => {
    const [first, last] = [group[0]!, group.at(-1)!];
    const before = Math.min(context, first[0]);
    const after = Math.min(context, oldLength - last[1]);
    return { span: [first[0] - before, last[1] + after, first[2] - before, last[3] + after], changes: group };
  });
}

/** The text of a hunk in a patch, without its last "\n". */
export function hunkText({ span, changes }: Hunk, oldLines: Lines, newLines: Lines): string {
  const lines = [rangesText(span)];
  const append = (mark: string, source: Lines, [start, end]: readonly [number, number]) => {
    for (let at = start; at < end; at++) lines.push(patchLine(mark, source[at]!));
  };
  let shownUpTo = span[0];
  for (const [aStart, aEnd, bStart, bEnd] of changes) {
    append(" ", oldLines, [shownUpTo, aStart]);
    append("-", oldLines, [aStart, aEnd]);
    append("+", newLines, [bStart, bEnd]);
    shownUpTo = aEnd;
  }
  append(" ", oldLines, [shownUpTo, span[1]]);
  return lines.join("\n");
}

/** A hunk as data. Where white space is ignored an unchanged line reads as on the new side, as with git. */
export function hunkData({ span, changes }: Hunk, oldLines: Lines, newLines: Lines): DiffHunk {
  const lines: DiffLine[] = [];
  const append = (type: DiffLine["type"], source: Lines, at: { old?: number; new?: number }) => {
    const line = source[at.new ?? at.old!]!;
    const isWhole = line.endsWith("\n");
    lines.push({
      type,
      text: Buffer.from(isWhole ? line.slice(0, -1) : line, "latin1").toString("utf8"),
      old: at.old === undefined ? null : at.old + 1,
      new: at.new === undefined ? null : at.new + 1,
      ...(isWhole ? {} : { noNewline: true as const }),
    });
  };
  let [oldAt, newAt] = [span[0], span[2]];
  const appendSame = (end: number) => {
    while (oldAt < end) append(" ", newLines, { old: oldAt++, new: newAt++ });
  };
  for (const [aStart, aEnd, , bEnd] of changes) {
    appendSame(aStart);
    while (oldAt < aEnd) append("-", oldLines, { old: oldAt++ });
    while (newAt < bEnd) append("+", newLines, { new: newAt++ });
  }
  appendSame(span[1]);
  const place = enclosingLine(oldLines, span[0]);
  return {
    header: rangesText(span) + (place === "" ? "" : ` ${place}`),
    oldStart: firstLine(span[0], span[1]),
    oldLines: span[1] - span[0],
    newStart: firstLine(span[2], span[3]),
    newLines: span[3] - span[2],
    lines,
  };
}

const PLACE_BYTES = 80;

/** The nearest line above that begins like a definition: git's rule where it knows no language. */
function enclosingLine(lines: Lines, before: number): string {
  for (let at = before - 1; at >= 0; at--)
    if (/^[A-Za-z_$]/.test(lines[at]!))
      return Buffer.from(lines[at]!.slice(0, PLACE_BYTES), "latin1").toString("utf8").trimEnd();
  return "";
}

function rangesText(span: LineChange): string {
  return `@@ -${rangeText(span[0], span[1])} +${rangeText(span[2], span[3])} @@`;
}

function firstLine(start: number, end: number): number {
  return end === start ? start : start + 1;
}

/** Lines are counted from 1. An empty range names the line before it; a length of 1 is omitted. */
function rangeText(start: number, end: number): string {
  if (end === start) return `${start},0`;
  return end - start === 1 ? `${start + 1}` : `${start + 1},${end - start}`;
}

function patchLine(mark: string, line: string): string {
  return line.endsWith("\n") ? mark + line.slice(0, -1) : `${mark}${line}\n\\ No newline at end of file`;
}
