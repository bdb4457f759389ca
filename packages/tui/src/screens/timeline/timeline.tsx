/** The timeline: what happened, newest first, and the way to everything else. */
import { useRef, type ReactNode } from "react";
import { EXIT } from "@belay/protocol/errors";
import type { HistoryState, Problem } from "../../data/history.ts";
import { useSource } from "../../data/source.tsx";
import { useHistory } from "../../data/use-history.ts";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { box, line, lineWidth, pad, span, withRemark, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import type { Signs } from "../../terminal/signs.ts";
import { visibleLine } from "../../text/visible.ts";
import { fitLines } from "../../text/wrap.ts";
import { ROW_WORDS, STATE_WORDS } from "../../words.ts";
import { besideKeys, useBeside, type Beside } from "./beside.ts";
import { markKeys, useComparison } from "./compare.tsx";
import { filterKeys, filterLines, useFilter, type Filter } from "./filter.ts";
import { currentAmongSome, currentText, titleLines } from "./head.ts";
import type { RowStyle } from "./row-lines.ts";
import { timelineKeys, WIDE_COLUMNS, type TimelineKeysContext } from "./timeline-keys.tsx";
import { useChoices, type Choices } from "./use-choices.ts";
import { useRowList, type RowList } from "./use-list.ts";
import { useProtection } from "./use-protection.ts";

/** What the timeline shows at first. */
export interface TimelineProps {
  /** Only this thread. */
  readonly thread?: { readonly id: string; readonly title: string } | undefined;
  /** Opened from another screen, which Esc goes back to. */
  readonly isInner?: boolean;
}

const SMALL = { columns: 60, rows: 16 };
const TALL_ROWS = 30;
/** Of a wide window, what the list takes. */
const LIST_SHARE = 0.43;
const BOX_WIDTH = 64;

/** The screen of the timeline: its rows, its filter, its strip. */
export function TimelineScreen({ thread, isInner = false }: TimelineProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const choices = useChoices();
  const filter = useFilter();
  const { history, state } = useHistory({ thread: thread?.id, all: choices.all, q: filter.asked });
  // until a filter's answer comes, the rows of the last one are there
  const isPart = history.state.total === null || filter.asked !== undefined;
  const { total, current } = useWhole(state, { isPart, isThread: thread !== undefined });
  const { columns, signs } = frame;
  const isWide = columns >= WIDE_COLUMNS;
  const listWidth = isWide ? Math.floor(columns * LIST_SHARE) : columns;
  const protection = useProtection(state, columns);
  const drawn = useRef<{ list: RowList; beside: Beside }>(null!);
  const list = () => drawn.current.list;
  const newer = state.problem?.code === "STORE_NEWER" ? state.problem : undefined;
  const table =
    newer === undefined
      ? keyTable(
          { frame, choices, filter, source, thread: thread?.id, isInner, list, openThread },
          () => drawn.current.beside,
        )
      : leaveKeys(frame);
  const title = { current, thread: thread?.title, protection: isWide ? protection.text : undefined };
  const head = [
    ...titleLines(title, columns, signs),
    ...protection.strips,
    ...filterLines(filter, { state, whole: total }, frame),
  ];
  const compared = useComparison(choices.marks, columns, signs);
  const foot = filter.isOpen ? filter.help : compared;
  const keys = useKeys(table, {
    ...(filter.isOpen && { typed: filter.field.typed }),
    mouse: (event) =>
      "wheel" in event ? list().move(Math.sign(event.wheel)) : list().point(event.row - head.length),
  });
  const height = bodyRows(frame, { head, foot, keys });
  const style = {
    ...useStyle(frame, choices),
    width: listWidth - 1,
    narrow: isWide || columns < SMALL.columns,
  };
  const rows = useRowList(
    { history, state },
    {
      style,
      height,
      marks: choices.marks,
      isPart: isPart || thread !== undefined,
      failed: (problem) => frame.say([line(`  ! ${visibleLine(problem)}`, { colour: "yellow" })]),
    },
  );
  const side = { width: columns - listWidth - 2, height, signs, hasKeys: choices.side === "changes" };
  const beside = useBeside(isWide ? rows.chosen : undefined, side);
  drawn.current = { list: rows, beside };
  if (newer !== undefined)
    return (
      <Page
        head={titleLines({ ...title, current: "" }, columns, signs)}
        body={problemBox(newer, frame)}
        keys={keys}
      />
    );
  const empty = emptyLines({ state, filter, whole: total, name: source.place.name }, frame);
  const lines = empty ?? listLines(rows, { width: listWidth - 1, height, signs });
  const body = isWide && empty === undefined ? together(lines, beside.lines, { ...side, listWidth }) : lines;
  return <Page head={head} body={body} foot={foot} keys={keys} />;
}

/** The keys of what is on the screen; `beside` is what stands beside the list of a wide window. */
function keyTable(context: TimelineKeysContext, beside: () => Beside): Binding[] {
  const { frame, choices, filter, list } = context;
  if (filter.isOpen) return filterKeys(filter, list, frame.signs);
  const isMarked = choices.marks.length > 0;
  return [
    ...(isMarked ? markKeys(choices, frame, list) : []),
    ...(frame.columns >= WIDE_COLUMNS ? besideKeys(choices, beside, frame.rows) : []),
    ...timelineKeys(context).map((binding) => (isMarked ? { ...binding, hint: undefined } : binding)),
  ];
}

/** [R2141] Nothing can be done with a store that this Belay does not know, but to leave. */
function leaveKeys(frame: Frame): Binding[] {
  return [{ keys: ["q", "esc"], hint: { text: "quit", line: 2 }, run: () => frame.quit(EXIT.newer) }];
}

/** What is wrong, whole, however long it is. */
function problemBox({ message, hint }: Problem, { columns, signs }: Frame): Line[] {
  const width = Math.min(columns, BOX_WIDTH);
  const text = [message, "", hint].flatMap((each) => fitLines(visibleLine(each), width - 4).split("\n"));
  return box(
    text.map((each) => line(each)),
    { width, signs },
  );
}

/** What is current, and how many rows there are, also while a filter leaves rows out. */
function useWhole(
  state: HistoryState,
  { isPart, isThread }: { readonly isPart: boolean; readonly isThread: boolean },
): { total: number | null; current: string } {
  const whole = useRef<HistoryState>(undefined);
  if (!isPart) whole.current = state;
  const all = isThread ? undefined : whole.current;
  return {
    total: whole.current?.total ?? null,
    current: isPart || isThread ? currentAmongSome(state, all) : currentText(state),
  };
}

/** What one thread did, above the screen that it was chosen on. */
function openThread(frame: Frame, thread: NonNullable<TimelineProps["thread"]>): void {
  frame.open(<TimelineScreen thread={thread} isInner />);
}

/** The list and what stands beside it. The side that has the keys has the bright border. */
function together(
  left: readonly Line[],
  right: readonly Line[],
  {
    height,
    listWidth,
    signs,
    hasKeys,
  }: { height: number; listWidth: number; signs: Signs; hasKeys: boolean },
): Line[] {
  return Array.from({ length: height }, (_, index) => [
    ...pad(left[index] ?? [], listWidth, signs),
    span(`${signs.upright} `, hasKeys ? { colour: "cyan", bold: true } : { dim: true }),
    ...(right[index] ?? []),
  ]);
}

function useStyle(
  { columns, rows, signs }: Frame,
  { isCompact, marks }: Pick<Choices, "isCompact" | "marks">,
): Omit<RowStyle, "width" | "narrow"> {
  const source = useSource();
  const isSmall = columns < SMALL.columns || rows < SMALL.rows;
  return {
    signs,
    compact: isCompact !== isSmall,
    tall: rows >= TALL_ROWS && !isCompact,
    marked: marks.length > 0,
    clock: source.place.clock(),
  };
}

/** The rows, with how many are below in the last line. */
function listLines(
  { view, below, news }: RowList,
  { width, height, signs }: { width: number; height: number; signs: Signs },
): Line[] {
  const lines = [...view.lines];
  const remarks = [
    ...(news > 0 ? [`${signs.up} ${ROW_WORDS.news(news)}`] : []),
    ...(below > 0 ? [`${signs.down} ${ROW_WORDS.more(below)}`] : []),
  ];
  if (remarks.length === 0) return lines;
  while (lines.length < height) lines.push([]);
  const last = lines.pop()!;
  const remark = line(remarks.join("   "), { dim: true });
  return [...lines, withRemark(closer(last, width - lineWidth(remark) - 2), remark, { width, signs })];
}

/** A line whose own remark moves to the left, where it is wider than there is room. */
function closer(pieces: Line, room: number): Line {
  const excess = lineWidth(pieces) - room;
  const gap = pieces.findLastIndex(({ text }) => /^ {3,}$/.test(text));
  if (excess <= 0 || gap < 0) return pieces;
  const left = Math.max(2, pieces[gap]!.text.length - excess);
  return pieces.map((piece, index) => (index === gap ? { ...piece, text: " ".repeat(left) } : piece));
}

/** What stands where there are no rows; undefined where there are some. */
function emptyLines(
  { state, filter, whole, name }: { state: HistoryState; filter: Filter; whole: number | null; name: string },
  frame: Frame,
): Line[] | undefined {
  const { columns, signs } = frame;
  const { rows, total, now, problem } = state;
  if (problem !== undefined && rows.length === 0) return problemBox(problem, frame);
  const isUntouched = now === null || now.changed === 0;
  if (rows.length > 0 && !(isUntouched && rows.every(({ kind }) => kind === "initial"))) return undefined;
  if (total === null) return [];
  const text =
    filter.asked === undefined ? STATE_WORDS.nothing(name) : STATE_WORDS.noMatch(filter.asked, whole ?? 0);
  return box(
    text.map((each) => line(each)),
    { width: Math.min(columns, BOX_WIDTH), signs },
  );
}
