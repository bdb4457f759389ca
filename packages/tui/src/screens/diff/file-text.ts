/** What is said of a file whose lines are not shown: binary, image, moved, too long, not captured. */
import type { ComparedFile, ComparedLines } from "../../data/comparisons.ts";
import type { LineCounts } from "../../text/line-counts.ts";
import { size } from "../../text/quantity.ts";
import { visibleLine } from "../../text/visible.ts";
import { DIFF_WORDS } from "../../words.ts";

type Side = NonNullable<ComparedLines["before"]>;

/** The letter of a change. */
export const LETTERS: Readonly<Record<ComparedFile["type"], string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  mode: "M",
};

/** A changed file in the list of the diff screen: `M src/a.ts`, `R src/wait.ts -> sleep.ts` */
export function fileName({ type, path, from }: ComparedFile): string {
  return `${LETTERS[type]} ${from === undefined ? visibleLine(path) : movedName(from, path)}`;
}

/** The new name without the directory that both have. */
export function movedName(from: string, path: string): string {
  const directory = from.slice(0, from.lastIndexOf("/") + 1);
  const to = directory !== "" && path.startsWith(directory) ? path.slice(directory.length) : path;
  return `${visibleLine(from)} -> ${visibleLine(to)}`;
}

/** How many lines of a file changed. */
export function countsOf({
  linesAdded: plus,
  linesDeleted: minus,
}: Pick<ComparedFile, "linesAdded" | "linesDeleted">): LineCounts {
  return { plus, minus };
}

/** Sentences about a file beside its hunks, or instead of them. */
export function fileSentences({ file, before, after, hunks, truncated }: ComparedLines): string[] {
  if (file === null) return [DIFF_WORDS.same];
  const gap = before?.gap ?? after?.gap ?? file.gap;
  if (gap !== undefined) return [DIFF_WORDS.gap(visibleLine(gap))];
  return [
    ...modeSentence(before, after),
    ...(before?.kind === "symlink" || after?.kind === "symlink"
      ? [DIFF_WORDS.link(linkOf(before), linkOf(after))]
      : []),
    ...(file.type === "renamed" && hunks.length === 0 && !file.binary ? [DIFF_WORDS.moved] : []),
    ...(file.binary ? [binarySentence(before, after)] : []),
    ...(truncated ? [DIFF_WORDS.long((file.linesAdded ?? 0) + (file.linesDeleted ?? 0))] : []),
    ...(file.tooLarge && !file.binary && !truncated ? [DIFF_WORDS.huge(sizeOf(before), sizeOf(after))] : []),
  ];
}

function modeSentence(before: Side | null, after: Side | null): string[] {
  if (before === null || after === null || before.mode === null || after.mode === null) return [];
  if (before.mode === after.mode) return [];
  return [DIFF_WORDS.mode(octal(before.mode), octal(after.mode))];
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8);
}

function linkOf(side: Side | null): string {
  return side === null ? DIFF_WORDS.nothing : visibleLine(side.target ?? DIFF_WORDS.file);
}

function binarySentence(before: Side | null, after: Side | null): string {
  const image = before?.image ?? after?.image;
  if (image === undefined) return DIFF_WORDS.binary(sizeOf(before), sizeOf(after));
  return DIFF_WORDS.image(image.format, imageOf(before), imageOf(after));
}

function imageOf(side: Side | null): string {
  if (side?.image === undefined) return sizeOf(side);
  return `${side.image.width}x${side.image.height}, ${size(side.size)}`;
}

function sizeOf(side: Side | null): string {
  return side === null ? DIFF_WORDS.nothing : size(side.size);
}
