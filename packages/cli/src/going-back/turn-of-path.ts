/** A path that the last step did not change: names the turn that did, and the commands that bring it back. */
import { EngineError, isTurnName, type Workspace } from "@belay/engine";
import { shellWords } from "@belay/protocol/command-text";
import { ContractError } from "@belay/protocol/errors";

/** Rows that are looked through for the path; the newest that changed it is nearly always the first. */
const LOOKED_AT = 5;

/** [R1704] Does the work; where a path is not among the last step's, the refusal says whose it is. */
export async function namingTurns<Result>(
  workspace: Workspace,
  { paths = [], typed }: { readonly paths: readonly string[] | undefined; readonly typed: readonly string[] },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "PATH_NOT_IN_CHECKPOINT") throw error;
    const missing = (error.facts as { readonly path: string }).path;
    const word = typed[paths.indexOf(missing)];
    if (word !== undefined && isTurnName(word))
      throw new ContractError(error.code, error.message, {
        hint: `Undo takes paths and the newest steps. \`belay revert ${word}\` takes out that turn and keeps what came after it, \`belay restore ${word}\` goes back to before it.`,
        facts: error.facts,
      });
    const turn = paths.includes(missing) ? await turnOf(workspace, missing) : undefined;
    if (turn === undefined) throw error;
    // as the shell's directory needs it
    const path = typed[paths.indexOf(missing)] ?? missing;
    throw new ContractError(error.code, error.message, {
      hint: `${turn} changed it last. \`${shellWords(["belay", "revert", turn, path])}\` takes that back, \`${shellWords(["belay", "restore", turn, path])}\` brings it back as it was before.`,
      facts: error.facts,
    });
  }
}

/** The newest turn in place that changed a path. */
async function turnOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const { rows } = await workspace.timeline.rows({ q: `kind:turn file:"${path}"`, limit: LOOKED_AT });
  for (const { ref, kind, state } of rows) {
    if (kind !== "turn" || state === "undone") continue;
    const { files } = await workspace.timeline.changes(ref, { paths: [path], detail: "names" });
    if (files.length > 0) return ref;
  }
  return undefined;
}
