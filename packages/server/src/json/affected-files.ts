/** The files a plan touches; directories are not files. */
import type { BytePath, Edit, Plan } from "@belay/engine";

/** The files that a plan would change. */
export function affectedFiles(plan: Pick<Plan, "edits">): BytePath[] {
  return plan.edits.filter(touchesFile).map((edit) => edit.path);
}

function touchesFile({ from, to }: Edit): boolean {
  return (from !== undefined && from.kind !== "directory") || (to !== undefined && to.kind !== "directory");
}
