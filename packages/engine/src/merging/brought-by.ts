/** Which checkpoint brought a branch in. */
import type { Context } from "../capture/context.ts";
import { namedBranch } from "../history/branches.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { branchHere } from "../history/line.ts";
import { checkpointThatBrought } from "../history/meetings.ts";
import type { Checkpoint } from "../model/checkpoint.ts";

/** The checkpoint that brought a branch in, by the branch's name; undefined for every other reference. */
export function broughtBy({ store: { db } }: Context, ref: string): Checkpoint | undefined {
  const branch = namedBranch(db, ref.replace(/^branch\//, ""));
  const seq = branch && checkpointThatBrought(db, branch.id, branchHere(db));
  return seq === undefined ? undefined : checkpointAt(db, seq);
}
