/** The states that are marked for comparison. */
import { afterOf, Icon, titleOf, type HistoryRow } from "@belay/react";
import type { ReactNode } from "react";
import { comparePath, go } from "../address.ts";

/** The state that a marked row stands for: the one after it. */
export function stateOf(row: HistoryRow): string {
  return afterOf(row)?.checkpoint ?? row.id;
}

/** The marked rows as they are now, the older one first; one may be far from what is loaded. */
export function markedRows(marks: readonly HistoryRow[], rows: readonly HistoryRow[]): HistoryRow[] {
  return marks
    .map((mark) => rows.find(({ ref }) => ref === mark.ref) ?? mark)
    .toSorted((a, b) => a.seq - b.seq);
}

/** The bar at the bottom; with one mark the other side is the disk. */
export function CompareBar(props: {
  readonly workspace: string;
  readonly marks: readonly HistoryRow[];
  readonly rows: readonly HistoryRow[];
  onClear(): void;
}): ReactNode {
  const [a, b] = markedRows(props.marks, props.rows);
  if (a === undefined) return null;
  return (
    <div className="b-cmpbar" role="group" aria-label="Marked for comparison">
      <span className="b-ab">A</span>
      <span className="b-cut b-grow">after {titleOf(a)}</span>
      <span className="b-ab b-b">B</span>
      <span className="b-cut b-grow">{b === undefined ? "the files on disk" : `after ${titleOf(b)}`}</span>
      <button
        type="button"
        className="b-btn b-s b-main"
        onClick={() => go(comparePath(props.workspace, stateOf(a), b === undefined ? "disk" : stateOf(b)))}
      >
        <Icon name="compare" small />
        Compare
      </button>
      <button
        type="button"
        className="b-btn b-s b-quiet b-icon"
        aria-label="Take the marks away"
        onClick={props.onClear}
      >
        <Icon name="x" />
      </button>
    </div>
  );
}
