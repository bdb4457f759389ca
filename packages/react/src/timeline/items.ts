/** The list as it is drawn: "now", days, rows, folds of rows that changed nothing, and the steps of rows that are open. */
import type { History, HistoryRow } from "../data/history.ts";
import { dayName, dayOf, quantity } from "../words.ts";
import { filesOf } from "./row-text.ts";

/** One line of the list. */
export type Item =
  | { readonly kind: "now"; readonly key: string }
  | { readonly kind: "day"; readonly key: string; readonly name: string; readonly count: number | undefined }
  | { readonly kind: "row"; readonly key: string; readonly row: HistoryRow }
  /** Neighbours that changed nothing; `key` opens it. */
  | { readonly kind: "fold"; readonly key: string; readonly rows: readonly HistoryRow[] }
  | { readonly kind: "steps"; readonly key: string; readonly row: HistoryRow }
  /** A row that is not loaded; `at` counts from the newest. */
  | { readonly kind: "unloaded"; readonly key: string; readonly at: number };

/** What decides how the rows are drawn. */
export interface Drawn {
  /** Refs of rows whose steps are shown, and keys of folds that are open. */
  readonly open: ReadonlySet<string>;
  readonly isFiltered: boolean;
  /** Rows that changed nothing stand in one line until it is opened. */
  readonly isFolded: boolean;
  /** The selected row is never hidden in a fold. */
  readonly selected: string | null;
}

/** Everything that the list shows, in order. */
export function itemsOf(history: History, { open, isFiltered, isFolded, selected }: Drawn): Item[] {
  const counts = new Map(history.days.map(({ day, count }) => [day, count]));
  const items: Item[] = [];
  let day = "";
  const startDay = (its: string, name: string, isFurther = false) => {
    day = its;
    // a day that begins above what is not loaded goes on below it
    const key = isFurther ? `day ${its} further` : `day ${its}`;
    items.push({ kind: "day", key, name, count: counts.get(its) });
  };
  if (!isFiltered && history.now !== undefined) {
    startDay(dayOf(Date.now()), "Today");
    items.push({ kind: "now", key: "now" });
  }
  let folded: HistoryRow[] = [];
  const push = (row: HistoryRow) => {
    items.push({ kind: "row", key: `row ${row.ref}`, row });
    if (open.has(row.ref)) items.push({ kind: "steps", key: `steps ${row.ref}`, row });
  };
  const endFold = () => {
    if (folded.length === 0) return;
    const key = foldKey(folded);
    const isOpen = open.has(key) || folded.some(({ ref }) => ref === selected);
    if (isOpen) folded.forEach(push);
    else items.push({ kind: "fold", key, rows: folded });
    folded = [];
  };
  const leaveOut = (from: number, count: number) => {
    for (let at = from; at < from + count; at += 1)
      items.push({ kind: "unloaded", key: `unloaded ${at}`, at });
  };
  for (const [index, row] of history.rows.entries()) {
    if (index === history.head && history.between > 0) {
      endFold();
      leaveOut(history.head, history.between);
      day = "";
    }
    const its = dayOf(row.at);
    if (its !== day) {
      endFold();
      startDay(its, dayName(row.at), index >= history.head);
    }
    const isOldest = history.isComplete && row === history.rows.at(-1);
    if (isFolded && !isOldest && changedNothing(row)) folded.push(row);
    else {
      endFold();
      push(row);
    }
  }
  endFold();
  leaveOut(history.rows.length + history.between, history.below);
  return items;
}

/** The oldest row names a fold: rows that come later do not rename it. */
function foldKey(rows: readonly HistoryRow[]): string {
  return `fold-${rows.at(-1)!.ref}`;
}

/** Turns that only talked, safety checkpoints that a restore took by the way, and starts of threads. */
function changedNothing(row: HistoryRow): boolean {
  if (row.name !== null || row.note !== null || row.tags.length > 0 || row.gaps > 0) return false;
  if (row.kind === "safety") return true;
  if (row.kind === "initial") return filesOf(row) === 0;
  return row.kind === "turn" && row.status !== "working" && row.state !== "undone" && filesOf(row) === 0;
}

/** What a fold hides: "3 turns without changes, 4 safety checkpoints". */
export function foldWords(rows: readonly HistoryRow[]): string {
  const count = (wanted: HistoryRow["kind"]) => rows.filter(({ kind }) => kind === wanted).length;
  const [turns, safety, starts] = [count("turn"), count("safety"), count("initial")];
  return [
    turns > 0 ? `${quantity(turns, "turn")} without changes` : "",
    safety > 0 ? quantity(safety, "safety checkpoint") : "",
    starts > 0 ? quantity(starts, "start of a thread", "starts of threads") : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** The height of a line before it is measured. */
export function heightOf(item: Item, isCompact: boolean): number {
  if (item.kind === "day") return 32;
  if (item.kind === "fold") return 28;
  if (item.kind === "steps") return 28 * Math.max(1, Math.min(item.row.steps, 50)) + 8;
  if (isCompact) return 32;
  if (item.kind !== "row") return 54;
  if (item.row.kind === "approved") return 30;
  return item.row.title.length > 60 ? 74 : 54;
}
