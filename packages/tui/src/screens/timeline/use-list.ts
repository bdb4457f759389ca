/** The list of the timeline: its rows as lines, the pointer, what is unfolded. */
import { useEffect, useRef, useState } from "react";
import type { History, HistoryState } from "../../data/history.ts";
import type { HistoryRow } from "../../data/history-row.ts";
import { useSteps } from "../../data/use-history.ts";
import { movedTo, viewOf, type TallList, type WindowView } from "./list-window.ts";
import { dayHeading, nowLines, rowLines, type RowStyle } from "./row-lines.ts";
import { markOf, type Marks } from "./marks.ts";

/** The list as the screen and its keys use it. */
export interface RowList {
  readonly view: WindowView;
  readonly rows: readonly HistoryRow[];
  /** The row of the pointer; undefined on the line of the files on disk, and while there is none. */
  readonly selected: HistoryRow | undefined;
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

const AHEAD = 50;

/** Keeps the list of a screen. */
export function useRowList(
  { history, state }: { readonly history: History; readonly state: HistoryState },
  { style, height, marks }: { readonly style: RowStyle; readonly height: number; readonly marks: Marks },
): RowList {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const [pointer, setPointer] = useState<{ ref: string; line: number } | undefined>();
  const typed = useRef("");
  const steps = useSteps(unfolded, state);
  const { rows, now, total } = state;
  const current = rows.some(({ sameAsNow }) => sameAsNow === true);
  const offset = now !== null && !current && (now.changed ?? 0) > 0 && rows.length > 0 ? 1 : 0;
  const index = pointer === undefined ? offset : indexOf(rows, pointer.ref, offset);
  const list: TallList = {
    count: rows.length + offset,
    lines: (at) => {
      const selected = at === index;
      const row = rows[at - offset];
      if (row === undefined) return nowLines(now!, rows[0], selected, style);
      const day = dayHeading(row, rows[at - offset - 1], style.clock);
      const shown = unfolded.has(row.ref) ? steps.get(row.ref) : undefined;
      return rowLines(row, { selected, day, steps: shown, mark: markOf(marks, row) }, style);
    },
  };
  // the line of the files on disk stands above the first row from the start
  const line = pointer?.line ?? (offset === 0 ? 0 : list.lines(0).length);
  const view = viewOf(list, { pointer: index, line }, height);
  const goTo = (to: number) => {
    typed.current = "";
    const wanted = Math.max(0, Math.min(to, list.count - 1));
    const anchor = viewOf(list, movedTo(list, view.anchor, wanted, height), height).anchor;
    setPointer({ ref: rows[wanted - offset]?.ref ?? NOW, line: anchor.line });
  };
  const firstShown = Math.max(0, view.first - offset);
  const news = useNews(rows, firstShown);
  useEffect(() => {
    const first = rows[firstShown];
    if (first !== undefined && pointer === undefined) setPointer({ ref: first.ref, line });
    if (view.last + AHEAD > rows.length && !state.isComplete) void history.reach(rows.length + AHEAD);
  });
  const selected = rows[view.anchor.pointer - offset];
  return {
    view,
    rows,
    selected,
    news,
    below: Math.max(0, (total ?? rows.length) - (view.last - offset) - 1),
    move: (by) => goTo(view.anchor.pointer + by),
    goTo,
    page: (step) => goTo(pageTarget(list, view, step, height)),
    typeDigit: (digit) => {
      typed.current += digit;
    },
    goToNumber: () => {
      const number = typed.current === "" ? Number.POSITIVE_INFINITY : Number(typed.current);
      typed.current = "";
      void rowAt(history, number).then((row) => row && setPointer({ ref: row.ref, line: height }));
    },
    unfold: (isUnfolded) => {
      if (selected === undefined) return;
      const others = [...unfolded].filter((ref) => ref !== selected.ref);
      setUnfolded(new Set(isUnfolded ? [...others, selected.ref] : others));
    },
    point: (at) => {
      const owner = view.owners[at];
      if (owner !== undefined) goTo(owner);
    },
  };
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

const NOW = "now";

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

/** Where a row is; the first where it is gone. */
function indexOf(rows: readonly HistoryRow[], ref: string | undefined, offset: number): number {
  if (ref === NOW) return 0;
  const at = rows.findIndex((row) => row.ref === ref);
  return at < 0 ? Math.min(offset, rows.length) : at + offset;
}
