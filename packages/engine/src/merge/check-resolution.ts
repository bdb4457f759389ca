/**
 * Whether a resolution keeps to its conflict. A machine that resolves conflicts has been seen to leave marks, to edit
 * beside them, to bring back what was deleted and to drop a side's work, and to report success [I71].
 */
import { joinLines, splitLines, type Lines } from "../diff/lines.ts";
import { displayPath } from "../model/byte-path.ts";
import type { DroppedLine, MergeConflict, ResolutionProblem } from "../model/merge.ts";
import { checkResult } from "./check-result.ts";
import { mergePieces, type MergePlace } from "./merge3.ts";
import type { Syntax } from "./syntax.ts";

/** A proposed end of a conflict. */
export interface Resolution {
  readonly content: Buffer;
  /** What was left out or brought back on purpose. */
  readonly dropped?: readonly DroppedLine[];
}

/** Everything that a resolution does not keep to; nothing when it is good. For conflicts of text. */
export function checkResolution(
  conflict: Pick<MergeConflict, "path" | "content">,
  { content, dropped = [] }: Resolution,
  syntax?: Syntax,
): ResolutionProblem[] {
  const [base, ours, theirs] = (["base", "ours", "theirs"] as const).map(
    (version) => conflict.content(version) ?? Buffer.alloc(0),
  ) as [Buffer, Buffer, Buffer];
  const versions: Versions = { base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs) };
  const result = splitLines(content);
  const marks = findMarks(result, versions);
  const placed = placeRegions(result, versions);
  const outside: ResolutionProblem = {
    check: "outside",
    line: null,
    detail: "lines beside the conflict are not those of the merge",
  };
  const merge = { path: displayPath(conflict.path), base, ours, theirs, result: content };
  const { broken } = checkResult(merge, syntax);
  return [
    ...marks,
    ...(placed === undefined ? [outside] : placed.flatMap((region) => checkLines(region, versions, dropped))),
    ...broken.map(({ line, detail }): ResolutionProblem => ({ check: "broken", line, detail })),
  ];
}

interface Versions {
  readonly base: Lines;
  readonly ours: Lines;
  readonly theirs: Lines;
}

const MARK = /^(<{7}|\|{7}|={7}|>{7})(\s|$)/;

function findMarks(result: Lines, { ours, theirs }: Versions): ResolutionProblem[] {
  const known = new Set([...ours, ...theirs].filter((line) => MARK.test(line)));
  return result.flatMap((line, at): ResolutionProblem[] =>
    MARK.test(line) && !known.has(line)
      ? [{ check: "marks", line: at + 1, detail: "a conflict mark is left" }]
      : [],
  );
}

/** A conflict's place and the lines that the resolution has there. */
interface PlacedRegion {
  readonly place: MergePlace;
  readonly lines: Lines;
  /** Where they begin, counted from 1. */
  readonly line: number;
}

/** Finds the merged lines between the conflicts again; undefined where one of them was changed. */
function placeRegions(result: Lines, versions: Versions): PlacedRegion[] | undefined {
  const places: MergePlace[] = [];
  const between: string[][] = [[]];
  for (const piece of mergePieces(versions.base, versions.ours, versions.theirs)) {
    if (piece.conflict === undefined) between.at(-1)!.push(...piece.lines);
    else {
      places.push(piece.conflict);
      between.push([]);
    }
  }
  const regions: PlacedRegion[] = [];
  let at = between[0]!.length;
  if (!startsWith(result, 0, between[0]!)) return undefined;
  for (const [index, place] of places.entries()) {
    const rest = between[index + 1]!;
    const end = index === places.length - 1 ? result.length - rest.length : find(result, at, rest);
    if (end < at || !startsWith(result, end, rest)) return undefined;
    regions.push({ place, lines: result.slice(at, end), line: at + 1 });
    at = end + rest.length;
  }
  return at === result.length ? regions : undefined;
}

function startsWith(lines: Lines, at: number, wanted: Lines): boolean {
  return wanted.every((line, offset) => lines[at + offset] === line);
}

/** Where the wanted lines come first; -1 where they do not. */
function find(lines: Lines, from: number, wanted: Lines): number {
  for (let at = from; at + wanted.length <= lines.length; at += 1)
    if (startsWith(lines, at, wanted)) return at;
  return -1;
}

/** A line that a side added is there or named as dropped; one that a side deleted is not back unless named. */
function checkLines(
  { place, lines, line }: PlacedRegion,
  versions: Versions,
  dropped: readonly DroppedLine[],
): ResolutionProblem[] {
  const base = versions.base.slice(place.base.start, place.base.end).map(fold);
  const now = lines.map(fold);
  return (["ours", "theirs"] as const).flatMap((side) => {
    const own = versions[side].slice(place[side].start, place[side].end).map(fold);
    const named = new Set(
      dropped.filter((each) => each.side === side).flatMap(({ text }) => text.split("\n").map(fold)),
    );
    const isOpen = (text: string) => !isTrivial(text) && !named.has(text);
    const lost = own.filter((text) => isOpen(text) && !base.includes(text) && !now.includes(text));
    const back = now.filter((text) => isOpen(text) && base.includes(text) && !own.includes(text));
    return [
      ...lost.map((text): ResolutionProblem => ({
        check: "lost",
        line,
        detail: `${side} added "${shown(text)}"`,
      })),
      ...back.map((text): ResolutionProblem => ({
        check: "back",
        line,
        detail: `${side} deleted "${shown(text)}"`,
      })),
    ];
  });
}

/** Blanks do not count. */
function fold(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}

/** Braces, blank lines and rules say nothing about whose work a line is. */
function isTrivial(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(shown(text));
}

function shown(text: string): string {
  return joinLines([text]).toString();
}
