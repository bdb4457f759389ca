/** What a merge is asked to bring in: branches, by their own names or by the runs that worked on them. */
import type { Run, Workspace } from "@belay/engine";
import { usageError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { visible } from "../output/visible.ts";

/** The branches of these names; without a name those of the last batch whose runs are done. */
export async function branchesToMerge(
  { operands, output }: Pick<Call, "operands" | "output">,
  workspace: Workspace,
): Promise<string[]> {
  const runs = await workspace.runs.list();
  if (operands.length > 0) {
    const branches = new Set((await workspace.branches()).map(({ name }) => name));
    const names = operands.map((name) => name.replace(/^branch\//, ""));
    return [...new Set(names.flatMap((name) => (branches.has(name) ? [name] : branchesOf(name, runs))))];
  }
  const last = runs.find(({ fork }) => fork !== null);
  if (last === undefined) throw usageError("merge needs the name of a branch.", "`belay branch` lists them.");
  const batch = runs.filter((run) => run.batch === last.batch && run.fork !== null).toReversed();
  const left = batch.filter(({ status }) => status !== "done");
  for (const { role, status, branch } of left)
    output.note(`Left out: ${visible(branch)}, whose run ${visible(role)} is ${status}.`);
  const done = batch.filter((run) => !left.includes(run)).map(({ branch }) => branch);
  if (done.length > 0) return [...new Set(done)];
  throw usageError(
    "No run of the last batch is done.",
    "`belay agents list` lists them; a name merges one all the same.",
  );
}

/** A run, or all runs of a batch, by the beginning of its id; another name is left to the merge, which knows no such branch. */
function branchesOf(name: string, runs: readonly Run[]): string[] {
  const found = runs.filter(
    ({ id, batch, fork }) => fork !== null && (id.startsWith(name) || batch.startsWith(name)),
  );
  return found.length === 0 ? [name] : found.toReversed().map(({ branch }) => branch);
}
