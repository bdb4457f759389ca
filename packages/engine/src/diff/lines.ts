/**
 * Line differences of two contents, byte for byte. A line keeps its terminator and is decoded as latin1, so
 * that CRLF, a missing last "\n" and bytes that are not UTF-8 survive and count.
 * `diffLines` is minimal for ordinary input. For pathological input (two long files with the same lines in
 * another order) it gives up at a fixed cost and reports the middle as replaced: coarse but correct.
 */
import { diff_core } from "fast-myers-diff";
import { dropAbsent, internLines, type LineIds } from "./line-ids.ts";

/** The lines of a content, in order; their concatenation is the content. */
export type Lines = readonly string[];

/** Lines `[aStart, aEnd)` of a became lines `[bStart, bEnd)` of b; one of the ranges may be empty. */
export type LineChange = readonly [aStart: number, aEnd: number, bStart: number, bEnd: number];

/**
 * Line comparisons before a diff becomes coarse: half a second. Rewriting 10,000 lines of code takes a tenth
 * of it.
 */
const DIFF_COST_LIMIT = 25_000_000;

/** Splits content after each "\n"; only the last line may lack it. */
export function splitLines(content: Buffer): Lines {
  const text = content.toString("latin1");
  const lines: string[] = [];
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** The bytes of lines; the inverse of `splitLines`. */
export function joinLines(lines: Lines): Buffer {
  return Buffer.from(lines.join(""), "latin1");
}

/** Lines for a comparison that ignores white space: not to be shown. */
export function withoutSpace(lines: Lines): Lines {
  return lines.map((line) => line.replaceAll(/[ \t\r\n\v\f]+/g, ""));
}

/** The changes that turn a into b, in order, with at least one equal line between two changes. */
export function diffLines(a: Lines, b: Lines, costLimit = DIFF_COST_LIMIT): LineChange[] {
  const { aIds, bIds, idCount } = internLines(a, b);
  const shorter = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < shorter && aIds[prefix] === bIds[prefix]) prefix++;
  let suffix = 0;
  while (suffix < shorter - prefix && aIds[a.length - 1 - suffix] === bIds[b.length - 1 - suffix]) suffix++;

  const middle = diffMiddle(
    {
      aIds: aIds.subarray(prefix, a.length - suffix),
      bIds: bIds.subarray(prefix, b.length - suffix),
      idCount,
    },
    costLimit,
  );
  return slideDown(
    middle.map(([aStart, aEnd, bStart, bEnd]) => [
      aStart + prefix,
      aEnd + prefix,
      bStart + prefix,
      bEnd + prefix,
    ]),
    aIds,
    bIds,
  );
}

function diffMiddle(ids: LineIds, costLimit: number): LineChange[] {
  const [a, b] = dropAbsent(ids);
  const changes = diffIds(a.ids, b.ids, costLimit);
  if (changes === undefined) return [[0, ids.aIds.length, 0, ids.bIds.length]];
  for (const [aStart, aEnd, bStart, bEnd] of changes) {
    for (let i = aStart; i < aEnd; i++) a.changed[a.indexes[i]!] = 1;
    for (let j = bStart; j < bEnd; j++) b.changed[b.indexes[j]!] = 1;
  }
  return changesFromMarks(a.changed, b.changed);
}

/** The changes between two sequences of numbers; undefined when finding them is too expensive. */
function diffIds(a: Int32Array, b: Int32Array, costLimit: number): LineChange[] | undefined {
  let cost = 0;
  const equal = (i: number, j: number): boolean => {
    if (++cost > costLimit) throw COST_LIMIT_REACHED;
    return a[i] === b[j];
  };
  try {
    return [...diff_core(0, a.length, 0, b.length, equal)];
  } catch (error) {
    // the library has no other way to stop: one step of its iterator may take minutes
    if (error === COST_LIMIT_REACHED) return undefined;
    throw error;
  }
}

const COST_LIMIT_REACHED = new Error("the lines are too costly to compare");

/**
 * Moves each pure insertion or deletion as far down as equal lines allow, as git does. An added function then
 * begins with its first line and not with the closing brace of the function before it.
 */
function slideDown(changes: LineChange[], aIds: Int32Array, bIds: Int32Array): LineChange[] {
  const slid: LineChange[] = [];
  for (let at = changes.length - 1; at >= 0; at--) {
    const [aStart, aEnd, bStart, bEnd] = changes[at]!;
    const below = slid.at(-1);
    const room = (below?.[0] ?? aIds.length) - aEnd;
    let by = 0;
    if (aStart === aEnd) while (by < room && bIds[bStart + by] === bIds[bEnd + by]) by++;
    else if (bStart === bEnd) while (by < room && aIds[aStart + by] === aIds[aEnd + by]) by++;
    if (by === room && below !== undefined)
      slid[slid.length - 1] = [aStart + by, below[1], bStart + by, below[3]];
    else slid.push([aStart + by, aEnd + by, bStart + by, bEnd + by]);
  }
  return slid.reverse();
}

/** The changes around the unmarked lines, of which both sides have equally many. */
export function changesFromMarks(aChanged: Uint8Array, bChanged: Uint8Array): LineChange[] {
  const changes: LineChange[] = [];
  for (let i = 0, j = 0; i < aChanged.length || j < bChanged.length; i++, j++) {
    const [aStart, bStart] = [i, j];
    while (aChanged[i] === 1) i++;
    while (bChanged[j] === 1) j++;
    if (i > aStart || j > bStart) changes.push([aStart, i, bStart, j]);
  }
  return changes;
}
