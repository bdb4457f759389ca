/** Everything the main screen knows and does: what is selected, marked, filtered, open. */
import {
  filesOf,
  restoreTo,
  titleOf,
  useBelay,
  useHistory,
  useStatus,
  useThreads,
  useVersion,
  type History,
  type HistoryRow,
  type RowAction,
  type Thread,
} from "@belay/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { comparePath, go, timelinePath, viewPath } from "../address.ts";
import { changedAtFirst, changedKey, historyFilter, type Changed, type RowMode } from "./history-filter.ts";
import { useDialogs } from "../dialogs/use-dialogs.tsx";
import { usePreference } from "../preferences.ts";
import { markedRows, stateOf } from "./compare-bar.tsx";
import { useTimelineKeys } from "./timeline-keys.ts";

/** A tab of the detail. */
export type Tab = "changes" | "steps" | "conversation" | "details";

/** Up to this width the detail lies over the list. */
const NARROW = 900;

/** The state of the main screen. */
export function useTimeline(query: URLSearchParams) {
  const { workspace } = useBelay();
  const [q, thread] = [query.get("q") ?? "", query.get("thread") ?? undefined];
  const list = useListChoices();
  const { mode, setMode, density, setDensity } = list;
  const isFiltered = q !== "" || thread !== undefined;
  const { history, store } = useHistory(historyFilter(query, mode));
  const version = useVersion();
  const status = useStatus(version);
  const [tab, setTab] = useState<Tab>("changes");
  const [isPaneOpen, setPaneOpen] = useState(false);
  const dialogs = useDialogs(() => store.refresh());
  useEffect(() => store.hold(dialogs.isOpen), [dialogs.isOpen, store]);
  const selected = query.get("sel") ?? firstOf(history.rows.slice(0, NEWEST));
  const row = useSelectedRow(history, store, { selected, named: query.get("sel") });
  const select = (sel: string) => {
    go(timelinePath(workspace, { sel, thread, q }), { replace: true });
    if (innerWidth <= NARROW) setPaneOpen(true);
  };
  const { marks, setMarks, marking } = useMarks(row);
  const compare = () => {
    const [from = row, to] = markedRows(marks, history.rows);
    if (from !== undefined)
      go(comparePath(workspace, stateOf(from), to === undefined ? "disk" : stateOf(to)));
  };
  const act = (action: RowAction, on: HistoryRow) => {
    select(on.ref);
    if (action === "details") setTab("details");
    if (action === "redo")
      dialogs.plan({ kind: "redo", name: titleOf(on), ...(on.thread && { thread: on.thread }) });
    if (action === "restore") restoreTo(on, dialogs.plan);
  };
  const onKey = useTimelineKeys({
    row,
    dialogs,
    mark: marking.toggle,
    compare,
    details: () => {
      setTab(tab === "details" ? "changes" : "details");
      setPaneOpen(true);
    },
    open: () => setPaneOpen(true),
    everything: () => setMode(mode === "turns" ? "everything" : "turns"),
    pending: () => go(viewPath(workspace, "pending")),
    compact: () => setDensity(density === "roomy" ? "compact" : "roomy"),
  });
  const threads = useThreads(version);
  const threadNames = useThreadNames(threads);
  const shown = {
    q,
    thread,
    isFiltered,
    history,
    status,
    version,
    marks,
    marking,
    tab,
    isPaneOpen,
    selected,
    row,
    threads,
    threadNames,
  };
  const does = { setMarks, setTab, setPaneOpen, select, act, onKey };
  return { ...shown, ...list, ...does, workspace, store, dialogs };
}

/** The selected row, also where it is far from what is loaded; one that the address names is looked for. */
function useSelectedRow(
  history: History,
  store: ReturnType<typeof useHistory>["store"],
  { selected, named }: { readonly selected: string; readonly named: string | null },
): HistoryRow | undefined {
  const kept = useRef<HistoryRow>(undefined);
  const { rows, isLoading, between, below } = history;
  const found = rows.find(({ ref }) => ref === selected);
  useEffect(() => {
    if (!isLoading && named !== null && /^T?\d+$/.test(named)) void store.find(named);
    // what is selected by hand is there
  }, [store, isLoading]);
  if (found !== undefined) kept.current = found;
  const isGone = found === undefined && between + below === 0;
  return isGone || kept.current?.ref !== selected ? undefined : kept.current;
}

/** How the list is shown, as this browser remembers it. */
function useListChoices() {
  const [mode, setMode] = usePreference<RowMode>("rows", "turns");
  const [density, setDensity] = usePreference<"roomy" | "compact">("density", "roomy");
  const choices = { turns: useChanged("turns"), everything: useChanged("everything") };
  const [changed, setChanged] = choices[mode];
  return { mode, setMode, changed, setChanged, density, setDensity };
}

/** Whether rows that changed nothing are left out of a list, and how to change it. */
function useChanged(mode: RowMode) {
  return usePreference<Changed>(changedKey(mode), changedAtFirst(mode));
}

/** The rows that are marked for comparison, and how the selected one is marked. */
function useMarks(row: HistoryRow | undefined) {
  const [marks, setMarks] = useState<readonly HistoryRow[]>([]);
  const isMarked = marks.some(({ ref }) => ref === row?.ref);
  const mark = (its: HistoryRow) =>
    setMarks(isMarked ? marks.filter(({ ref }) => ref !== its.ref) : [...marks, its].slice(-2));
  const marking = {
    /** The selected row; undefined where none can be marked. */
    title: row && titleOf(row),
    isMarked,
    toggle: () => row && mark(row),
  };
  return { marks, setMarks, marking };
}

function useThreadNames(threads: readonly Thread[]): ReadonlyMap<string, string> {
  return useMemo(
    () => new Map(threads.map(({ id, title, externalId }) => [id, title ?? externalId])),
    [threads],
  );
}

/** Rows that come in from further back select nothing: the list would jump to them while it is scrolled. */
const NEWEST = 100;

/** The newest turn that did something; without one, the newest row. */
function firstOf(rows: readonly HistoryRow[]): string {
  const turn = rows.find((row) => row.kind === "turn" && (filesOf(row) > 0 || row.status === "working"));
  return (turn ?? rows[0])?.ref ?? "now";
}
