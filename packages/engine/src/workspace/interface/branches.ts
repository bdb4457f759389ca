/** Branches of a workspace: named lines of checkpoints, one of which the working copy is on. */
import type { Branch, BranchRequest, SwitchOptions } from "../../model/branch.ts";
import type { Plan } from "../../model/plan.ts";

/** What a workspace can do with branches. */
export interface Branches {
  /** All branches, oldest first; with `deleted` also those that can be brought back. */
  branches(options?: { deleted?: boolean }): Promise<Branch[]>;
  /** Makes a branch and touches no file. Without `from` the present is captured first. Throws `BRANCH_TAKEN`, `BRANCH_NAME_INVALID`. */
  createBranch(name: string, request?: BranchRequest): Promise<Branch>;
  /** What `restore` would do to go to a branch: an exact restore to its head, after a capture on the present one. */
  planSwitch(name: string, options?: SwitchOptions): Promise<Plan>;
  renameBranch(name: string, next: string): Promise<Branch>;
  /** Deletes a branch that no working copy is on; its checkpoints stay, and for 30 days it can be brought back. */
  deleteBranch(name: string): Promise<Branch>;
  restoreBranch(name: string): Promise<Branch>;
}
