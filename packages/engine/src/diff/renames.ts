/**
 * Finds moved files: deleted at one path and added at another with the same content. Only equal content
 * counts, so a pair is never a guess. A file that was moved and edited stays a deletion and an addition.
 */
import { baseName, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";

/** A file and where it is. */
export interface PathEntry {
  readonly path: BytePath;
  readonly entry: Entry;
}

/** A file and where it went. */
export interface Rename {
  readonly from: PathEntry;
  readonly to: PathEntry;
}

/** The pairs in order of their new paths, and the unpaired files of both sides in their given order. */
export interface RenamePairs {
  readonly renames: Rename[];
  readonly deleted: PathEntry[];
  readonly added: PathEntry[];
}

/**
 * Pairs each deleted file with at most one added file: those with the same base name first, then in path
 * order.
 */
export function pairRenames(deleted: readonly PathEntry[], added: readonly PathEntry[]): RenamePairs {
  const sources = groupByContent(deleted);
  const renames: Rename[] = [];
  for (const [content, targets] of groupByContent(added)) {
    const candidates = sources.get(content);
    if (candidates === undefined) continue;
    for (const pair of pairGroup(candidates, targets)) renames.push(pair);
  }
  const paired = new Set(renames.flatMap(({ from, to }) => [from, to]));
  return {
    renames: renames.sort((a, b) => comparePaths(a.to, b.to)),
    deleted: deleted.filter((file) => !paired.has(file)),
    added: added.filter((file) => !paired.has(file)),
  };
}

/** Pairs files of the same content: equal base names first, then the rest in order. */
function pairGroup(sources: readonly PathEntry[], targets: readonly PathEntry[]): Rename[] {
  const byName = Map.groupBy(sources, ({ path }) => baseName(path));
  const unmatched: PathEntry[] = [];
  const pairs: Rename[] = [];
  for (const to of targets) {
    const from = byName.get(baseName(to.path))?.shift();
    if (from === undefined) unmatched.push(to);
    else pairs.push({ from, to });
  }
  const rest = [...byName.values()].flat().sort(comparePaths);
  return [...pairs, ...unmatched.slice(0, rest.length).map((to, at) => ({ from: rest[at]!, to }))];
}

/**
 * Non-empty files by content, in path order. Empty files are all alike, so pairing them would mean nothing.
 */
function groupByContent(files: readonly PathEntry[]): Map<string, PathEntry[]> {
  const groups = Map.groupBy(files.toSorted(comparePaths), ({ entry }) => contentKey(entry));
  groups.delete(NO_CONTENT);
  return groups;
}

const NO_CONTENT = "";

function contentKey(entry: Entry): string {
  const hasContent = (entry.kind === "file" || entry.kind === "symlink") && entry.size > 0;
  return hasContent ? `${entry.kind} ${entry.hash}` : NO_CONTENT;
}

function comparePaths(a: PathEntry, b: PathEntry): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
