/** The list of what happened: newest first, any number of rows, the selected one under the keys. */
import { useVirtualizer, type VirtualItem, type VirtualizerOptions } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { History, HistoryRow, HistoryStore } from "../data/history.ts";
import { Icon } from "../parts/icon.tsx";
import { quantity } from "../words.ts";
import { foldWords, heightOf, itemsOf, type Item } from "./items.ts";
import { lanesOf } from "./lanes.ts";
import { NowRow } from "./now-row.tsx";
import { StepList, type Step } from "./step-list.tsx";
import { goalOf } from "./row-text.ts";
import { rowId, TurnRow, type RowAction } from "./turn-row.tsx";

/** What the list shows and what happens in it. */
export interface TimelineListProps {
  readonly history: History;
  readonly store: HistoryStore;
  /** "now" or the ref of a row. */
  readonly selected: string | null;
  readonly marks: readonly string[];
  readonly isFiltered: boolean;
  /** Rows that changed nothing stand in one line until it is opened. */
  readonly isFolded: boolean;
  readonly isCompact: boolean;
  /** Every checkpoint has its row. */
  readonly isFlat?: boolean;
  /** Threads in words, by their ids. */
  readonly threadNames?: ReadonlyMap<string, string>;
  onSelect(selection: string): void;
  onAction(action: RowAction, row: HistoryRow): void;
  onStep(row: HistoryRow, step: Step): void;
  /** Left out where two states cannot be shown. */
  onCompareNow?(): void;
  /** Letters move the selection too; the host may have switched them off. */
  readonly hasKeys?: boolean;
}

const OVERSCAN = 8;

/** The rows of the timeline, of which only those in view are drawn. */
export function TimelineList(props: TimelineListProps): ReactNode {
  const { history, store, selected } = props;
  const lines = useLines(history.rows, selected);
  const { open, toggle } = lines;
  const scroller = useRef<HTMLDivElement>(null);
  const { isFiltered, isFolded } = props;
  const items = useMemo(
    () => itemsOf(history, { open, isFiltered, isFolded, selected }),
    [history, open, isFiltered, isFolded, selected],
  );
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(items[index]!, props.isCompact),
    getItemKey: (index) => items[index]!.key,
    overscan: OVERSCAN,
    measureElement: heightOnceLaidOut,
  });
  const shown = virtual.getVirtualItems();
  useRowsInView(
    store,
    shown.map(({ index }) => items[index]!),
  );
  const move = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    props.onSelect(item.kind === "row" ? item.row.ref : item.kind === "fold" ? item.key : "now");
  };
  const end = async () => {
    const { total, waiting } = history;
    const place = total - waiting.length - 1;
    if (!history.isComplete) await store.need({ first: place, last: place });
    const oldest = store.get().rows.at(-1);
    if (oldest !== undefined) props.onSelect(oldest.ref);
  };
  const find = () => selected !== null && void store.find(selected);
  const at = items.findIndex((item) => isItem(item, selected));
  const isThere = at >= 0;
  useEffect(() => {
    if (isThere) virtual.scrollToIndex(at);
    // when the selection moves, not when rows come in above it
  }, [selected, isThere]);
  return (
    <>
      <News rows={history.waiting} onShow={() => virtual.scrollToOffset(0)} />
      <div
        ref={scroller}
        className="b-rows"
        role="treegrid"
        tabIndex={0}
        aria-label="What happened"
        aria-rowcount={history.total + (props.isFiltered ? 0 : 1)}
        aria-activedescendant={activeId(selected)}
        onKeyDown={(event) => listKey(event, { ...props, items, at, move, toggle, open, end, find })}
        onScroll={(event) => store.setAtTop(event.currentTarget.scrollTop < AT_TOP)}
      >
        <StickyDay items={items} first={virtual.range?.startIndex ?? 0} />
        <div role="presentation" className="b-placing" style={{ height: virtual.getTotalSize() }}>
          {shown.map((place) => (
            <Placed key={place.key} place={place} measure={virtual.measureElement}>
              <Line {...props} {...lines} item={items[place.index]!} index={place.index} />
            </Placed>
          ))}
        </div>
      </div>
    </>
  );
}

/**
 * The height of a row. The observer knows it after the layout; before that the guess stands, because asking would lay
 * everything out while rows are still being made.
 */
const heightOnceLaidOut: NonNullable<VirtualizerOptions<HTMLDivElement, Element>["measureElement"]> = (
  element,
  entry,
  virtual,
) => {
  const box = entry?.borderBoxSize[0];
  if (box !== undefined) return Math.round(box.blockSize);
  const index = virtual.indexFromElement(element);
  const known = virtual.itemSizeCache.get(virtual.options.getItemKey(index));
  return known ?? virtual.options.estimateSize(index);
};

/** Loads the rows that are in view and not there yet. */
function useRowsInView(store: HistoryStore, items: readonly Item[]): void {
  const missing = items.flatMap((item) => (item.kind === "unloaded" ? [item.at] : []));
  const [first, last] = [missing[0], missing.at(-1)];
  useEffect(() => {
    if (first !== undefined && last !== undefined) void store.need({ first, last });
  }, [first, last, store]);
}

/** Overlaps further back than this many rows are not drawn. */
const LANES_OF = 2000;
/** Within so many pixels of the top, new rows appear at once. */
const AT_TOP = 8;

function activeId(selected: string | null): string | undefined {
  return selected === null ? undefined : selected === "now" ? "row-now" : rowId(selected);
}

/** What the lines have in common: lanes, the rows whose steps are shown, the row that a restore led to. */
function useLines(rows: readonly HistoryRow[], selected: string | null) {
  const lanes = useMemo(() => lanesOf(rows.slice(0, LANES_OF), Date.now()), [rows]);
  const [pointed, setPointed] = useState<string | null>(null);
  const goal = useMemo(() => goalOf(rows, pointed ?? selected), [rows, pointed, selected]);
  return { ...useOpenRows(), lanes, goal, setPointed };
}

/** The rows whose steps are shown. */
function useOpenRows() {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (ref: string, isOpen = !open.has(ref)) => {
    const next = new Set(open);
    if (isOpen) next.add(ref);
    else next.delete(ref);
    setOpen(next);
  };
  return { open, toggle };
}

/** New rows that wait, so that nothing moves under the eye. */
function News({ rows, onShow }: { readonly rows: readonly HistoryRow[]; onShow(): void }): ReactNode {
  return (
    <div className="b-news" role="status">
      {rows.length === 0 ? null : (
        <button type="button" className="b-pill" onClick={onShow}>
          <Icon name="up" small />
          {quantity(rows.length, rows.every(({ kind }) => kind === "turn") ? "new turn" : "new row")}
        </button>
      )}
    </div>
  );
}

/** The day of the topmost row stays in view. */
function StickyDay({ items, first }: { readonly items: readonly Item[]; readonly first: number }): ReactNode {
  const day = items.slice(0, first + 1).findLast((item) => item.kind === "day");
  return (
    <div className="b-day b-stuck">
      {day?.kind === "day" ? <DayWords name={day.name} count={day.count} /> : null}
    </div>
  );
}

function DayWords({ name, count }: { readonly name: string; readonly count: number | undefined }): ReactNode {
  return (
    <>
      <span>{name}</span>
      <span>{count === undefined ? "" : quantity(count, "row")}</span>
    </>
  );
}

function Placed(props: {
  readonly place: VirtualItem;
  readonly measure: (node: Element | null) => void;
  readonly children: ReactNode;
}): ReactNode {
  const { place, measure, children } = props;
  return (
    <div
      ref={measure}
      data-index={place.index}
      role="presentation"
      className="b-placed"
      style={{ transform: `translateY(${place.start}px)` }}
    >
      {children}
    </div>
  );
}

interface LineProps extends TimelineListProps {
  readonly item: Item;
  readonly index: number;
  readonly open: ReadonlySet<string>;
  readonly lanes: ReturnType<typeof lanesOf>;
  readonly goal: string | undefined;
  toggle(ref: string): void;
  setPointed(ref: string | null): void;
}

function Line({ item, index, open, lanes, toggle, ...props }: LineProps): ReactNode {
  switch (item.kind) {
    case "now":
      return (
        <NowRow
          history={props.history}
          isSelected={props.selected === "now"}
          onSelect={() => props.onSelect("now")}
          {...(props.onCompareNow && { onCompare: props.onCompareNow })}
        />
      );
    case "day":
      return (
        <div className="b-day" role="presentation">
          <DayWords name={item.name} count={item.count} />
        </div>
      );
    case "unloaded":
      return <div className="b-turn b-skeleton" aria-hidden="true" />;
    case "fold":
      return (
        <Fold
          item={item}
          index={index}
          isSelected={props.selected === item.key}
          onOpen={() => {
            toggle(item.key);
            props.onSelect(item.rows[0]!.ref);
          }}
        />
      );
    case "steps":
      return (
        <StepList
          row={item.row}
          lane={lanes.get(item.row.ref)?.lane ?? 1}
          onSelect={(step) => props.onStep(item.row, step)}
        />
      );
    case "row": {
      const { row } = item;
      const mark = props.marks.indexOf(row.ref);
      return (
        <TurnRow
          row={row}
          index={index}
          lane={lanes.get(row.ref)}
          isSelected={props.selected === row.ref}
          isOpen={open.has(row.ref)}
          isCompact={props.isCompact}
          threadName={row.thread === null ? undefined : props.threadNames?.get(row.thread)}
          isFlat={props.isFlat}
          isNewest={row === props.history.rows[0]}
          isGoal={row.ref === props.goal}
          onPoint={row.target === undefined ? undefined : (isAt) => props.setPointed(isAt ? row.ref : null)}
          mark={mark < 0 ? undefined : mark === 0 ? "A" : "B"}
          onSelect={() => props.onSelect(row.ref)}
          onAction={(action) => (action === "steps" ? toggle(row.ref) : props.onAction(action, row))}
        />
      );
    }
  }
}

/** Rows that changed nothing, in one line. */
function Fold(props: {
  readonly item: Extract<Item, { kind: "fold" }>;
  readonly index: number;
  readonly isSelected: boolean;
  onOpen(): void;
}): ReactNode {
  const { item, index, isSelected } = props;
  return (
    <div
      role="row"
      id={rowId(item.key)}
      className="b-fold"
      aria-rowindex={index + 1}
      aria-level={1}
      aria-selected={isSelected}
      aria-expanded={false}
      aria-label={foldWords(item.rows)}
      onClick={props.onOpen}
    >
      <span className="b-rail" aria-hidden="true" />
      <span className="b-row b-gap4" role="gridcell">
        <Icon name="right" small />
        {foldWords(item.rows)}
      </span>
    </div>
  );
}

function isItem(item: Item, selected: TimelineListProps["selected"]): boolean {
  if (item.kind === "fold") return item.key === selected;
  return item.kind === "row" ? item.row.ref === selected : item.kind === "now" && selected === "now";
}

interface ListState {
  readonly items: readonly Item[];
  readonly at: number;
  readonly open: ReadonlySet<string>;
  move(index: number): void;
  onSelect(ref: string): void;
  readonly hasKeys?: boolean;
  toggle(ref: string, isOpen: boolean): void;
  /** To the oldest row, also where it is not loaded yet. */
  end(): Promise<void>;
  /** Back to the selected row, where the reader has scrolled so far away that it is not loaded any more. */
  find(): void;
}

/** Keys that go on from the selected row. */
const MOVES_BY_ONE: ReadonlySet<string> = new Set(["ArrowDown", "ArrowUp", "j", "k", "PageDown", "PageUp"]);

/** True when the key moved the selection or opened steps. */
function listKey(event: KeyboardEvent, state: ListState): boolean {
  const { items, at, move, onSelect, toggle, open, end, find, hasKeys = true } = state;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  // arrows move the selection even where letters do not
  if (event.key.length === 1 && !hasKeys) return false;
  const isStop = (index: number) => ["row", "now", "fold"].includes(items[index]?.kind ?? "");
  const step = (from: number, by: number) => {
    let index = from + by;
    while (index >= 0 && index < items.length && !isStop(index)) index += by;
    return index;
  };
  const item = items[at];
  const isAway = at < 0 && items.some(({ kind }) => kind === "unloaded");
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(step(at, 1)),
    j: () => move(step(at, 1)),
    ArrowUp: () => move(step(at, -1)),
    k: () => move(step(at, -1)),
    Home: () => move(step(-1, 1)),
    g: () => move(step(-1, 1)),
    End: () => void end(),
    G: () => void end(),
    PageDown: () => move(Math.min(step(at + 8, 1), step(items.length, -1))),
    PageUp: () => move(Math.max(step(Math.max(0, at - 8), -1), step(-1, 1))),
    ArrowRight: () => {
      if (item?.kind === "row" && item.row.steps > 0) toggle(item.row.ref, true);
      if (item?.kind !== "fold") return;
      toggle(item.key, true);
      onSelect(item.rows[0]!.ref);
    },
    ArrowLeft: () => item?.kind === "row" && open.has(item.row.ref) && toggle(item.row.ref, false),
  };
  const act = moves[event.key];
  if (act === undefined) return false;
  event.preventDefault();
  if (isAway && MOVES_BY_ONE.has(event.key)) find();
  else act();
  return true;
}
