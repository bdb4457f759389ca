/** Rows in aligned columns. On a terminal some columns give way, so that every row stays on its line. */
import { cutToWidth, displayWidth, padToWidth } from "./display-width.ts";
import type { Paint } from "./style.ts";

export interface Cell {
  readonly text: string;
  readonly paint?: Paint;
}

export interface TableOptions {
  readonly width: number;
  /** The column that is cut when a row is too long. */
  readonly flexible?: number;
  /** Columns that are left out, the first of them first, where a row would be too long all the same. */
  readonly dispensable?: readonly number[];
  /** Columns aligned to the right: numbers. */
  readonly right?: readonly number[];
  readonly indent?: string;
}

const GUTTER = "  ";
const NARROWEST = 12;

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

/** The columns that are shown: those that can be done without go until the others fit. */
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

/** By how much these columns are too wide together. */
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
