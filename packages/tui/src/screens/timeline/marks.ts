/** The two marks of a comparison. */
import type { Chosen, HistoryRow } from "../../data/history-row.ts";
import { DISK, type StatePair } from "../../data/comparisons.ts";
import { clockSeconds } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";

/** The marked rows, A first. */
export type Marks = readonly HistoryRow[];

/** Marks a row, or takes its mark away; a third mark replaces the older one. */
export function toggled(marks: Marks, row: HistoryRow): Marks {
  if (marks.some(({ ref }) => ref === row.ref)) return marks.filter(({ ref }) => ref !== row.ref);
  return [...marks, row].slice(-2);
}

/** The mark of a row of the timeline. */
export function markOf(marks: Marks, { ref }: HistoryRow): "A" | "B" | undefined {
  const at = marks.findIndex((row) => row.ref === ref);
  return at < 0 ? undefined : at === 0 ? "A" : "B";
}

/** The states that the marks compare; one mark is compared with the disk. */
export function pairOf([a, b]: Marks): StatePair | undefined {
  if (a === undefined) return undefined;
  return { from: stateOf(a), to: b === undefined ? DISK : stateOf(b) };
}

/** Rows that are states, not changes. */
const STATES = new Set<HistoryRow["kind"]>(["checkpoint", "approved", "initial", "safety"]);

/** The state that a row offers: its own, or the one before it. */
export function stateOf(row: HistoryRow): string {
  return STATES.has(row.kind) ? row.id : (row.before ?? row.id);
}

/** Whether a row is a state, and not something that changed one. */
export function isState({ kind }: HistoryRow): boolean {
  return STATES.has(kind);
}

/** `10:42:03 before Add retry…`: the state of a row in a sentence. */
export function stateName(row: HistoryRow): string {
  return `${clockSeconds(row.at)} ${isState(row) ? "" : "before "}${visibleLine(row.title)}`;
}

/** The title of a row, or of one of its steps: `Edit src/payments/client.ts`. */
export function chosenTitle({ row, step }: Chosen): string {
  if (step === undefined) return visibleLine(row.title);
  return visibleLine([step.tool, step.summary].filter((part) => part !== null).join(" "));
}
