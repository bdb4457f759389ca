/** The two sides of a conflict as people see them: the lines that exclude each other. */
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "../diff/content-kind.ts";
import { diffLines, splitLines, type Lines } from "../diff/lines.ts";
import type { Entry } from "../model/entry.ts";
import type { ConflictSide } from "../model/plan.ts";
import type { MergePlace } from "./merge3.ts";
import type { LineRange } from "./touching-changes.ts";

/** The two entries that a conflict is between. */
export interface Contested {
  readonly now: Entry | undefined;
  readonly wanted: Entry | undefined;
  /** Where a merge found the clash. Without it, the first difference is shown. */
  readonly region?: Pick<MergePlace, "ours" | "theirs"> | undefined;
}

type Read = (entry: Entry & { kind: "file" | "symlink" }) => Buffer;

/** The present and the wanted side of a conflict. */
export function conflictSides(
  { now, wanted, region }: Contested,
  read: Read,
): { ours: ConflictSide; theirs: ConflictSide } {
  const [ours, theirs] = [linesOf(now, read), linesOf(wanted, read)];
  const place = region ?? firstDifference(ours ?? [], theirs ?? []);
  return { ours: sideOf(now, ours, place.ours), theirs: sideOf(wanted, theirs, place.theirs) };
}

/** Undefined for content without lines. */
function linesOf(entry: Entry | undefined, read: Read): Lines | undefined {
  if (entry?.kind !== "file" && entry?.kind !== "symlink") return undefined;
  if (entry.size > TEXT_DIFF_LIMIT_BYTES) return undefined;
  const content = read(entry);
  return isBinary(content) ? undefined : splitLines(content);
}

function firstDifference(ours: Lines, theirs: Lines): { ours: LineRange; theirs: LineRange } {
  const [oursStart = 0, oursEnd = 0, theirsStart = 0, theirsEnd = 0] = diffLines(ours, theirs)[0] ?? [];
  return { ours: { start: oursStart, end: oursEnd }, theirs: { start: theirsStart, end: theirsEnd } };
}

const SHOWN_LINES = 5;

function sideOf(entry: Entry | undefined, lines: Lines | undefined, range: LineRange): ConflictSide {
  const kind = entry?.kind ?? "absent";
  if (lines === undefined) return { kind, lines: [], line: null, more: 0 };
  const all = lines.slice(range.start, range.end);
  const shown = all.slice(0, SHOWN_LINES).map(asText);
  return { kind, lines: shown, line: range.start + 1, more: all.length - shown.length };
}

function asText(line: string): string {
  return Buffer.from(line.replace(/\r?\n$/, ""), "latin1").toString("utf8");
}
