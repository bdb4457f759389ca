/**
 * The changes of one side of a merge, as far as they are certain. Where lines repeat there are often several
 * smallest ways to get from base to a side ("}" was added: before this brace or after it?). A merge that
 * picks one of them may silently put the other side's change in the wrong place. So a line counts as kept
 * only if every smallest difference keeps it; everything between two such lines is one change.
 * All smallest differences lie between two extreme ones as paths through the edit graph, so what these two
 * have in common is common to all.
 */
import { dropAbsent, findRepeated, internLines, type LineIds } from "../diff/line-ids.ts";
import { changesFromMarks, type LineChange, type Lines } from "../diff/lines.ts";
import { joinAcrossWeakRuns } from "./weak-runs.ts";

/**
 * The number of line edits beyond which everything between the first and the last change becomes one change.
 * From there on git's own difference is not the smallest one, so there is no certainty to share.
 */
const EDIT_LIMIT = 512;

/**
 * Changes that together cover every change of base into side, in order, with at least one equal line between
 * two.
 */
export function certainChanges(base: Lines, side: Lines): LineChange[] {
  const ids = internLines(base, side);
  const [a, b] = dropAbsent(ids);
  const reach = measureReach(a.ids, b.ids);
  if (reach === undefined) return [wholeChange(ids)];
  const oneExtreme = walkBack(a.ids, b.ids, { reach, prefer: "deletion" });
  const otherExtreme = walkBack(a.ids, b.ids, { reach, prefer: "insertion" });
  b.changed.fill(1);
  for (let i = 0; i < oneExtreme.length; i++) {
    const j = oneExtreme[i]!;
    if (j >= 0 && j === otherExtreme[i]) b.changed[b.indexes[j]!] = 0;
    else a.changed[a.indexes[i]!] = 1;
  }
  const changes = joinAcrossWeakRuns(changesFromMarks(a.changed, b.changed), ids);
  return changes.map((change) => placeRepetition(change, ids));
}

/** `[d][(k + d) / 2]` is the largest x on diagonal k = x - y within d edits of the start, or -1. */
type Reach = readonly Int32Array[];

/** The first half of Myers' algorithm; undefined above the limit. */
function measureReach(a: Int32Array, b: Int32Array): Reach | undefined {
  const reach: Int32Array[] = [];
  for (let d = 0; d <= EDIT_LIMIT; d++) {
    const before = reach[d - 1];
    const now = new Int32Array(d + 1).fill(-1);
    reach.push(now);
    const kMin = Math.max(0, d - b.length) * 2 - d;
    const kMax = d - Math.max(0, d - a.length) * 2;
    for (let k = kMin; k <= kMax; k += 2) {
      const at = (k + d) / 2;
      // an edit may lead out of the graph; the last point inside is as near, since distances grow along a
      // diagonal
      const afterDeletion = at > 0 ? Math.min(before![at - 1]! + 1, a.length) : 0;
      const afterInsertion = at < d ? Math.min(before![at]!, b.length + k) : 0;
      let x = Math.max(afterDeletion, afterInsertion);
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      now[at] = x;
      if (x === a.length && x - k === b.length) return reach;
    }
  }
  return undefined;
}

/**
 * Walks back from the end, choosing the preferred kind of edit where possible. Gives each line of a its equal
 * in b, or -1.
 */
function walkBack(
  a: Int32Array,
  b: Int32Array,
  walk: { reach: Reach; prefer: "deletion" | "insertion" },
): Int32Array {
  const matches = new Int32Array(a.length).fill(-1);
  const prefersDeletion = walk.prefer === "deletion";
  let [x, y, d] = [a.length, b.length, walk.reach.length - 1];
  while (x > 0 || y > 0) {
    const row = walk.reach[d - 1];
    const isPreferred = prefersDeletion ? isReached(row, x - 1, y) : isReached(row, x, y - 1);
    if (!isPreferred && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      matches[--x] = --y;
      continue;
    }
    d--;
    if (isPreferred === prefersDeletion) x--;
    else y--;
  }
  return matches;
}

function isReached(row: Int32Array | undefined, x: number, y: number): boolean {
  if (row === undefined || x < 0 || y < 0) return false;
  const at = (x - y + row.length - 1) / 2;
  return at >= 0 && at < row.length && row[at]! >= x;
}

/**
 * A change that only adds or removes a repetition ("a" → "a a") goes to git's conventional place, the last
 * possible one. Otherwise adding a function would conflict with every change at the end of the function
 * before it.
 */
function placeRepetition(change: LineChange, { aIds, bIds }: LineIds): LineChange {
  const [aStart, aEnd, bStart, bEnd] = change;
  const kept = Math.min(aEnd - aStart, bEnd - bStart);
  for (let at = 0; at < kept; at++) {
    if (aIds[aStart + at] !== bIds[bStart + at]) return change;
    if (aIds[aEnd - kept + at] !== bIds[bEnd - kept + at]) return change;
  }
  return [aStart + kept, aEnd, bStart + kept, bEnd];
}

/**
 * One change from the first difference to the last, widened to lines that occur only once: no alignment
 * shifts those.
 */
function wholeChange(ids: LineIds): LineChange {
  const { aIds, bIds } = ids;
  const isRepeated = findRepeated(ids);
  const shorter = Math.min(aIds.length, bIds.length);
  let start = 0;
  while (start < shorter && aIds[start] === bIds[start]) start++;
  while (start > 0 && isRepeated[aIds[start - 1]!] === 1) start--;
  let [aEnd, bEnd] = [aIds.length, bIds.length];
  while (aEnd > start && bEnd > start && aIds[aEnd - 1] === bIds[bEnd - 1])
    [aEnd, bEnd] = [aEnd - 1, bEnd - 1];
  while (aEnd < aIds.length && isRepeated[aIds[aEnd]!] === 1) [aEnd, bEnd] = [aEnd + 1, bEnd + 1];
  return [start, aEnd, start, bEnd];
}
