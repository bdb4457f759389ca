/** A row in words: its title, its name for readers, what its buttons are called. */
import type { HistoryRow } from "../data/history.ts";
import { agentName, clock, duration, quantity, quoted, visible, WORDS } from "../words.ts";

/** The title of a row of the timeline, in one line. */
export function titleOf(row: HistoryRow): string {
  if (row.kind === "hand") return row.title || WORDS.byHand;
  return visible(row.title.replaceAll(/\s+/g, " ").trim()) || "(no words)";
}

/** How many files a row of the timeline changed. */
export function filesOf({ added, modified, deleted }: HistoryRow): number {
  return added + modified + deleted;
}

/** "1 min 12 s"; empty where it is not known. */
export function lengthOf({ at, endedAt, kind }: HistoryRow): string {
  return endedAt === null || kind !== "turn" ? "" : duration(Date.parse(endedAt) - Date.parse(at));
}

/** A row of the timeline as a sentence, for screen readers. */
export function sentenceOf(row: HistoryRow): string {
  const files = filesOf(row);
  const state =
    row.status === "working"
      ? "working"
      : row.state === "undone"
        ? "undone"
        : row.status === "interrupted" || row.status === "failed"
          ? row.status
          : "";
  return [
    clock(row.at),
    row.kind === "turn" ? agentName(row.agent) : "",
    titleOf(row),
    row.name && row.kind !== "checkpoint" ? visible(row.name) : "",
    row.branch === undefined ? "" : `on ${visible(row.branch)}`,
    ...(row.begun ?? []).map((name) => `the branch ${visible(name)} began here`),
    row.path !== undefined ? visible(row.path) : files > 0 ? quantity(files, "file") : "",
    row.plus ? `${quantity(row.plus, "line")} added` : "",
    row.minus ? `${row.minus.toLocaleString("en")} removed` : "",
    row.damaged ? "damaged" : "",
    row.gaps > 0 ? `${row.gaps} not captured` : "",
    row.late > 0 ? `${row.late} captured late` : "",
    state,
    row.approved ? "approved" : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** The state that "Restore…" of a row goes to. */
export interface Target {
  readonly checkpoint: string;
  /** "before “…”", or the name of your checkpoint. */
  readonly name: string;
  readonly at: string;
}

/** Rows that are a state, not something between two. */
const STATES: ReadonlySet<HistoryRow["kind"]> = new Set(["checkpoint", "initial", "approved", "capture"]);

/** Where a row's restore button leads: before a turn, to a checkpoint itself. */
export function targetOf(row: HistoryRow): Target | undefined {
  if (STATES.has(row.kind)) {
    const isNamed = row.kind === "checkpoint" || row.kind === "capture";
    return {
      checkpoint: row.after ?? row.id,
      name: isNamed ? quoted(titleOf(row)) : titleOf(row),
      at: row.at,
    };
  }
  if (row.before === null) return undefined;
  return { checkpoint: row.before, name: `before ${quoted(titleOf(row))}`, at: row.at };
}

/** [R1940] The row that a restore led to: the one whose button goes there, or the one that ended there. */
export function goalOf(rows: readonly HistoryRow[], ref: string | null): string | undefined {
  const from = rows.find((row) => row.ref === ref);
  if (from?.target === undefined) return undefined;
  const older = rows.filter(({ seq }) => seq < from.seq);
  const goal =
    older.find((row) => targetOf(row)?.checkpoint === from.target) ??
    older.find(({ after }) => after === from.target);
  return goal?.ref;
}

/** The state of the files after a row of the timeline. */
export function afterOf(row: HistoryRow): Target | undefined {
  if (row.after === null) return undefined;
  return { checkpoint: row.after, name: `after ${quoted(titleOf(row))}`, at: row.endedAt ?? row.at };
}
