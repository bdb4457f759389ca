/**
 * Finds where a file went that one side moved. Equal content is certain. Lines in common make a move likely: from nine
 * tenths on it is taken as one (8 of 8 clean results were what people had committed), from half on it is a proposal.
 */
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "../diff/content-kind.ts";
import { splitLines } from "../diff/lines.ts";
import { pairRenames, type PathEntry } from "../diff/renames.ts";
import { baseName, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { Edit } from "../model/plan.ts";

/** A move of a file, and how much of it stayed: 1 is all of it. */
export interface Move {
  readonly from: BytePath;
  readonly to: BytePath;
  readonly entry: Entry;
  readonly similarity: number;
}

/** A file's lines count as moved from this share on. */
export const CERTAIN_MOVE = 0.9;
const POSSIBLE_MOVE = 0.5;

/** Comparisons of contents for one merge; beyond them only equal content is found. */
const COMPARED_PAIRS = 2000;

/** The moves among one side's edits. Contents are read only for the paths that `isAsked` names. */
export function findMoves(
  edits: readonly Edit[],
  isAsked: (path: BytePath) => boolean,
  read: (entry: Entry) => Buffer,
): Map<BytePath, Move> {
  const deleted = edits.filter(({ from, to }) => from?.kind === "file" && to === undefined);
  const added = edits.filter(({ from, to }) => from === undefined && to?.kind === "file");
  const pairs = pairRenames(
    deleted.map(({ path, from }) => ({ path, entry: from! })),
    added.map(({ path, to }) => ({ path, entry: to! })),
  );
  const moves = new Map<BytePath, Move>();
  for (const { from, to } of pairs.renames)
    moves.set(from.path, { from: from.path, to: to.path, entry: to.entry, similarity: 1 });
  const asked = pairs.deleted.filter(({ path }) => isAsked(path));
  for (const move of likelyMoves(asked, pairs.added, read)) moves.set(move.from, move);
  return moves;
}

function likelyMoves(
  deleted: readonly PathEntry[],
  added: readonly PathEntry[],
  read: (entry: Entry) => Buffer,
): Move[] {
  if (deleted.length === 0 || deleted.length * added.length > COMPARED_PAIRS) return [];
  const lines = new Map<PathEntry, Map<string, number> | undefined>();
  const linesOf = (file: PathEntry) => {
    if (!lines.has(file)) lines.set(file, countLines(file.entry, read));
    return lines.get(file);
  };
  const found = deleted.flatMap((from) =>
    added.map((to) => ({ from, to, similarity: similarityOf(linesOf(from), linesOf(to)) })),
  );
  const isTaken = new Set<PathEntry>();
  return found
    .filter(({ similarity }) => similarity >= POSSIBLE_MOVE)
    .sort((a, b) => b.similarity - a.similarity || nameRank(b) - nameRank(a))
    .filter(({ from, to }) => {
      const isFree = !isTaken.has(from) && !isTaken.has(to);
      if (isFree) isTaken.add(from).add(to);
      return isFree;
    })
    .map(({ from, to, similarity }) => ({ from: from.path, to: to.path, entry: to.entry, similarity }));
}

function nameRank({ from, to }: { from: PathEntry; to: PathEntry }): number {
  return Number(baseName(from.path) === baseName(to.path));
}

/** undefined for content without lines */
function countLines(entry: Entry, read: (entry: Entry) => Buffer): Map<string, number> | undefined {
  if (entry.kind !== "file" || entry.size > TEXT_DIFF_LIMIT_BYTES) return undefined;
  const content = read(entry);
  if (isBinary(content)) return undefined;
  const counts = new Map<string, number>();
  for (const line of splitLines(content)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Lines in common, as a share of the longer file. */
function similarityOf(a: Map<string, number> | undefined, b: Map<string, number> | undefined): number {
  if (a === undefined || b === undefined) return 0;
  const total = (counts: Map<string, number>) => counts.values().reduce((sum, count) => sum + count, 0);
  const common = a.entries().reduce((sum, [line, count]) => sum + Math.min(count, b.get(line) ?? 0), 0);
  return common / Math.max(total(a), total(b), 1);
}
