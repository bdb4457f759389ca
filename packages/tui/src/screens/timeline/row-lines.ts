/** The lines of one row of the timeline: time, mark and description, then per agent, then the files (M69 to M72). */
import type { HistoryRow, HistoryStep, Now, UncapturedTurn } from "../../data/history-row.ts";
import { fit, line, lineText, span, withRemark, type Line, type Look, type Span } from "../../frame/line.ts";
import type { Signs } from "../../terminal/signs.ts";
import { lineCounts } from "../../text/line-counts.ts";
import { clockSeconds, dayOf } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { ROW_WORDS } from "../../words.ts";
import type { LostTurns } from "./list-items.ts";

/** How rows are drawn. */
export interface RowStyle {
  readonly width: number;
  readonly signs: Signs;
  /** One line a row. */
  readonly compact: boolean;
  /** Beside the list stand the changes: remarks are short. */
  readonly narrow: boolean;
  /** A tall window: notes and a blank line after each row. */
  readonly tall: boolean;
  /** A column for A and B. */
  readonly marked: boolean;
  readonly clock: number;
}

/** What of a row depends on the user. */
export interface RowState {
  readonly selected: boolean;
  readonly mark: "A" | "B" | undefined;
  /** Its steps follow as items of their own. */
  readonly unfolded: boolean;
  /** The day begins with this row. */
  readonly day: string | undefined;
  readonly lost: LostTurns;
}

/** The lines of a row of the timeline. */
export function rowLines(row: HistoryRow, state: RowState, style: RowStyle): Line[] {
  const head = state.day === undefined ? [] : [line(`  ${state.day}`, { bold: true })];
  const body = row.kind === "approved" ? [approvedLine(row, state, style)] : eventLines(row, state, style);
  const { later, earlier } = state.lost;
  return [
    ...head,
    ...lostLines(later, style),
    ...body,
    ...lostLines(earlier, style),
    ...(style.tall && !state.unfolded ? [[]] : []),
  ];
}

/** Turns that were not captured; of many the newest, and how many more there are. */
export function lostLines(
  turns: readonly UncapturedTurn[],
  { width, signs }: Pick<RowStyle, "width" | "signs">,
): Line[] {
  const shown = turns.slice(0, MOST_LOST).map(({ at, prompt, problem }) => {
    const text = `! ${clockSeconds(at)} ${ROW_WORDS.lost(prompt === null ? "" : visibleLine(prompt))}`;
    const remark = line(fitProblem(visibleLine(problem), Math.floor(width / 2), signs), DIM);
    return withRemark(line(text, { colour: "yellow" }), remark, { width, signs });
  });
  const more = turns.length - shown.length;
  return more === 0 ? shown : [...shown, line(`  ${ROW_WORDS.moreLost(more)}`, { colour: "yellow" })];
}

const MOST_LOST = 3;

function fitProblem(problem: string, width: number, signs: Signs): string {
  return lineText(fit(line(problem), width, signs));
}

/** The line of a tool call that changed something. */
export function stepLines(
  step: HistoryStep,
  { selected, isLast }: { readonly selected: boolean; readonly isLast: boolean },
  style: RowStyle,
): Line[] {
  const { width, signs, tall } = style;
  const { at, tool, summary, plus, minus } = step;
  const text = `    ${clockSeconds(at)}   ${visibleLine(tool ?? "").padEnd(6)} ${visibleLine(summary ?? "")}`;
  const counts = lineCounts({ plus, minus });
  const look: Look = selected ? { colour: "cyan", bold: true } : DIM;
  return [
    withRemark([pointer(selected, signs), span(text, look)], line(counts, DIM), { width, signs }),
    ...(tall && isLast ? [[]] : []),
  ];
}

/** The line of the files on disk, where they equal no row. */
export function nowLines(
  now: Now,
  newest: HistoryRow | undefined,
  selected: boolean,
  style: RowStyle,
): Line[] {
  const { signs, width, tall } = style;
  const text = `${clockSeconds(now.at)} ${signs.current} ${style.marked ? "  " : ""}${nowText(now, newest)}`;
  const look: Look = { colour: "green", bold: selected };
  return [
    withRemark([pointer(selected, signs), span(text, look)], [], { width, signs }),
    ...(tall ? [[]] : []),
  ];
}

/** The row of the present state: `now, 1 file changed since 10:52:31` */
export function nowText({ changed }: Now, newest: HistoryRow | undefined): string {
  // no row has what the newest checkpoint has: only undo and redo make such a state, and have no row
  if (changed === 0) return ROW_WORDS.steppedBack;
  return ROW_WORDS.now(
    changed ?? 0,
    newest === undefined ? undefined : clockSeconds(newest.endedAt ?? newest.at),
  );
}

/** The day of a row where it is another than that of the row before it, in words. */
export function dayHeading(
  row: HistoryRow,
  before: HistoryRow | undefined,
  clock: number,
): string | undefined {
  const day = dayOf(row.at);
  const today = dayOf(clock);
  const previous = before === undefined ? today : dayOf(before.at);
  if (day === previous) return undefined;
  return day === dayOf(clock - DAY_MS) ? ROW_WORDS.yesterday : day;
}

const DAY_MS = 86_400_000;

function eventLines(row: HistoryRow, state: RowState, style: RowStyle): Line[] {
  const { compact, tall } = style;
  const isFolded = compact && !state.selected;
  const agent = isFolded || style.marked ? undefined : agentLine(row, style);
  const title = titleLine(row, state, { style, withDoubts: agent === undefined });
  if (isFolded || style.marked) return [title];
  const files = filesLine(row, style);
  const note = tall && row.note !== null ? [line(`${INDENT}${visibleLine(row.note)}`, DIM)] : [];
  return [title, ...(agent === undefined ? [] : [agent]), ...note, ...(files === undefined ? [] : [files])];
}

const INDENT = " ".repeat(6);
const DIM: Look = { dim: true };

function titleLine(
  row: HistoryRow,
  { selected, mark }: RowState,
  { style, withDoubts }: { style: RowStyle; withDoubts: boolean },
): Line {
  const { signs, width, marked } = style;
  const isCurrent = row.sameAsNow === true;
  const isUndone = row.state === "undone";
  const colour = isCurrent ? "green" : selected ? "cyan" : "gray";
  const look: Look = { colour, bold: selected, dim: isUndone && !selected };
  const sign = isCurrent ? signs.current : signs.other;
  const left: Span[] = [
    pointer(selected, signs),
    span(`${clockSeconds(row.at)} ${sign} `, { colour }),
    ...(marked ? [span(`${mark ?? " "} `, { bold: true })] : []),
    span(visibleLine(row.title), { ...look, strike: isUndone }),
  ];
  const remarks = [
    // what has no prompt has its name for a title
    ...(row.kind === "turn" && row.name !== null ? [`“${visibleLine(row.name)}”`] : []),
    ...row.tags.map((tag) => `[${visibleLine(tag)}]`),
    ...(isUndone ? [ROW_WORDS.undone] : []),
    ...(withDoubts ? doubts(row, style) : []),
  ];
  return withRemark(left, line(remarks.join(" "), DIM), { width, signs });
}

function pointer(selected: boolean, signs: Signs): Span {
  return selected ? span(`${signs.pointer} `, { colour: "cyan", bold: true }) : span("  ");
}

/** Undone work keeps its place, without its agent. */
function agentLine(row: HistoryRow, style: RowStyle): Line | undefined {
  if (row.agent === null || row.kind !== "turn" || row.state === "undone") return undefined;
  const { signs, width, clock } = style;
  const end = row.endedAt === null ? clock : Date.parse(row.endedAt);
  const seconds = Math.max(0, (end - Date.parse(row.at)) / 1000).toFixed(1);
  const sign =
    row.status === "completed" ? signs.done : row.status === "failed" ? signs.failed : signs.warning;
  const text = `${INDENT}${signs.agent} ${visibleLine(row.agent)} (${seconds}s) ${sign}`;
  // without a word it would look as if the agent were at work
  const remarks = [...(row.status === "interrupted" ? [ROW_WORDS.interrupted] : []), ...doubts(row, style)];
  return withRemark(line(text, DIM), line(remarks.join(", "), { colour: "yellow" }), { width, signs });
}

/** What must not be missed: work without a capture, or with one that came late or was damaged since. */
function doubts({ gaps, late, damaged }: HistoryRow, { narrow }: RowStyle): string[] {
  return [
    ...(damaged === true ? [ROW_WORDS.damaged] : []),
    ...(gaps > 0 ? [ROW_WORDS.gaps(gaps)] : []),
    ...(late > 0 ? [narrow ? ROW_WORDS.lateShort(late) : ROW_WORDS.late(late)] : []),
  ];
}

function filesLine({ added, modified, deleted }: HistoryRow, { signs, width }: RowStyle): Line | undefined {
  if (added + modified + deleted === 0) return undefined;
  const text = `${INDENT}Files: ${modified} modified, ${added} added, ${deleted} deleted`;
  return withRemark(line(text, DIM), [], { width, signs });
}

function approvedLine(row: HistoryRow, { selected, mark }: RowState, style: RowStyle): Line {
  const { signs, narrow, marked } = style;
  const at = narrow ? clockSeconds(row.at).slice(0, 5) : clockSeconds(row.at);
  const facts = [`${ROW_WORDS.approved} ${at}`, row.agent, row.session].filter((fact) => fact !== null);
  const divider = signs.ascii ? ", " : ` ${signs.dot} `;
  const text = `${signs.ascii ? "" : `${signs.done} `}${facts.map((fact) => visibleLine(fact)).join(divider)}`;
  const dashes = signs.across.repeat(narrow ? 2 : 9);
  return [
    pointer(selected, signs),
    ...(marked && mark !== undefined ? [span(`${mark} `, { bold: true })] : []),
    span(`${dashes} ${text} ${dashes}`, selected ? { colour: "cyan", bold: true } : DIM),
  ];
}
