/** Branches in the contract's shape. */
import type { Branch } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";

/** A branch as the contract shows it. */
export function branchJson({ createdAt, updatedAt, ...branch }: Branch): Json<typeof shapes.branch> {
  return {
    ...branch,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
