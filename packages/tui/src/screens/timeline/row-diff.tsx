/** The diff of a row. */
import { DISK, type StatePair } from "../../data/comparisons.ts";
import type { HistoryRow } from "../../data/history-row.ts";
import type { Frame } from "../../frame/frame.tsx";
import { visibleLine } from "../../text/visible.ts";
import { COMPARE_WORDS, DIFF_WORDS } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";
import { isState, stateName, stateOf } from "./marks.ts";

/** What a row changed: its two states; a state of its own is compared with the disk. */
export function changePair(row: HistoryRow): StatePair {
  return { from: stateOf(row), to: isState(row) ? DISK : (row.after ?? DISK) };
}

/** Opens what a row changed. */
export function openRowDiff(frame: Frame, row: HistoryRow, path?: string): void {
  const title = isState(row)
    ? { from: stateName(row), to: COMPARE_WORDS.onDisk }
    : { from: DIFF_WORDS.before(visibleLine(row.title)), to: DIFF_WORDS.after };
  frame.open(<DiffScreen pair={changePair(row)} title={title} {...(path !== undefined && { path })} />);
}
