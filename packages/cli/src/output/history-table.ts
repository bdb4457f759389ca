/** What happened, one line each: time, name, agent, title, files, lines, state. Days are headings on a terminal. */
import { summarisePrompt as summarise } from "@belay/agents/uncaptured";
import type { TimelineNow, TimelineRow, UncapturedTurn } from "@belay/engine";
import { clockTime, count, dayAndTime, grouped } from "@belay/tui/text";
import type { Output } from "./output.ts";
import type { Paint, Style } from "./style.ts";
import { table, type Cell, type TableOptions } from "./table.ts";
import { visible } from "./visible.ts";

const [AGENT, TITLE, FILES, LINES] = [3, 4, 5, 6];

/** The rows, newest first, and the turns that were not captured between them. */
export interface HistoryRows {
  readonly rows: readonly TimelineRow[];
  readonly uncaptured: readonly UncapturedTurn[];
}

/** Rows and lost turns on their lines; on a terminal the days stand between them. */
export function historyTable(all: HistoryRows, output: Output): string {
  return withDays(
    inOrder(all).map((one) => lineOf(one, output)),
    output,
  );
}

/** The rows in the order they are given, each after the turns that were not captured since. */
export function inOrder({ rows, uncaptured }: HistoryRows): (TimelineRow | UncapturedTurn)[] {
  const left = [...uncaptured];
  const shown = rows.flatMap((row) => {
    const later = left.findIndex(({ after }) => after < row.seq);
    return [...left.splice(0, later < 0 ? left.length : later), row];
  });
  return [...shown, ...left];
}

/** One happening on a line of its own. */
export function historyLine(one: TimelineRow | UncapturedTurn, output: Output): string {
  return table([lineOf(one, output).cells], fitting(output));
}

function lineOf(one: TimelineRow | UncapturedTurn, output: Output): Line {
  return "ref" in one ? { at: one.at, cells: rowCells(one, output) } : uncapturedLine(one, output);
}

interface Line {
  readonly at: number;
  readonly cells: readonly Cell[];
}

function fitting({ width }: Output): TableOptions {
  return { width, flexible: TITLE, right: [LINES], dispensable: [AGENT, LINES, FILES] };
}

/** In a file each line has its day; on a terminal a day is said once. */
function withDays(lines: readonly Line[], output: Output): string {
  const text = table(
    lines.map(({ cells }) => cells),
    fitting(output),
  ).split("\n");
  if (!output.isTerminal) return text.join("\n");
  const today = dayAndTime(Date.now()).slice(0, 10);
  let last = "";
  return lines
    .flatMap(({ at }, index) => {
      const day = dayAndTime(at).slice(0, 10);
      const heading = day === last ? [] : [output.style.bold(dayName(day, today))];
      last = day;
      return [...heading, text[index]!];
    })
    .join("\n");
}

function dayName(day: string, today: string): string {
  if (day === today) return "Today";
  const yesterday = new Date(`${today}T12:00:00`);
  yesterday.setDate(yesterday.getDate() - 1);
  return day === dayAndTime(yesterday.getTime()).slice(0, 10) ? "Yesterday" : day;
}

function rowCells(row: TimelineRow, output: Output): Cell[] {
  const { style } = output;
  const isUndone = row.state === "undone";
  return [
    { text: row.sameAsNow === true ? "●" : "", paint: style.green },
    { text: timeText(row.at, output), paint: style.dim },
    { text: row.ref, paint: style.bold },
    { text: visible(row.agent ?? ""), paint: style.cyan },
    { text: titleText(row), paint: isUndone || row.kind === "hand" ? style.dim : (text) => text },
    { text: filesText(row), ...(isUndone && { paint: style.dim }) },
    { text: linesText(row), paint: isUndone ? style.dim : linesPaint(style) },
    { text: row.state === "undone" ? "undone" : stateText(row), paint: statePaint(row, style) },
  ];
}

function uncapturedLine({ at, prompt, problem }: UncapturedTurn, output: Output): Line {
  const what = prompt === null ? "" : `: ${summarise(visible(prompt))}`;
  const cells = [
    { text: "!", paint: output.style.red },
    { text: timeText(at, output), paint: output.style.dim },
    { text: "" },
    { text: "" },
    { text: `not captured${what} (${visible(problem)})` },
    { text: "" },
    { text: "" },
    { text: "lost", paint: output.style.red },
  ];
  return { at, cells };
}

function timeText(at: number, output: Output): string {
  return output.isTerminal ? dayAndTime(at).slice(11) : dayAndTime(at);
}

/** Marks that must not be cut come first. */
function titleText({ title, name, gaps, late, tags, kind }: TimelineRow): string {
  const named = kind === "turn" && name !== null ? [`“${visible(name)}”`] : [];
  return [
    ...(gaps > 0 ? [`(${gaps} not captured)`] : []),
    ...(late > 0 ? [`(${late} late)`] : []),
    ...tags.map((tag) => `[${visible(tag)}]`),
    ...named,
    visible(title),
  ].join(" ");
}

/** `5 files`; nothing where nothing changed. */
function filesText({ added, modified, deleted }: TimelineRow): string {
  const files = added + modified + deleted;
  return files === 0 ? "" : count(files, "file");
}

/** How many lines came and went: `+128 -31` */
export function linesText({ plus, minus }: Pick<TimelineRow, "plus" | "minus">): string {
  const parts = [plus ? `+${grouped(plus)}` : "", minus ? `-${grouped(minus)}` : ""];
  return parts.filter((part) => part !== "").join(" ");
}

/** Colours what `linesText` says, `+128 -31`. */
export function linesPaint(style: Style): Paint {
  return (text) =>
    text.replaceAll(/[+-][\d,]+/g, (part) => (part.startsWith("+") ? style.green(part) : style.red(part)));
}

/** What is worth saying about a row; nothing where all is as usual. */
export function stateText({ state, status, undoneAt, approved, kind }: TimelineRow): string {
  if (state === "undone") return undoneAt === null ? "undone" : `undone ${clockTime(undoneAt)}`;
  if (state === "empty") return "changed nothing";
  if (status !== null && status !== "completed") return status;
  return approved && kind === "turn" ? "approved" : "";
}

function statePaint({ state, status }: TimelineRow, style: Style): Paint {
  if (state === "undone" || state === "empty") return style.dim;
  if (status === "working") return style.cyan;
  return status === "interrupted" || status === "failed" ? style.yellow : style.green;
}

/** Where you are, if no row says so: `● now: 2 files changed since 10:52`. */
export function nowLine(
  now: TimelineNow | null,
  { rows, isWhole }: { readonly rows: readonly TimelineRow[]; readonly isWhole: boolean },
  style: Style,
): string | undefined {
  if (now === null || now.changed === null || rows.some(({ sameAsNow }) => sameAsNow === true))
    return undefined;
  const label = `${style.green("●")} ${style.bold("now")}:`;
  // [R2346] no row has what the newest checkpoint has
  if (now.changed === 0) return isWhole && rows.length > 0 ? `${label} after an undo or redo` : undefined;
  const newest = rows[0];
  const since = newest === undefined ? "" : ` since ${clockTime(newest.endedAt ?? newest.at)}`;
  return `${label} ${count(now.changed, "file")} changed${since}`;
}
