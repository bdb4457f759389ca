/** The diff of a row. */
import { useMemo, type ReactNode } from "react";
import { DISK, type StatePair } from "../../data/comparisons.ts";
import type { HistoryRow } from "../../data/history-row.ts";
import { useSource } from "../../data/source.tsx";
import { useFrame, type Frame } from "../../frame/frame.tsx";
import { visibleLine } from "../../text/visible.ts";
import { COMPARE_WORDS, DIFF_WORDS } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";
import { takeBackFrom } from "../going-back/open.tsx";
import { isState, stateName, stateOf } from "./marks.ts";

/** What a row changed: its two states; a state of its own is compared with the disk. */
export function changePair(row: HistoryRow): StatePair {
  return { from: stateOf(row), to: isState(row) ? DISK : (row.after ?? DISK) };
}

/** Opens what a row changed. */
export function openRowDiff(frame: Frame, row: HistoryRow, path?: string): void {
  frame.open(<RowDiffScreen row={row} path={path} />);
}

function RowDiffScreen({
  row,
  path,
}: {
  readonly row: HistoryRow;
  readonly path: string | undefined;
}): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const pair = useMemo(() => changePair(row), [row]);
  const title = isState(row)
    ? { from: stateName(row), to: COMPARE_WORDS.onDisk }
    : { from: DIFF_WORDS.before(visibleLine(row.title)), to: DIFF_WORDS.after };
  const takeBack = takeBackFrom(frame, source, row);
  return <DiffScreen pair={pair} title={title} takeBack={takeBack} {...(path !== undefined && { path })} />;
}
