/** The ways from a row to the questions about going back; each opens as a question, and none acts. */
import type { Chosen } from "../../data/history-row.ts";
import type { Source } from "../../data/source.tsx";
import type { Frame } from "../../frame/frame.tsx";
import { line } from "../../frame/line.ts";
import { makePlan, plannedFileDiff, refusalOf, type PlanDiff } from "../../plans/plan.ts";
import { visibleLine } from "../../text/visible.ts";
import { GOING_BACK } from "../../words.ts";
import { isState } from "../timeline/marks.ts";
import { RestoreScreen } from "./restore-screen.tsx";
import { targetOf } from "./restore-target.ts";
import { StepScreen } from "./step-screen.tsx";

const QUESTION = { question: true } as const;

/** Restore to the state of a row or step: all files, or only some. */
export function openRestore(frame: Frame, chosen: Chosen, paths?: readonly string[]): void {
  frame.open(<RestoreScreen kind="restore" target={targetOf(chosen)} {...(paths && { paths })} />, QUESTION);
}

/** Undo or redo of the last step. */
export function openStep(frame: Frame, kind: "undo" | "redo"): void {
  frame.open(<StepScreen kind={kind} />, QUESTION);
}

/** Undo only this row or step; what came later stays. */
export function openUndoOnlyThis(frame: Frame, chosen: Chosen): void {
  if (isState(chosen.row)) return frame.say([line(`  ${GOING_BACK.noChange}`)]);
  frame.open(<StepScreen kind="revert" target={takenOut(chosen)} />, QUESTION);
}

/** What an undo of only this names: a turn has a name of its own, everything else its checkpoint. */
function takenOut({ row, step }: Chosen): string {
  if (step !== undefined) return step.id;
  return row.kind === "turn" ? row.ref : (row.after ?? row.id);
}

type Hunk = PlanDiff["hunks"][number];

/** Undo one hunk of what a row changed. Its lines are found again in the plan, or it says that they are gone. */
async function openUndoHunk(
  frame: Frame,
  source: Source,
  { chosen, path, hunk }: { readonly chosen: Chosen; readonly path: string; readonly hunk: Hunk },
): Promise<void> {
  const target = takenOut(chosen);
  const gone = () => frame.say([line(`  ${GOING_BACK.hunkGone}`)]);
  try {
    const { plan } = await makePlan(source, source.place.workspace, {
      kind: "revert",
      target,
      paths: [path],
    });
    const file = plan?.files.find((each) => each.path === path);
    if (!plan || file === undefined) return gone();
    const { hunks } = await plannedFileDiff(source, { id: plan.id, workspace: source.place.workspace }, file);
    const number = hunks.findIndex((each) => isInverse(each, hunk));
    if (number < 0) return gone();
    const part = { paths: [path], hunks: [{ path, hunks: [number] }], basedOn: plan.id };
    frame.open(<StepScreen kind="revert" target={target} part={part} />, QUESTION);
  } catch (error) {
    frame.say([line(`  ! ${visibleLine(refusalOf(error).message)}`, { colour: "yellow" })]);
  }
}

/** Whether one hunk takes out what the other put in. */
function isInverse(a: Hunk, b: Hunk): boolean {
  const changed = ({ lines }: Hunk, type: "+" | "-") =>
    lines
      .filter((each) => each.type === type)
      .map(({ text }) => text)
      .join("\n");
  return changed(a, "+") === changed(b, "-") && changed(a, "-") === changed(b, "+");
}

/** What `f` and `h` do in the diff of a row or step. */
export function takeBackFrom(frame: Frame, source: Source, chosen: Chosen) {
  return {
    file: (path: string) => openRestore(frame, chosen, [path]),
    ...(isState(chosen.row)
      ? {}
      : { hunk: (path: string, hunk: Hunk) => void openUndoHunk(frame, source, { chosen, path, hunk }) }),
  };
}
