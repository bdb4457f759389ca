/** The timeline of a workspace that needs nothing around it: it loads, selects and opens previews by itself. */
import { useState, type ReactNode } from "react";
import type { HistoryRow } from "../data/history.ts";
import { useHistory } from "../data/use-history.ts";
import { useGoBack } from "../plans/going-back.tsx";
import { restoreTo } from "../plans/restore-to.ts";
import { visible } from "../words.ts";
import { titleOf } from "./row-text.ts";
import { TimelineList } from "./timeline.tsx";

/** What the timeline shows of a workspace. */
export interface TimelineProps {
  /** Only what happened in this conversation, by its id. */
  readonly thread?: string;
  /** Words to look for. */
  readonly q?: string;
  readonly isCompact?: boolean;
  readonly className?: string;
  /** Stands in the place of the list while there is nothing to show. */
  readonly empty?: ReactNode;
  /** A row was selected; null: the files as they are now. */
  onSelect?(row: HistoryRow | null): void;
  /** Opens two states side by side; without it there is no such button. */
  onCompare?(from: string, to: string): void;
}

const NO_MARKS: readonly string[] = [];

/** What happened, newest first, live; a row's button opens the preview of going back. */
export function Timeline(props: TimelineProps): ReactNode {
  const { thread, q, isCompact = false, className = "", empty = null, onCompare } = props;
  const { history, store } = useHistory({ ...(thread && { thread }), ...(q && { q }) });
  const goBack = useGoBack();
  const [selected, setSelected] = useState<string | null>(null);
  const select = (ref: string) => {
    setSelected(ref);
    props.onSelect?.(history.rows.find((row) => row.ref === ref) ?? null);
  };
  const newest = history.rows[0];
  return (
    <section className={`belay b-tl b-own ${className}`} aria-label="Timeline">
      {history.error === undefined ? null : (
        <p className="b-empty" role="alert">
          {visible(history.error.message)}
        </p>
      )}
      {history.rows.length === 0 ? (
        history.isLoading ? null : (
          empty
        )
      ) : (
        <TimelineList
          history={history}
          store={store}
          selected={selected}
          marks={NO_MARKS}
          isFiltered={thread !== undefined || Boolean(q)}
          isCompact={isCompact}
          isFolded={!thread && !q}
          onSelect={select}
          onAction={(action, row) => {
            select(row.ref);
            if (action === "restore") restoreTo(row, goBack);
            if (action === "redo")
              goBack({ kind: "redo", name: titleOf(row), ...(row.thread && { thread: row.thread }) });
          }}
          onStep={(row) => select(row.ref)}
          {...(onCompare && newest && { onCompareNow: () => onCompare(newest.after ?? newest.id, "disk") })}
        />
      )}
    </section>
  );
}
