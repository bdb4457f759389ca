/** The list of the timeline: its rows as lines, the pointer, what is unfolded. */
import { useEffect, useMemo, useRef, useState } from "react";
import type { History, HistoryState } from "../../data/history.ts";
import type { Chosen, HistoryRow } from "../../data/history-row.ts";
import { useSteps } from "../../data/use-history.ts";
import { itemKey, listItems, lostAround, type ListItem } from "./list-items.ts";
import { movedTo, viewOf, type TallList, type WindowView } from "./list-window.ts";
import { dayHeading, nowLines, rowLines, stepLines, type RowStyle } from "./row-lines.ts";
import { markOf, type Marks } from "./marks.ts";

/** The list as the screen and its keys use it. */
export interface RowList {
  readonly view: WindowView;
  readonly rows: readonly HistoryRow[];
  /** The row of the pointer; undefined on the line of the files on disk, and while there is none. */
  readonly selected: HistoryRow | undefined;
  /** The row with the step that the pointer stands on, if it does. */
  readonly chosen: Chosen | undefined;
  /** On the line of the files on disk, how many of them changed; undefined elsewhere. */
  readonly now: number | undefined;
  /** How many rows came above what was seen. */
  readonly news: number;
  /** How many rows are below. */
  readonly below: number;
  move(by: number): void;
  page(step: 1 | -1): void;
  goTo(index: number): void;
  typeDigit(digit: string): void;
  /** Goes to the row whose number was typed; without one, loads everything and goes to the last. */
  goToNumber(): void;
  unfold(isUnfolded: boolean): void;
  /** Moves the pointer to the row of a line of the window. */
  point(line: number): void;
}

/** How the list is shown. */
export interface ListView {
  readonly style: RowStyle;
  readonly height: number;
  readonly marks: Marks;
  /** A filter or a thread leaves rows out. */
  readonly isPart: boolean;
  /** Hears why something of the list cannot be shown. */
  failed(problem: string): void;
}

const AHEAD = 50;

/** Keeps the list of rows of the timeline. */
export function useRowList(
  { history, state }: { readonly history: History; readonly state: HistoryState },
  { style, height, marks, isPart, failed }: ListView,
): RowList {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const [pointer, setPointer] = useState<{ key: string; line: number } | undefined>();
  const typed = useRef("");
  const steps = useSteps(unfolded, state, failed);
  const { rows, total } = state;
  const shown = useMemo(() => ({ unfolded, steps, isPart }), [unfolded, steps, isPart]);
  const items = useMemo(() => listItems(state, shown), [state, shown]);
  const offset = items[0]?.is === "now" ? 1 : 0;
  const index = pointer === undefined ? offset : indexOf(items, pointer.key, offset);
  const list: TallList = {
    count: items.length,
    lines: (at) => linesOf(items[at]!, { state, style, marks, selected: at === index }),
  };
  // the line of the files on disk stands above the first row from the start
  const line = pointer?.line ?? (offset === 0 ? 0 : list.lines(0).length);
  const view = viewOf(list, { pointer: index, line }, height);
  const goTo = (to: number) => {
    typed.current = "";
    const wanted = Math.max(0, Math.min(to, list.count - 1));
    const anchor = viewOf(list, movedTo(list, view.anchor, wanted, height), height).anchor;
    const item = items[wanted];
    if (item !== undefined) setPointer({ key: itemKey(item), line: anchor.line });
  };
  const firstShown = rowNumber(items[view.first]);
  const news = useNews(rows, firstShown);
  useEffect(() => {
    const first = rows[firstShown];
    if (first !== undefined && pointer === undefined) setPointer({ key: first.ref, line });
    if (rowNumber(items[view.last]) + AHEAD > rows.length && !state.isComplete)
      void history.reach(rows.length + AHEAD);
  });
  const item = items[view.anchor.pointer];
  const chosen = chosenIn(item);
  return {
    view,
    rows,
    selected: chosen?.row,
    chosen,
    now: item?.is === "now" ? (state.now?.changed ?? 0) : undefined,
    news,
    below: Math.max(0, (total ?? rows.length) - rowNumber(items[view.last]) - 1),
    move: (by) => goTo(view.anchor.pointer + by),
    goTo,
    page: (step) => goTo(pageTarget(list, view, step, height)),
    typeDigit: (digit) => {
      typed.current += digit;
    },
    goToNumber: () => {
      const number = typed.current === "" ? Number.POSITIVE_INFINITY : Number(typed.current);
      typed.current = "";
      void rowAt(history, number).then((row) => row && setPointer({ key: row.ref, line: height }));
    },
    unfold: (isUnfolded) => {
      const ref = chosen?.row.ref;
      if (ref === undefined) return;
      // what is folded away under the pointer leaves it on its row
      if (!isUnfolded) goTo(items.findIndex((each) => each.is === "row" && each.row.ref === ref));
      const others = [...unfolded].filter((other) => other !== ref);
      setUnfolded(new Set(isUnfolded ? [...others, ref] : others));
    },
    point: (at) => {
      const owner = view.owners[at];
      if (owner !== undefined) goTo(owner);
    },
  };
}

function linesOf(
  item: ListItem,
  {
    state,
    style,
    marks,
    selected,
  }: { state: HistoryState; style: RowStyle; marks: Marks; selected: boolean },
) {
  const { rows, now } = state;
  if (item.is === "now") return nowLines(now!, rows[0], selected, style);
  if (item.is === "step") return stepLines(item.step, { selected, isLast: item.isLast }, style);
  const { row, number, unfolded } = item;
  const day = dayHeading(row, rows[number - 1], style.clock);
  const lost = lostAround(state, number);
  return rowLines(row, { selected, day, unfolded, lost, mark: markOf(marks, row) }, style);
}

function chosenIn(item: ListItem | undefined): Chosen | undefined {
  if (item === undefined || item.is === "now") return undefined;
  return { row: item.row, step: item.is === "step" ? item.step : undefined };
}

/** The number of an item's row among the rows; that of the first for the line of the files on disk. */
function rowNumber(item: ListItem | undefined): number {
  return item === undefined || item.is === "now" ? 0 : item.number;
}

/** How many rows came above the newest one that was ever shown. */
function useNews(rows: readonly HistoryRow[], firstShown: number): number {
  const newestSeen = useRef<string | undefined>(undefined);
  const seen = rows.findIndex(({ ref }) => ref === newestSeen.current);
  const newest = seen < 0 ? firstShown : Math.min(seen, firstShown);
  useEffect(() => {
    newestSeen.current = rows[newest]?.ref;
  });
  return seen < 0 ? 0 : newest;
}

/** A row by its number, loaded if need be; the last where there are not so many. */
async function rowAt(history: History, number: number): Promise<HistoryRow | undefined> {
  await history.reach(number);
  const { rows } = history.state;
  return rows[Math.min(number, rows.length) - 1];
}

/** One window further: the rows that fit between the pointer and there. */
function pageTarget(list: TallList, { anchor }: WindowView, step: 1 | -1, height: number): number {
  let [to, used] = [anchor.pointer, 0];
  while (to + step >= 0 && to + step < list.count && used < height) {
    used += list.lines(to).length;
    to += step;
  }
  return to;
}

/** Where an item is; the first row where it is gone. */
function indexOf(items: readonly ListItem[], key: string, offset: number): number {
  const at = items.findIndex((item) => itemKey(item) === key);
  return at < 0 ? Math.min(offset, items.length) : at;
}
