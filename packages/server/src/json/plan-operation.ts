/** What an edit is called in a plan that other programs read. */
import type { Edit } from "@belay/engine";

export type PlanOperationType = "create" | "restore" | "delete" | "mode" | "replace";

export function planOperationType({ from, to }: Edit): PlanOperationType {
  if (to === undefined) return "delete";
  if (from === undefined) return "create";
  if (from.kind !== to.kind) return "replace";
  const onlyMode =
    from.kind === "directory" || (from.kind === "file" && to.kind === "file" && from.hash === to.hash);
  return onlyMode ? "mode" : "restore";
}
