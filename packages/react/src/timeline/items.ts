/** The list as it is drawn: "now", days, rows, and the steps of rows that are open. */
import type { History, HistoryRow } from "../data/history.ts";
import { dayName, dayOf } from "../words.ts";

/** One line of the list. */
export type Item =
  | { readonly kind: "now"; readonly key: string }
  | { readonly kind: "day"; readonly key: string; readonly name: string; readonly count: number | undefined }
  | { readonly kind: "row"; readonly key: string; readonly row: HistoryRow }
  | { readonly kind: "steps"; readonly key: string; readonly row: HistoryRow }
  | { readonly kind: "unloaded"; readonly key: string };

/** Everything that the list shows, in order. */
export function itemsOf(history: History, open: ReadonlySet<string>, isFiltered: boolean): Item[] {
  const counts = new Map(history.days.map(({ day, count }) => [day, count]));
  const items: Item[] = [];
  let day = "";
  const startDay = (its: string, name: string) => {
    day = its;
    items.push({ kind: "day", key: `day ${its}`, name, count: counts.get(its) });
  };
  if (!isFiltered && history.now !== undefined) {
    startDay(dayOf(Date.now()), "Today");
    items.push({ kind: "now", key: "now" });
  }
  for (const row of history.rows) {
    const its = dayOf(row.at);
    if (its !== day) startDay(its, dayName(row.at));
    items.push({ kind: "row", key: `row ${row.ref}`, row });
    if (open.has(row.ref)) items.push({ kind: "steps", key: `steps ${row.ref}`, row });
  }
  const missing = history.isComplete ? 0 : Math.max(0, history.total - history.rows.length);
  for (let index = 0; index < missing; index += 1) items.push({ kind: "unloaded", key: `unloaded ${index}` });
  return items;
}

/** The height of a line before it is measured. */
export function heightOf(item: Item, isCompact: boolean): number {
  if (item.kind === "day") return 32;
  if (item.kind === "steps") return 28 * Math.max(1, Math.min(item.row.steps, 50)) + 8;
  if (isCompact) return 32;
  if (item.kind !== "row") return 54;
  if (item.row.kind === "approved") return 30;
  return item.row.title.length > 60 ? 74 : 54;
}
