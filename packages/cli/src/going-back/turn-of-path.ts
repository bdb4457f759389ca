/**
 * A path where none can be gone back to: the last step did not change it, or it stands in the place of a checkpoint. Names
 * the turn that changed it last, and the commands that bring it back.
 */
import { EngineError, isTurnName, type Checkpoint, type Workspace } from "@belay/engine";
import { shellWords } from "@belay/protocol/command-text";
import { ContractError } from "@belay/protocol/errors";
import { isCheckpoint, isKnownPath } from "../call/known-word.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import type { Call } from "../call/command.ts";

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
    if (turn !== undefined)
      throw new ContractError(error.code, error.message, {
        // as the shell's directory needs it
        hint: waysOfTurn(turn, word ?? missing),
        facts: error.facts,
      });
    if (word === undefined || !(await isCheckpoint(workspace, word))) throw error;
    throw new ContractError(error.code, error.message, {
      hint: `Undo takes paths and the newest steps. \`${shellWords(["belay", "restore", word])}\` goes back to that checkpoint.`,
      facts: error.facts,
    });
  }
}

/** [R1704] Resolves a checkpoint; where a path was given instead, the refusal says how to go back with one. */
export async function resolveNamingPaths(
  { directory }: Pick<Call, "directory">,
  workspace: Workspace,
  word: string,
): Promise<Checkpoint> {
  try {
    return await workspace.resolve(word);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "CHECKPOINT_NOT_FOUND") throw error;
    const hint = await waysOfPath(workspace, { directory, word });
    if (hint === undefined) throw error;
    throw new ContractError(error.code, error.message, { hint, facts: error.facts });
  }
}

/** How to go back with a path; undefined for what is none that is known here. */
async function waysOfPath(
  workspace: Workspace,
  { directory, word }: { readonly directory: string; readonly word: string },
): Promise<string | undefined> {
  let path: string | undefined;
  try {
    [path] = workspacePaths(workspace, directory, [word]) ?? [];
  } catch (error) {
    // outside the workspace, or nothing that a path can be
    if (error instanceof EngineError || error instanceof ContractError) return undefined;
    throw error;
  }
  const turn = path === undefined || path === "" ? undefined : await turnOf(workspace, path);
  if (turn !== undefined) return waysOfTurn(turn, word);
  if (!(await isKnownPath({ directory }, workspace, word))) return undefined;
  return `That is a path, which comes after the checkpoint: \`${shellWords(["belay", "restore", "@", word])}\` brings it back as the newest checkpoint has it.`;
}

function waysOfTurn(turn: string, path: string): string {
  return `${turn} changed it last. \`${shellWords(["belay", "revert", turn, path])}\` takes that back, \`${shellWords(["belay", "restore", turn, path])}\` brings it back as it was before.`;
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
