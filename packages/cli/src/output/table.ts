/** Rows in aligned columns. On a terminal one column gives way, so that every row stays on its line. */
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
  /** Columns aligned to the right: numbers. */
  readonly right?: readonly number[];
  readonly indent?: string;
}

const GUTTER = "  ";
const NARROWEST = 12;

export function table(rows: readonly (readonly Cell[])[], options: TableOptions): string {
  const widths = columnWidths(rows, options);
  return rows.map((row) => formatRow(row, widths, options)).join("\n");
}

function columnWidths(rows: readonly (readonly Cell[])[], options: TableOptions): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell.text))));
  }
  const { flexible } = options;
  if (flexible === undefined || widths[flexible] === undefined) return widths;
  const total = widths.reduce((sum, width) => sum + width, 0) + GUTTER.length * (widths.length - 1);
  const excess = total + (options.indent?.length ?? 0) - options.width;
  if (excess > 0) widths[flexible] = Math.max(NARROWEST, widths[flexible] - excess);
  return widths;
}

function formatRow(row: readonly Cell[], widths: readonly number[], options: TableOptions): string {
  const cells = row.map((cell, column) => {
    const width = widths[column] ?? 0;
    const text = column === options.flexible ? cutToWidth(cell.text, width) : cell.text;
    const painted = cell.paint?.(text) ?? text;
    if (options.right?.includes(column) === true) return padToWidth(painted, width, "left");
    return column === row.length - 1 ? painted : padToWidth(painted, width);
  });
  return ((options.indent ?? "") + cells.join(GUTTER)).trimEnd();
}
