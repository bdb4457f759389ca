/** Lists of paths with something about each: changed files, gaps, what stays out. */
import type { Doubt, ExcludedRoot, FileChange, Gap } from "@belay/engine";
import type { Output } from "./output.ts";
import { grouped, size } from "./quantity.ts";
import { reasonWords } from "./reasons.ts";
import type { Style } from "./style.ts";
import { table, type Cell } from "./table.ts";
import { visible, visiblePath } from "./visible.ts";

const SHOWN = 20;

/** `A src/a.ts +12`, at most 20 of them unless all are wanted. */
export function changedFileList(
  files: readonly FileChange[],
  output: Output,
  all: boolean | undefined,
): string {
  const rows = shown(files, all).map((file) => changedFileRow(file, output.style));
  return withRest(table(rows, { width: output.width, indent: "  ", flexible: 1 }), files.length, all);
}

export function gapList(gaps: readonly Gap[], output: Output, all: boolean | undefined): string {
  const rows = shown(gaps, all).map((gap) => [
    { text: visiblePath(gap.path) },
    { text: gapText(gap), paint: output.style.yellow },
  ]);
  return withRest(table(rows, { width: output.width, indent: "  ", flexible: 0 }), gaps.length, all);
}

function gapText({ reason, size: bytes }: Gap): string {
  return bytes > 0 ? `${size(bytes)}, ${reasonWords(reason)}` : reasonWords(reason);
}

export function doubtList(doubts: readonly Doubt[], output: Output, all: boolean | undefined): string {
  const rows = shown(doubts, all).map((doubt) => [
    { text: visiblePath(doubt.path) },
    { text: reasonWords(doubt.reason), paint: output.style.yellow },
  ]);
  return withRest(table(rows, { width: output.width, indent: "  ", flexible: 0 }), doubts.length, all);
}

/** `data/  1.2 GiB  .gitignore:3` */
export function excludedList(
  roots: readonly ExcludedRoot[],
  output: Output,
  all: boolean | undefined,
): string {
  const rows = shown(roots, all).map((root) => [
    { text: visiblePath(root.path) },
    { text: root.bytes === null ? "" : size(root.bytes) },
    { text: visible(root.rule), paint: output.style.dim },
  ]);
  return withRest(
    table(rows, { width: output.width, indent: "  ", flexible: 0, right: [1] }),
    roots.length,
    all,
  );
}

/** The first 20, or all. */
export function shown<Item>(items: readonly Item[], all: boolean | undefined): readonly Item[] {
  return all === true ? items : items.slice(0, SHOWN);
}

/** Says how many were left out: a list never looks complete when it is not. */
export function withRest(text: string, total: number, all: boolean | undefined): string {
  const rest = all === true ? 0 : total - SHOWN;
  return rest > 0 ? `${text}\n  … and ${grouped(rest)} more (--all shows them)` : text;
}

const LETTERS = { added: "A", modified: "M", deleted: "D", renamed: "R", mode: "m" } as const;

function changedFileRow(file: FileChange, style: Style): Cell[] {
  const { green, red, yellow, cyan } = style;
  const paint = { added: green, modified: yellow, deleted: red, renamed: cyan, mode: cyan }[file.type];
  const former = file.from === undefined ? "" : `${visiblePath(file.from)} → `;
  const cells = [
    { text: LETTERS[file.type], paint },
    { text: former + visiblePath(file.path) },
    { text: lineCounts(file), paint: (text: string) => paintCounts(text, style) },
  ];
  return file.attribution === null ? cells : [...cells, { text: file.attribution, paint: style.dim }];
}

function lineCounts(file: FileChange): string {
  if (file.gap !== undefined) return `not captured: ${reasonWords(file.gap)}`;
  if (file.binary) return "binary";
  if (file.tooLarge) return "too large to compare";
  if (file.type === "mode") return "permissions";
  const added = file.linesAdded ? [`+${file.linesAdded}`] : [];
  return [...added, ...(file.linesDeleted ? [`-${file.linesDeleted}`] : [])].join(" ");
}

function paintCounts(text: string, style: Style): string {
  if (!/^[+-]\d/.test(text)) return style.dim(text);
  return text.replace(/[+-]\d+/g, (part) => (part.startsWith("+") ? style.green(part) : style.red(part)));
}
