/** The first row: what lies on the disk now. */
import type { ReactNode } from "react";
import type { History } from "../data/history.ts";
import { clock, quantity, quoted, visible, WORDS } from "../words.ts";
import { titleOf } from "./row-text.ts";

/** "You are here", with how the disk differs from the newest row. */
export function NowRow(props: {
  readonly history: History;
  readonly isSelected: boolean;
  onSelect(): void;
  onCompare?(): void;
}): ReactNode {
  const { history, isSelected } = props;
  return (
    <div
      role="row"
      id="row-now"
      className="b-turn"
      aria-rowindex={1}
      aria-level={1}
      aria-selected={isSelected}
      aria-label={`now, ${WORDS.here}, ${nowText(history)}`}
      onClick={props.onSelect}
    >
      <span className="b-rail b-first" aria-hidden="true">
        <span className="b-knot b-here" />
      </span>
      <time role="gridcell">now</time>
      <div className="b-what" role="gridcell">
        <div className="b-title">{WORDS.here}</div>
        <div className="b-meta">
          <span className="b-cut">{nowText(history)}</span>
        </div>
      </div>
      <div className="b-act" role="gridcell">
        {props.onCompare === undefined ? null : (
          <button
            type="button"
            tabIndex={isSelected ? 0 : -1}
            className="b-btn b-s b-quiet"
            onClick={(event) => {
              // the row's own click would select it, and lead back from where this leads
              event.stopPropagation();
              props.onCompare?.();
            }}
          >
            Compare…
          </button>
        )}
      </div>
    </div>
  );
}

/** "Files on disk; README.md changed since 10:47", or which earlier state it equals. */
function nowText({ rows, now }: History): string {
  const newest = rows[0];
  if (newest === undefined || now === undefined) return "Files on disk";
  const { changed, first } = now;
  if (changed !== null && changed > 0) {
    const more = first === null ? changed : changed - 1;
    const named = [first === null ? "" : visible(first), more === 0 ? "" : moreFiles(more, first !== null)];
    const words = named.filter((name) => name !== "").join(" and ");
    return `Files on disk; ${words} changed since ${clock(newest.at)}`;
  }
  const same = rows.slice(1).find((row) => row.beforeSameAsNow === true && row.kind === "turn");
  if (same !== undefined)
    return `Files on disk; the same as before ${quoted(titleOf(same), 40)}, ${clock(same.at)}`;
  return "Files on disk; nothing changed since";
}

function moreFiles(count: number, isMore: boolean): string {
  return quantity(count, isMore ? "more file" : "file");
}
