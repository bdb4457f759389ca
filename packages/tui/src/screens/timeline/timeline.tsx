/** The timeline: what happened, newest first, and the way to everything else. */
import { useRef, type ReactNode } from "react";
import type { HistoryState } from "../../data/history.ts";
import { useSource } from "../../data/source.tsx";
import { useHistory } from "../../data/use-history.ts";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import { box, line, withRemark, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import { ROW_WORDS, STATE_WORDS } from "../../words.ts";
import { markKeys, useComparison } from "./compare.tsx";
import { filterKeys, filterLines, useFilter, type Filter } from "./filter.ts";
import { titleLines } from "./head.ts";
import type { RowStyle } from "./row-lines.ts";
import { timelineKeys } from "./timeline-keys.tsx";
import { useChoices } from "./use-choices.ts";
import { useRowList, type RowList } from "./use-list.ts";

/** What the timeline shows at first. */
export interface TimelineProps {
  /** Only this thread. */
  readonly thread?: { readonly id: string; readonly title: string } | undefined;
}

const SMALL = { columns: 60, rows: 16 };
const TALL_ROWS = 30;
const WIDE_COLUMNS = 110;
const BOX_WIDTH = 64;

/** The screen. */
export function TimelineScreen({ thread }: TimelineProps): ReactNode {
  const frame = useFrame();
  const choices = useChoices();
  const filter = useFilter();
  const { history, state } = useHistory({ thread: thread?.id, all: choices.all, q: filter.asked });
  const whole = useRef<number | null>(null);
  if (filter.asked === undefined) whole.current = state.total;
  const { columns, signs } = frame;
  const current = useRef<RowList>(null!);
  const list = () => current.current;
  const isMarked = choices.marks.length > 0;
  const table = filter.isOpen
    ? filterKeys(filter, list, signs)
    : [
        ...(isMarked ? markKeys(choices, frame, list) : []),
        ...timelineKeys({ frame, choices, filter, isWide: columns >= WIDE_COLUMNS, list }).map((binding) =>
          isMarked ? { ...binding, hint: undefined } : binding,
        ),
      ];
  const head = [
    ...titleLines({ state, thread: thread?.title, protection: undefined }, columns, signs),
    ...filterLines(filter, { state, whole: whole.current }, frame),
  ];
  const compared = useComparison(choices.marks, columns, signs);
  const foot = filter.isOpen ? filter.help : compared;
  const keys = useKeys(table, {
    ...(filter.isOpen && { typed: filter.field.typed }),
    mouse: (event) =>
      "wheel" in event ? list().move(Math.sign(event.wheel)) : list().point(event.row - head.length),
  });
  const height = bodyRows(frame, { head, foot, keys });
  const style = useStyle(frame, { isCompact: choices.isCompact, isMarked });
  current.current = useRowList({ history, state }, { style, height, marks: choices.marks });
  const { name } = useSource().place;
  const body =
    emptyLines({ state, filter, whole: whole.current, name }, frame) ?? listLines(list(), frame, height);
  return <Page head={head} body={body} foot={foot} keys={keys} />;
}

function useStyle(
  { columns, rows, signs }: Frame,
  { isCompact, isMarked }: { readonly isCompact: boolean; readonly isMarked: boolean },
): RowStyle {
  const source = useSource();
  const isSmall = columns < SMALL.columns || rows < SMALL.rows;
  return {
    width: columns - 1,
    signs,
    compact: isCompact !== isSmall,
    narrow: columns < SMALL.columns,
    tall: rows >= TALL_ROWS && !isCompact,
    marked: isMarked,
    clock: source.place.clock(),
  };
}

/** The rows, with how many are below in the last line. */
function listLines({ view, below, news }: RowList, { columns, signs }: Frame, height: number): Line[] {
  const lines = [...view.lines];
  const remarks = [
    ...(news > 0 ? [`${signs.up} ${ROW_WORDS.news(news)}`] : []),
    ...(below > 0 ? [`${signs.down} ${ROW_WORDS.more(below)}`] : []),
  ];
  if (remarks.length === 0) return lines;
  while (lines.length < height) lines.push([]);
  const last = lines.pop()!;
  return [
    ...lines,
    withRemark(last, line(remarks.join("   "), { dim: true }), { width: columns - 1, signs }),
  ];
}

/** What stands where there are no rows; undefined where there are some. */
function emptyLines(
  { state, filter, whole, name }: { state: HistoryState; filter: Filter; whole: number | null; name: string },
  { columns, signs }: Frame,
): Line[] | undefined {
  const { rows, total, problem } = state;
  if (problem !== undefined && rows.length === 0)
    return [problem.message, problem.hint].map((text) => line(text, { colour: "yellow" }));
  if (rows.length > 0 && !rows.every(({ kind }) => kind === "initial")) return undefined;
  if (total === null) return [];
  const text =
    filter.asked === undefined ? STATE_WORDS.nothing(name) : STATE_WORDS.noMatch(filter.asked, whole ?? 0);
  return box(
    text.map((each) => line(each)),
    { width: Math.min(columns, BOX_WIDTH), signs },
  );
}
