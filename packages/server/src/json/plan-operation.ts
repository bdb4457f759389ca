/** The contract's words for the edits of a plan. */
import type { Edit } from "@belay/engine";

/** What a plan would do to a path, in the contract's words. */
export type PlanOperationType = "create" | "restore" | "delete" | "mode" | "replace";

/** What an edit would do to its path. */
export function planOperationType({ from, to }: Edit): PlanOperationType {
  if (to === undefined) return "delete";
  if (from === undefined) return "create";
  if (from.kind !== to.kind) return "replace";
  const onlyMode =
    from.kind === "directory" || (from.kind === "file" && to.kind === "file" && from.hash === to.hash);
  return onlyMode ? "mode" : "restore";
}
