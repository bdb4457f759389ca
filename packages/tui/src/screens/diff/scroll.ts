/** Where a diff stands, and what can be taken back from it. */
import type { ComparedLines } from "../../data/comparisons.ts";
import type { DiffRow } from "./diff-rows.ts";

/** Taking back a part of what the diff shows. */
export interface TakeBack {
  file(path: string): void;
  /** Left out where there is no change to take a part out of. */
  hunk?(path: string, hunk: ComparedLines["hunks"][number]): void;
}

/** Where the window stands in the rows of a file, and which hunk is the one to act on. */
export interface Scroll {
  readonly top: number;
  readonly shift: number;
  readonly hunk: number;
}

/** The hunk at the top of the window: the last that began there or above, else the first. */
export function hunkAt(rows: readonly DiffRow[], top: number): number {
  for (let at = Math.min(top + 1, rows.length - 1); at >= 0; at -= 1) {
    const row = rows[at]!;
    if ("hunk" in row) return row.hunk;
  }
  return 0;
}
