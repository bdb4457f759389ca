/** States to go back to, in the words of the screens: before something, or a state of its own. */
import type { Chosen } from "../../data/history-row.ts";
import { clockSeconds } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { chosenTitle, isState, stateOf } from "../timeline/marks.ts";

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

/** Where a row, or one of its steps, goes back to: the state before it, or the state that it is. */
export function targetOf(chosen: Chosen): RestoreTarget {
  const { row, step } = chosen;
  const name = `"${chosenTitle(chosen)}"`;
  return {
    ref: step?.before ?? stateOf(row),
    words: !isState(row) ? `before ${name}` : row.kind === "checkpoint" ? `your checkpoint ${name}` : name,
    time: clockSeconds(step?.at ?? row.at),
    note: row.note === null ? null : visibleLine(row.note),
    thread: row.thread,
  };
}
