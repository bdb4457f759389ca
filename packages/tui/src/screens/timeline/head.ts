/** The head of the timeline: the title with what is current (M69), and what is wrong with the whole. */
import type { HistoryState } from "../../data/history.ts";
import { box, fit, line, lineWidth, pad, span, type Line } from "../../frame/line.ts";
import type { Signs } from "../../terminal/signs.ts";
import { visibleLine } from "../../text/visible.ts";
import { fitLine } from "../../text/wrap.ts";
import { TITLES } from "../../words.ts";
import { nowText } from "./row-lines.ts";

/** What the title says beside the current row. */
export interface HeadFacts {
  /** What is current, in words; empty where that is not known. */
  readonly current: string;
  readonly thread: string | undefined;
  /** At the right edge of a wide window. */
  readonly protection: string | undefined;
}

/** The title of the timeline in its box. */
export function titleLines({ current, thread, protection }: HeadFacts, width: number, signs: Signs): Line[] {
  const title = [
    span(TITLES.timeline + (thread === undefined ? "" : TITLES.thread(visibleLine(thread))), { bold: true }),
    ...(current === "" ? [] : [span(` ${TITLES.current(current)}`, { dim: true })]),
  ];
  const room = width - 4;
  const right = protection === undefined ? [] : line(protection, { dim: true });
  const left = fit(title, Math.max(10, room - (right.length > 0 ? lineWidth(right) + 2 : 0)), signs);
  const text = right.length === 0 ? left : [...pad(left, room - lineWidth(right), signs), ...right];
  return box([text], { width, signs });
}

/** The row that equals the files on disk, in words; the files themselves where none does. */
export function currentText({ rows, now }: Rows): string {
  const [newest] = rows;
  if (newest === undefined) return "";
  const current = rows.find(({ sameAsNow }) => sameAsNow === true);
  if (current !== undefined)
    return visibleLine(current.title === "" ? current.id.slice(0, 8) : current.title);
  // how many files changed is not known where the directory is gone or the newest checkpoint is damaged
  return now === null || now.changed === null ? "" : nowText(now, newest);
}

type Rows = Pick<HistoryState, "rows" | "now">;

/**
 * The name of the current state where only some rows of the timeline are known: it may be that of none of them, and then
 * it is what it was among all.
 */
export function currentAmongSome({ rows, now }: Rows, all: Rows | undefined): string {
  const current = rows.find(({ sameAsNow }) => sameAsNow === true);
  if (current !== undefined) return currentText({ rows: [current], now });
  const isSame = now?.since === all?.now?.since && now?.changed === all?.now?.changed;
  return all !== undefined && isSame ? currentText(all) : "";
}

/** Something wrong with the whole, in two lines, or in as many as a narrow window needs. */
export function stripLines(text: readonly string[], columns: number): Line[] {
  return text
    .flatMap((each, index) => fitLine(`${index === 0 ? "! " : "  "}${each}`, columns, "  ").split("\n"))
    .map((each) => line(each, { colour: "yellow" }));
}
