/** Rows in aligned columns. On a terminal some columns shrink or go, so that every row fits its line. */
import { cutToWidth, displayWidth, padToWidth, pieces } from "@belay/tui/text";
import type { Paint } from "./style.ts";

/** One cell of a table. */
export interface Cell {
  readonly text: string;
  readonly paint?: Paint;
}

/** How a table fits its width. */
export interface TableOptions {
  readonly width: number;
  /** The column that is cut when a row is too long. */
  readonly flexible?: number;
  /** Breaks that column into lines instead of cutting it: for what is told nowhere else. */
  readonly wraps?: boolean;
  /** Columns to leave out, in this order, when rows are still too long. */
  readonly dispensable?: readonly number[];
  /** Columns aligned to the right: numbers. */
  readonly right?: readonly number[];
  readonly indent?: string;
}

const GUTTER = "  ";
const NARROWEST = 12;
/** Pieces that are read together need more. */
const NARROWEST_PIECE = 24;

/** Formats rows in aligned columns. */
export function table(rows: readonly (readonly Cell[])[], options: TableOptions): string {
  const widest = widestCells(rows);
  const columns = fittingColumns(widest, options);
  const widths = fittingWidths(widest, columns, options);
  if (options.wraps === true && excessOf(widths, columns, options) > 0)
    return stacked(rows, columns, options);
  return rows.map((row) => formatRow(row, { columns, widths }, options)).join("\n");
}

function widestCells(rows: readonly (readonly Cell[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell.text))));
  }
  return widths;
}

/** The shown columns: dispensable ones go until the rest fit. */
function fittingColumns(widths: readonly number[], options: TableOptions): number[] {
  const narrowest = widths.map((width, column) =>
    column === options.flexible ? Math.min(width, narrowestOf(options)) : width,
  );
  let columns = widths.map((_, column) => column);
  for (const column of options.dispensable ?? []) {
    if (excessOf(narrowest, columns, options) <= 0) break;
    columns = columns.filter((each) => each !== column);
  }
  return columns;
}

function fittingWidths(
  widest: readonly number[],
  columns: readonly number[],
  options: TableOptions,
): number[] {
  const widths = [...widest];
  const { flexible } = options;
  if (flexible === undefined || widths[flexible] === undefined) return widths;
  const excess = excessOf(widths, columns, options);
  if (excess > 0)
    widths[flexible] = Math.max(Math.min(widths[flexible], narrowestOf(options)), widths[flexible] - excess);
  return widths;
}

function narrowestOf({ wraps = false }: TableOptions): number {
  return wraps ? NARROWEST_PIECE : NARROWEST;
}

/** How many columns too wide these are together. */
function excessOf(
  widths: readonly number[],
  columns: readonly number[],
  { width, indent }: TableOptions,
): number {
  const cells = columns.reduce((sum, column) => sum + widths[column]!, 0);
  return cells + GUTTER.length * (columns.length - 1) + (indent?.length ?? 0) - width;
}

function formatRow(
  row: readonly Cell[],
  { columns, widths }: { columns: readonly number[]; widths: readonly number[] },
  options: TableOptions,
): string {
  const shown = columns.filter((column) => column < row.length);
  const cells = shown.map((column) => {
    const cell = row[column]!;
    const width = widths[column] ?? 0;
    const text = column === options.flexible ? firstPiece(cell.text, width, options) : cell.text;
    const painted = cell.paint?.(text) ?? text;
    if (options.right?.includes(column) === true) return padToWidth(painted, width, "left");
    return column === shown.at(-1) ? painted : padToWidth(painted, width);
  });
  const first = ((options.indent ?? "") + cells.join(GUTTER)).trimEnd();
  return [first, ...furtherLines(row, { columns, widths }, options)].join("\n");
}

function firstPiece(text: string, width: number, { wraps = false }: TableOptions): string {
  return wraps ? pieces(text, width)[0]! : cutToWidth(text, width);
}

/** What of the flexible column does not fit into its first line, below it. */
function furtherLines(
  row: readonly Cell[],
  { columns, widths }: { columns: readonly number[]; widths: readonly number[] },
  { flexible, wraps = false, indent = "" }: TableOptions,
): string[] {
  const cell = flexible === undefined || !wraps ? undefined : row[flexible];
  if (cell === undefined) return [];
  const before = columns.filter((column) => column < flexible!);
  const margin = before.reduce((sum, column) => sum + widths[column]! + GUTTER.length, indent.length);
  return pieces(cell.text, widths[flexible!]!)
    .slice(1)
    .map((piece) => " ".repeat(margin) + (cell.paint?.(piece) ?? piece));
}

/** Where not even the narrowest column has room beside the others, each row has what is behind it on a line of its own. */
function stacked(
  rows: readonly (readonly Cell[])[],
  columns: readonly number[],
  { width, flexible = 0, indent = "" }: TableOptions,
): string {
  // a colour that begins in one piece and ends in another would run into the margin
  const fitted = (cells: readonly Cell[], margin: string) => {
    const paint = cells.findLast(({ text }) => text !== "")?.paint;
    const text = cells.map((cell) => cell.text).join(GUTTER);
    return pieces(text, width - margin.length).map((piece) => margin + (paint?.(piece) ?? piece));
  };
  return rows
    .flatMap((row) => {
      const shown = columns.filter((column) => column < row.length);
      const behind = shown.filter((column) => column > flexible).map((column) => row[column]!);
      const head = shown.filter((column) => column <= flexible).map((column) => row[column]!);
      const rest = behind.filter(({ text }) => text !== "");
      return [...fitted(head, indent), ...(rest.length === 0 ? [] : fitted(rest, `${indent}    `))];
    })
    .join("\n");
}
