/** The main screen: what happened at the left, what the selected row did at the right. */
import { Icon, quantity, TimelineList, type DiffLook, type HistoryRow } from "@belay/react";
import { useEffect, useState, type ReactNode } from "react";
import { comparePath, go, timelinePath } from "../address.ts";
import { NeedsYou } from "../fixes/needs-you.tsx";
import { lettersAct } from "../preferences.ts";
import { Shell } from "../shell/shell.tsx";
import { TopBar } from "../shell/topbar.tsx";
import { PAGE } from "../words.ts";
import type { Changed, RowMode } from "./history-filter.ts";
import { CompareBar, markedRows, stateOf } from "./compare-bar.tsx";
import { Detail } from "./detail.tsx";
import { Newer, newerHint, NothingHere } from "./states.tsx";
import { useTimeline } from "./use-timeline.ts";

const LOOK: DiffLook = { layout: "unified", wrap: false, words: true, whitespace: "exact" };

/** The main screen of a project. */
export function TimelineView({ query }: { readonly query: URLSearchParams }): ReactNode {
  const view = useTimeline(query);
  const { workspace, dialogs, history, thread, q } = view;
  const isAfterRows = useAfterRows(history.rows.length > 0);
  const row = isAfterRows ? view.row : undefined;
  const newer = newerHint(history.error);
  if (newer !== undefined) return <Newer hint={newer} />;
  return (
    <Shell
      workspace={workspace}
      status={view.status}
      threads={view.threads}
      working={history.now?.working ?? []}
      thread={thread}
      title="Timeline"
      top={
        <TopBar
          status={view.status}
          search={q}
          onSearch={(words) => go(timelinePath(workspace, { thread, q: words }), { replace: true })}
          onUndo={() => dialogs.plan({ kind: "undo", name: "" })}
          onRedo={() => dialogs.plan({ kind: "redo", name: "" })}
          onCheckpoint={() => dialogs.open({ kind: "checkpoint" })}
        />
      }
    >
      <main className={view.isPaneOpen ? "b-work b-pane-open" : "b-work"} onKeyDown={view.onKey}>
        <List view={view} />
        {row === undefined ? (
          <section className="b-pane" aria-label="Nothing selected">
            {isAfterRows ? <p className="b-empty">{PAGE.nowSelected}</p> : null}
          </section>
        ) : (
          <Detail
            key={row.ref}
            workspace={workspace}
            row={row}
            gitNow={view.status?.git}
            look={LOOK}
            version={view.version}
            isMixed={isMixed(row, history.rows)}
            tab={view.tab}
            threadName={view.threads.find(({ id }) => id === row.thread)?.title ?? undefined}
            onTab={view.setTab}
            onPlan={dialogs.plan}
            onBranch={(from) => dialogs.open({ kind: "branch", from })}
            onAnnotate={(field) => dialogs.open({ kind: "annotate", row, field })}
            onBack={() => view.setPaneOpen(false)}
          />
        )}
      </main>
      {dialogs.element}
    </Shell>
  );
}

/** True once the rows stand in the list: what the selected one did is drawn after them. */
function useAfterRows(hasRows: boolean): boolean {
  const [isAfter, setAfter] = useState(false);
  useEffect(() => {
    if (!hasRows) return;
    const timer = setTimeout(() => setAfter(true));
    return () => clearTimeout(timer);
  }, [hasRows]);
  return isAfter;
}

/** Whether another turn was at work during a turn. */
function isMixed(turn: HistoryRow, rows: readonly HistoryRow[]): boolean {
  const end = ({ endedAt }: HistoryRow) => endedAt ?? "9";
  return rows.some(
    (row) => row.kind === "turn" && row.ref !== turn.ref && row.at < end(turn) && turn.at < end(row),
  );
}

function List({ view }: { readonly view: ReturnType<typeof useTimeline> }): ReactNode {
  const { workspace, history, q, thread, marks, mode, changed, isFiltered } = view;
  const newest = history.rows[0];
  return (
    <section className="b-tl" aria-label="Timeline">
      <ListBar
        {...{ mode, q, thread, changed }}
        setMode={view.setMode}
        setChanged={view.setChanged}
        total={history.total}
        marking={view.marking}
        onClear={() => go(timelinePath(workspace))}
      />
      <NeedsYou />
      {history.rows.length === 0 ? (
        <NothingHere history={history} isFiltered={isFiltered} q={q} />
      ) : (
        <TimelineList
          history={history}
          store={view.store}
          selected={view.selected}
          marks={markedRows(marks, history.rows).map(({ ref }) => ref)}
          isFiltered={isFiltered}
          isFolded={mode === "turns" && changed === "only"}
          isFlat={mode === "everything"}
          isCompact={view.density === "compact"}
          hasKeys={lettersAct()}
          threadNames={view.threadNames}
          onSelect={view.select}
          onAction={view.act}
          onStep={(on) => {
            view.setTab("steps");
            view.select(on.ref);
          }}
          onCompareNow={() => newest && go(comparePath(workspace, stateOf(newest), "disk"))}
        />
      )}
      <CompareBar workspace={workspace} marks={marks} rows={history.rows} onClear={() => view.setMarks([])} />
    </section>
  );
}

function ListBar(props: {
  readonly mode: RowMode;
  readonly changed: Changed;
  setMode(mode: RowMode): void;
  setChanged(changed: Changed): void;
  readonly q: string;
  readonly thread: string | undefined;
  readonly total: number;
  readonly marking: ReturnType<typeof useTimeline>["marking"];
  onClear(): void;
}): ReactNode {
  const { mode, setMode, changed, setChanged, q, thread, total, marking } = props;
  const isOnlyChanged = changed === "only";
  return (
    <div className="b-tlbar">
      <div className="b-seg" role="group" aria-label="How much to show">
        <button type="button" aria-pressed={mode === "turns"} onClick={() => setMode("turns")}>
          Turns
        </button>
        <button type="button" aria-pressed={mode === "everything"} onClick={() => setMode("everything")}>
          Everything
        </button>
      </div>
      <button
        type="button"
        className={isOnlyChanged ? "b-chip b-acc" : "b-chip b-edge"}
        aria-pressed={isOnlyChanged}
        aria-label="Only what has changes"
        title={isOnlyChanged ? PAGE.showUnchanged : PAGE.hideUnchanged}
        onClick={() => setChanged(isOnlyChanged ? "all" : "only")}
      >
        has changes
        {isOnlyChanged ? <Icon name="x" small /> : null}
      </button>
      {q === "" && thread === undefined ? null : (
        <button
          type="button"
          className="b-chip b-acc"
          aria-label={`Filtered by ${q === "" ? "one thread" : "search"}; show all`}
          onClick={props.onClear}
        >
          {q === "" ? "one thread" : "search"}
          <Icon name="x" small />
        </button>
      )}
      <span className="b-grow" />
      <span className="b-small b-faint b-nowrap" role="status">
        {quantity(total, "row")}
      </span>
      <button
        type="button"
        className="b-btn b-s b-quiet b-icon"
        aria-label={`Mark for comparison${marking.title === undefined ? "" : `: ${marking.title}`}`}
        title={
          marking.title === undefined
            ? "Select a row to mark it for comparison"
            : "Compare two: mark the selected row"
        }
        aria-pressed={marking.isMarked}
        aria-disabled={marking.title === undefined}
        onClick={marking.toggle}
      >
        <Icon name="compare" />
      </button>
    </div>
  );
}
