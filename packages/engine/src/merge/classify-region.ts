/**
 * What kind of clash a conflict region is. `format`: one side changed only the layout there, so the other side's text is
 * the result. `disjoint`: the changes touch without excluding each other; joining them is a proposal, never certain
 * (people had committed the same text in 61 of 100 such files). `overlap`: the rest, for which there is no proposal.
 */
import { diffLines, joinLines, type LineChange, type Lines } from "../diff/lines.ts";
import type { RegionClass } from "../model/merge.ts";
import { mergePieces, type MergePlace } from "./merge3.ts";

/** The lines of the three versions of a file. */
export interface Versions {
  readonly base: Lines;
  readonly ours: Lines;
  readonly theirs: Lines;
}

/** True when two contents differ in layout only; undefined when their language is unknown. */
export type SameSyntax = (a: Buffer, b: Buffer) => boolean | undefined;

/** What a region is, and the lines that would settle it; an overlap has none. */
export type ClassifiedRegion =
  | { readonly class: Exclude<RegionClass, "overlap">; readonly lines: Lines }
  | { readonly class: "overlap"; readonly lines?: undefined };

/** Longer regions are not merged token by token. */
const TOKEN_LIMIT = 20_000;

/** Says what kind of clash a region in conflict is. */
export function classifyRegion(
  versions: Versions,
  place: MergePlace,
  sameSyntax: SameSyntax,
): ClassifiedRegion {
  const base = versions.base.slice(place.base.start, place.base.end);
  const ours = versions.ours.slice(place.ours.start, place.ours.end);
  const theirs = versions.theirs.slice(place.theirs.start, place.theirs.end);
  const isSame = (a: Lines, b: Lines) =>
    // layout changes no word, and parsing costs a thousand times as much as finding that out
    wordsOf(a) === wordsOf(b) &&
    (sameSyntax(withRegion(versions.base, place, a), withRegion(versions.base, place, b)) ??
      isSameButBlanks(a, b));
  // where each would do, ours stays: the fewest files change
  if (isSame(ours, theirs) || isSame(base, theirs)) return { class: "format", lines: ours };
  if (isSame(base, ours)) return { class: "format", lines: theirs };
  const lines =
    joinTouching(base, ours, theirs) ?? joinInsertions(base, ours, theirs) ?? joinTokens(base, ours, theirs);
  return lines === undefined ? { class: "overlap" } : { class: "disjoint", lines };
}

function withRegion(base: Lines, place: MergePlace, lines: Lines): Buffer {
  return joinLines([...base.slice(0, place.base.start), ...lines, ...base.slice(place.base.end)]);
}

function wordsOf(lines: Lines): string {
  return (lines.join("").match(/[\w\x80-\xff]+/g) ?? []).join(" ");
}

/** Equal but for line ends, blanks at the end of lines, and blank lines. */
function isSameButBlanks(a: Lines, b: Lines): boolean {
  const [left, right] = [a, b].map((lines) =>
    lines.map((line) => line.trimEnd()).filter((line) => line !== ""),
  );
  return left!.length === right!.length && left!.every((line, at) => line === right![at]);
}

/** Both sides' changes, where each has base lines of its own. */
function joinTouching(base: Lines, ours: Lines, theirs: Lines): Lines | undefined {
  const changes = [
    ...diffLines(base, ours).map((change) => ({ change, side: ours })),
    ...diffLines(base, theirs).map((change) => ({ change, side: theirs })),
  ].sort((a, b) => a.change[0] - b.change[0] || a.change[1] - b.change[1]);
  const joined: string[] = [];
  let upTo = 0;
  let last: LineChange | undefined;
  for (const { change, side } of changes) {
    const [start, end, sideStart, sideEnd] = change;
    const isInsertion = start === end;
    if (last !== undefined && (start < last[1] || (isInsertion && last[0] === last[1] && start === last[0])))
      return undefined;
    joined.push(...base.slice(upTo, start), ...side.slice(sideStart, sideEnd));
    [upTo, last] = [end, change];
  }
  return [...joined, ...base.slice(upTo)];
}

/** Two insertions at one place: one contains the other, or they have no line in common. */
function joinInsertions(base: Lines, ours: Lines, theirs: Lines): Lines | undefined {
  if (base.length > 0) return undefined;
  if (contains(ours, theirs)) return ours;
  if (contains(theirs, ours)) return theirs;
  const lines = new Set(ours.map((line) => line.trim()).filter((line) => line !== ""));
  return theirs.some((line) => lines.has(line.trim())) ? undefined : [...withLineEnd(ours), ...theirs];
}

function contains(longer: Lines, shorter: Lines): boolean {
  for (let at = 0; at + shorter.length <= longer.length; at++)
    if (shorter.every((line, offset) => line === longer[at + offset])) return true;
  return false;
}

function withLineEnd(lines: Lines): Lines {
  const last = lines.at(-1);
  return last === undefined || last.endsWith("\n") ? lines : [...lines.slice(0, -1), `${last}\n`];
}

/** The changes merged word by word. */
function joinTokens(...versions: [base: Lines, ours: Lines, theirs: Lines]): Lines | undefined {
  const [base, ours, theirs] = versions.map((lines): Lines => lines.join("").match(/\w+|\s+|[^\w\s]/g) ?? []);
  const longest = Math.max(base!.length, ours!.length, theirs!.length);
  if (base!.length === 0 || longest > TOKEN_LIMIT) return undefined;
  const pieces = mergePieces(base!, ours!, theirs!);
  const merged = pieces.flatMap((piece) => (piece.conflict === undefined ? piece.lines : []));
  return pieces.some(({ conflict }) => conflict !== undefined) ? undefined : [merged.join("")];
}
