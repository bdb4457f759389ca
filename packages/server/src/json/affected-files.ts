/** The files a plan touches: directories only count when nothing else does. */
import type { BytePath, Edit, Plan } from "@belay/engine";

export function affectedFiles(plan: Pick<Plan, "edits">): BytePath[] {
  const files = plan.edits.filter(touchesFile);
  return (files.length > 0 ? files : plan.edits).map((edit) => edit.path);
}

function touchesFile({ from, to }: Edit): boolean {
  return (from !== undefined && from.kind !== "directory") || (to !== undefined && to.kind !== "directory");
}
