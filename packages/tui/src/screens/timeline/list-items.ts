/** What the pointer of the timeline can stand on: the files on disk, rows, and the steps of unfolded rows. */
import type { HistoryState } from "../../data/history.ts";
import type { HistoryRow, HistoryStep, UncapturedTurn } from "../../data/history-row.ts";

/** One of them. `number` is that of the row among the rows. */
export type ListItem =
  | { readonly is: "now" }
  | { readonly is: "row"; readonly row: HistoryRow; readonly number: number; readonly unfolded: boolean }
  | {
      readonly is: "step";
      readonly row: HistoryRow;
      readonly number: number;
      readonly step: HistoryStep;
      readonly isLast: boolean;
    };

/** What is unfolded, and the steps that are known. */
export interface Unfolding {
  readonly unfolded: ReadonlySet<string>;
  readonly steps: ReadonlyMap<string, readonly HistoryStep[]>;
}

/** The items, from the top. Where none of all rows equals the files on disk, these have a line of their own. */
export function listItems(
  { rows, now }: HistoryState,
  { unfolded, steps, isPart }: Unfolding & { readonly isPart: boolean },
): ListItem[] {
  const isCurrent = rows.some(({ sameAsNow }) => sameAsNow === true);
  const hasNow = now !== null && !isPart && !isCurrent && now.changed !== null && rows.length > 0;
  const items: ListItem[] = hasNow ? [{ is: "now" }] : [];
  for (const [number, row] of rows.entries()) {
    const shown = unfolded.has(row.ref) ? (steps.get(row.ref) ?? []) : [];
    items.push({ is: "row", row, number, unfolded: shown.length > 0 });
    for (const [at, step] of shown.entries())
      items.push({ is: "step", row, number, step, isLast: at === shown.length - 1 });
  }
  return items;
}

/** What names an item, whatever comes above it. */
export function itemKey(item: ListItem): string {
  if (item.is === "now") return "now";
  return item.is === "row" ? item.row.ref : `${item.row.ref} ${item.step.seq}`;
}

/** Turns that were not captured, right after a row and right before it. */
export interface LostTurns {
  readonly later: readonly UncapturedTurn[];
  readonly earlier: readonly UncapturedTurn[];
}

/** The turns that were not captured, between a row and the one above it; below the last row those before it. */
export function lostAround(
  { rows, uncaptured, isComplete }: Pick<HistoryState, "rows" | "uncaptured" | "isComplete">,
  number: number,
): LostTurns {
  if (uncaptured.length === 0) return NOTHING_LOST;
  const { seq } = rows[number]!;
  const above = number === 0 ? Number.POSITIVE_INFINITY : rows[number - 1]!.seq;
  const isLast = isComplete && number === rows.length - 1;
  return {
    later: uncaptured.filter(({ after }) => after >= seq && after < above),
    earlier: isLast ? uncaptured.filter(({ after }) => after < seq) : [],
  };
}

const NOTHING_LOST = { later: [], earlier: [] };
