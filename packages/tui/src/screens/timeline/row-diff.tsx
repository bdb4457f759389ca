/** The diff of a row. */
import { useMemo, type ReactNode } from "react";
import { DISK, type StatePair } from "../../data/comparisons.ts";
import type { Chosen } from "../../data/history-row.ts";
import { useSource } from "../../data/source.tsx";
import { useFrame, type Frame } from "../../frame/frame.tsx";
import { COMPARE_WORDS, DIFF_WORDS } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";
import { takeBackFrom } from "../going-back/open.tsx";
import { chosenTitle, isState, stateName, stateOf } from "./marks.ts";

/** What a row, or one of its steps, itself changed; a state is compared with the disk. */
export function changePair({ row, step }: Chosen): StatePair {
  if (step !== undefined)
    return {
      from: step.before ?? stateOf(row),
      to: step.after,
      own: { ref: row.ref, step: step.seq },
    };
  if (isState(row)) return { from: stateOf(row), to: DISK };
  return { from: stateOf(row), to: row.after ?? DISK, own: { ref: row.ref } };
}

/** Opens what a row, or one of its steps, changed. */
export function openRowDiff(frame: Frame, chosen: Chosen, path?: string): void {
  frame.open(<RowDiffScreen chosen={chosen} path={path} />);
}

function RowDiffScreen({
  chosen,
  path,
}: {
  readonly chosen: Chosen;
  readonly path: string | undefined;
}): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const pair = useMemo(() => changePair(chosen), [chosen]);
  const title = isState(chosen.row)
    ? { from: stateName(chosen.row), to: COMPARE_WORDS.onDisk }
    : { from: DIFF_WORDS.before(chosenTitle(chosen)), to: DIFF_WORDS.after };
  const takeBack = takeBackFrom(frame, source, chosen);
  return <DiffScreen pair={pair} title={title} takeBack={takeBack} {...(path !== undefined && { path })} />;
}
