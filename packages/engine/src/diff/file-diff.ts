/** One changed file with its lines as data, for faces that draw a diff themselves. */
import type { FileChange } from "../model/file-change.ts";
import type { DiffHunk, FileDiff, FileDiffOptions, FileSide, ImageSize } from "../model/file-diff.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { gapOf, largestOf, typeOf, type ChangeRow, type Leaf } from "./change-rows.ts";
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "./content-kind.ts";
import { groupIntoHunks, hunkData } from "./hunks.ts";
import { imageSize } from "./image-size.ts";
import { diffLines, splitLines, withoutSpace } from "./lines.ts";
import { sumChanges } from "./unified.ts";

const CONTEXT_LINES = 3;

/** More lines are given only where all of a long diff is wanted. */
const SHOWN_LINES = 5000;

/** The largest file whose lines are compared at all. */
const LARGE_DIFF_LIMIT_BYTES = 10 * 1024 * 1024;

/** The mode that every symbolic link has. */
const LINK_MODE = 0o777;

/** The change of one file, line by line. */
export function fileDiff(objects: ObjectSource, row: ChangeRow, options: FileDiffOptions = {}): FileDiff {
  const gap = gapOf(row);
  const limit = options.large === true ? LARGE_DIFF_LIMIT_BYTES : TEXT_DIFF_LIMIT_BYTES;
  const tooLarge = gap === undefined && largestOf(row) > limit;
  const compared = tooLarge || gap !== undefined ? NOT_COMPARED : compareLines(objects, row, options);
  const { hunks, below, truncated, ...counts } = compared;
  const file: FileChange = {
    path: row.path,
    ...(row.formerPath === undefined ? {} : { from: row.formerPath }),
    type: typeOf(row),
    ...(gap === undefined ? {} : { gap }),
    tooLarge,
    ...counts,
    attribution: null,
  };
  return { file, before: sideOf(objects, row.from), after: sideOf(objects, row.to), hunks, below, truncated };
}

interface Compared extends Pick<FileChange, "binary" | "linesAdded" | "linesDeleted"> {
  readonly hunks: readonly DiffHunk[];
  readonly below: number;
  readonly truncated: boolean;
}

const NOT_COMPARED: Compared = {
  binary: false,
  linesAdded: null,
  linesDeleted: null,
  hunks: [],
  below: 0,
  truncated: false,
};

function compareLines(
  objects: ObjectSource,
  row: ChangeRow,
  { context = CONTEXT_LINES, whitespace = "exact", large = false }: FileDiffOptions,
): Compared {
  const [before, after] = [contentOf(objects, row.from), contentOf(objects, row.to)];
  if (isBinary(before) || isBinary(after)) return { ...NOT_COMPARED, binary: true };
  const [oldLines, newLines] = [splitLines(before), splitLines(after)];
  const changes =
    whitespace === "exact"
      ? diffLines(oldLines, newLines)
      : diffLines(withoutSpace(oldLines), withoutSpace(newLines));
  const hunks: DiffHunk[] = [];
  let shown = 0;
  for (const hunk of groupIntoHunks(changes, { context, oldLength: oldLines.length })) {
    if (!large && shown >= SHOWN_LINES)
      return { binary: false, ...sumChanges(changes), hunks, below: 0, truncated: true };
    hunks.push(hunkData(hunk, oldLines, newLines));
    shown += hunks.at(-1)!.lines.length;
  }
  const last = hunks.at(-1);
  const below = last === undefined ? 0 : oldLines.length - (endOf(last) - 1);
  return { binary: false, ...sumChanges(changes), hunks, below, truncated: false };
}

/** The number of the first old line after a hunk; one without old lines names the line before it. */
function endOf({ oldStart, oldLines }: DiffHunk): number {
  return oldLines === 0 ? oldStart + 1 : oldStart + oldLines;
}

function contentOf(objects: ObjectSource, entry: Leaf | undefined): Buffer {
  return entry === undefined || entry.kind === "gap" ? Buffer.alloc(0) : objects.read(entry.hash);
}

function sideOf(objects: ObjectSource, entry: Leaf | undefined): FileSide | null {
  if (entry === undefined) return null;
  const { kind, size } = entry;
  if (kind === "gap") return { kind, mode: null, size, hash: null, gap: entry.reason };
  const { hash } = entry;
  if (kind === "symlink")
    return { kind, mode: LINK_MODE, size, hash, target: objects.read(hash).toString("utf8") };
  const image = imageOf(objects, entry);
  return { kind, mode: entry.mode, size, hash, ...(image && { image }) };
}

/** Only the first piece is read: each piece is verified by itself. */
function imageOf(objects: ObjectSource, { hash }: Leaf & { kind: "file" }): ImageSize | undefined {
  for (const head of objects.pieces(hash)) return imageSize(head);
  return undefined;
}
