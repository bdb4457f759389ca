/** Parts of the history without a gap in them, and how they become one. */
import type { CallOutput } from "@belay/protocol";

type HistoryRow = CallOutput<"GET /api/history">["rows"][number];

/** Rows that follow each other without a gap; all with a seq of at least `next` are there, null: down to the oldest. */
export interface Stretch {
  readonly rows: readonly HistoryRow[];
  readonly next: number | null;
}

/** Places in the list, counted from the newest row. */
export interface Places {
  readonly first: number;
  readonly last: number;
}

/** Whether no row is missing between two stretches. */
export function meet(upper: Stretch, lower: Stretch): boolean {
  return upper.next === null || upper.next <= (lower.rows[0]?.seq ?? 0);
}

/** Two stretches as one; where both have a row, that of the second counts. */
export function joined(upper: Stretch, other: Stretch): Stretch {
  return { rows: merged(upper.rows, other.rows), next: lowest(upper.next, other.next) };
}

/** How far down two stretches reach. */
export function lowest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.min(one, other);
}

/** Both lists, newest first; a row of the second replaces the same row of the first. */
export function merged(first: readonly HistoryRow[], second: readonly HistoryRow[]): HistoryRow[] {
  const byRef = new Map(first.map((row) => [row.ref, row]));
  for (const row of second) byRef.set(row.ref, row);
  return [...byRef.values()].sort((a, b) => b.seq - a.seq);
}
