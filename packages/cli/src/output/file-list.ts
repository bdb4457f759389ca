/** Lists of paths with a remark each: changed files, gaps, excluded paths. */
import type { CheckpointDetails, Doubt, ExcludedRoot, ExportedFile, FileChange, Gap } from "@belay/engine";
import type { Output } from "./output.ts";
import { gapWords, grouped, reasonWords, size, type CaptureLimits } from "@belay/tui/text";
import type { Style } from "./style.ts";
import { table, type Cell } from "./table.ts";
import { visible, visiblePath } from "./visible.ts";

const SHOWN = 20;

/** `A src/a.ts +12`, at most 20 rows unless all are requested. */
export function changedFileList(
  files: readonly FileChange[],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(files, { output, all }, (shown) => {
    const rows = shown.map((file) => changedFileRow(file, output.style));
    return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 1 });
  });
}

/** Gaps with their reasons, and the limits that they may be over. */
export function gapList(
  gaps: readonly Gap[],
  limits: CaptureLimits,
  { output, all }: { readonly output: Output; readonly all: boolean | undefined },
): string {
  return remarkList(
    gaps.map((gap) => ({ path: gap.path, remark: gapWords(gap, limits) })),
    output,
    all,
  );
}

/** Doubts with their reasons. */
export function doubtList(doubts: readonly Doubt[], output: Output, all: boolean | undefined): string {
  return remarkList(
    doubts.map(({ path, reason }) => ({ path, remark: reasonWords(reason) })),
    output,
    all,
  );
}

/** Paths with a highlighted remark each. */
function remarkList(
  items: readonly { readonly path: Gap["path"]; readonly remark: string }[],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(items, { output, all }, (shown) => {
    const rows = shown.map(({ path, remark }) => [
      { text: visiblePath(path) },
      { text: remark, paint: output.style.yellow },
    ]);
    return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 0 });
  });
}

/** What is not protected, with its size and the rule: `data/  1.2 GiB  .gitignore:3` */
export function excludedList(
  roots: readonly ExcludedRoot[],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(roots, { output, all }, (shown) => {
    const rows = shown.map((root) => [
      { text: visiblePath(root.path) },
      { text: root.bytes === null ? "" : size(root.bytes) },
      { text: visible(root.rule), paint: output.style.dim },
    ]);
    return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 0, right: [1] });
  });
}

/** Files outside the workspace that a checkpoint holds. */
export function outsideFiles(
  files: CheckpointDetails["outside"],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(files, { output, all }, (shown) => {
    const rows = shown.map(({ path, entry }) => [
      { text: visible(path) },
      { text: entry === undefined ? "did not exist" : size(entry.size), paint: output.style.dim },
    ]);
    return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 0 });
  });
}

/** Files of a checkpoint, one a line; `long`: with permissions and sizes. */
export function fileTable(files: readonly ExportedFile[], output: Output, long: boolean): string {
  if (!long) return files.map(({ path }) => visiblePath(path)).join("\n");
  const rows = files.map(({ path, kind, mode, size: bytes }) => [
    { text: kind === "symlink" ? "link" : mode.toString(8), paint: output.style.dim },
    { text: size(bytes) },
    { text: visiblePath(path) },
  ]);
  return table(rows, { width: output.width, flexible: 2, right: [1] });
}

/**
 * On a terminal the first 20 and how many more there are: a list never looks complete when it is not. In a
 * pipe or file, and with `--all`, everything.
 */
export function listText<Item>(
  items: readonly Item[],
  { output, all }: { output: Output; all: boolean | undefined },
  render: (shown: readonly Item[]) => string,
): string {
  const rest = all === true || !output.isTerminal ? 0 : items.length - SHOWN;
  if (rest <= 0) return render(items);
  return `${render(items.slice(0, SHOWN))}\n  … and ${grouped(rest)} more (--all shows them)`;
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
