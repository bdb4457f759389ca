/** Hunks of a unified diff: nearby changes with the unchanged lines around them. */
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
  const lines = [`@@ -${rangeText(span[0], span[1])} +${rangeText(span[2], span[3])} @@`];
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

/** Lines are counted from 1. An empty range names the line before it; a length of 1 is omitted. */
function rangeText(start: number, end: number): string {
  if (end === start) return `${start},0`;
  return end - start === 1 ? `${start + 1}` : `${start + 1},${end - start}`;
}

function patchLine(mark: string, line: string): string {
  return line.endsWith("\n") ? mark + line.slice(0, -1) : `${mark}${line}\n\\ No newline at end of file`;
}
