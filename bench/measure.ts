/** Timing and the small tables it ends in. */
import { execFileSync } from "node:child_process";

export function milliseconds(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function diskBytes(path: string): number {
  return Number(execFileSync("du", ["-sb", path], { encoding: "utf8" }).split("\t")[0]);
}

export interface Row {
  readonly work: string;
  readonly files: number;
  readonly belay: string;
  /** The other program: git, unless the table says which. */
  readonly git: string;
  readonly ratio: string;
  readonly budget: string;
  /** undefined = no budget for this row */
  readonly holds: boolean | undefined;
}

export function printTable(rows: readonly Row[], other = "git"): void {
  const cells = rows.map(({ work, files, belay, git, ratio, budget, holds }) => [
    work,
    String(files),
    belay,
    git,
    ratio,
    budget,
    holds === undefined ? "" : holds ? "yes" : "NO",
  ]);
  const head = ["work", "files", "belay", other, "ratio", "budget", "holds"];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  console.log(line(head));
  console.log(line(widths.map((width) => "-".repeat(width))));
  for (const row of cells) console.log(line(row));
}

export function ms(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

export function mib(value: number): string {
  return `${(value / 1024 / 1024).toFixed(1)} MiB`;
}
