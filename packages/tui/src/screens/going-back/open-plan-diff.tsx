/** The diff of a plan: the files on disk against what the plan would make of them. */
import { DISK, type ComparedFiles } from "../../data/comparisons.ts";
import type { Frame } from "../../frame/frame.tsx";
import type { Plan, PlanFile } from "../../plans/plan.ts";
import { GOING_BACK } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";

const TYPES = { delete: "deleted", change: "modified", create: "added", mode: "mode" } as const;

/** Opens the diff of a plan at one of its files. */
export function openPlanDiff(frame: Frame, plan: Plan, file: PlanFile): void {
  const pair = { from: DISK, to: plan.id, plan: { id: plan.id, files: loadComparedFiles(plan) } };
  const title = { from: GOING_BACK.now, to: GOING_BACK.after[plan.kind] };
  frame.open(<DiffScreen pair={pair} title={title} path={file.path} />);
}

/** The files of a plan as a comparison lists them. */
function loadComparedFiles({ files, filesTotal }: Plan): ComparedFiles {
  const changes = files.map(({ path, pathBase64, change, plus, minus, binary }) => ({
    path,
    ...(pathBase64 !== undefined && { pathBase64 }),
    type: TYPES[change],
    linesAdded: plus,
    linesDeleted: minus,
    binary,
    tooLarge: false,
    attribution: null,
  }));
  const number = (change: PlanFile["change"]) => files.filter((file) => file.change === change).length;
  const lines = (of: "plus" | "minus") => files.reduce((sum, file) => sum + (file[of] ?? 0), 0);
  return {
    files: changes,
    filesTotal,
    summary: {
      added: number("create"),
      modified: number("change") + number("mode"),
      deleted: number("delete"),
      linesAdded: lines("plus"),
      linesDeleted: lines("minus"),
    },
  };
}
