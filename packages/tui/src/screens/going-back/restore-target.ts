/** States to go back to, in the words of the screens: before something, or a state of its own. */
import type { HistoryRow } from "../../data/history-row.ts";
import { clockSeconds } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { isState, stateOf } from "../timeline/marks.ts";

/** A state to go back to. */
export interface RestoreTarget {
  /** What requests name it by. */
  readonly ref: string;
  /** `before "Add retry…"` */
  readonly words: string;
  readonly time: string;
  readonly note: string | null;
  /** The conversation it belongs to; other conversations' work is left alone. */
  readonly thread: string | null;
}

/** Where a row goes back to: the state before it, or the state that it is. */
export function targetOf(row: HistoryRow): RestoreTarget {
  const { kind, title, at, note, thread } = row;
  const name = `"${visibleLine(title)}"`;
  return {
    ref: stateOf(row),
    words: !isState(row) ? `before ${name}` : kind === "checkpoint" ? `your checkpoint ${name}` : name,
    time: clockSeconds(Date.parse(at)),
    note: note === null ? null : visibleLine(note),
    thread,
  };
}
