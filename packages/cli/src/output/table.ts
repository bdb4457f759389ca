/** Rows in aligned columns. On a terminal some columns shrink or go, so that every row fits its line. */
import { cutToWidth, displayWidth, padToWidth } from "@belay/tui/text";
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
  /** Columns to leave out, in this order, when rows are still too long. */
  readonly dispensable?: readonly number[];
  /** Columns aligned to the right: numbers. */
  readonly right?: readonly number[];
  readonly indent?: string;
}

const GUTTER = "  ";
const NARROWEST = 12;

/** Formats rows in aligned columns. */
export function table(rows: readonly (readonly Cell[])[], options: TableOptions): string {
  const widest = widestCells(rows);
  const columns = fittingColumns(widest, options);
  const widths = fittingWidths(widest, columns, options);
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
    column === options.flexible ? Math.min(width, NARROWEST) : width,
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
  if (excess > 0) widths[flexible] = Math.max(NARROWEST, widths[flexible] - excess);
  return widths;
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
    const text = column === options.flexible ? cutToWidth(cell.text, width) : cell.text;
    const painted = cell.paint?.(text) ?? text;
    if (options.right?.includes(column) === true) return padToWidth(painted, width, "left");
    return column === shown.at(-1) ? painted : padToWidth(painted, width);
  });
  return ((options.indent ?? "") + cells.join(GUTTER)).trimEnd();
}
