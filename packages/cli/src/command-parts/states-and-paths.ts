/**
 * Operands that may be checkpoints or paths, told apart by git's rule: checkpoints come first, from the first path on
 * everything is a path, and what could be both is refused. After `--` there are only paths.
 */
import { EngineError, isTurnName, type Diff, type DiffOptions, type Workspace } from "@belay/engine";
import { ContractError, usageError } from "@belay/protocol/errors";
import { shellWords } from "@belay/protocol/command-text";
import type { Call } from "../call/command.ts";
import { isCheckpoint, isKnownPath } from "../call/known-word.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import { localReferences } from "./remote-reference.ts";

/** At most two checkpoints, and paths. */
export interface StatesAndPaths {
  readonly states: readonly string[];
  readonly paths: readonly string[];
}

/** Splits the operands of a command. */
export async function statesAndPaths(
  call: Pick<Call, "operands" | "dashesAt"> & Parameters<typeof localReferences>[0],
  workspace: Workspace,
): Promise<StatesAndPaths> {
  const after = call.operands.slice(call.dashesAt);
  const before = await localReferences(call, workspace, call.operands.slice(0, call.dashesAt));
  const onlyStates = after.length > 0;
  const firstPath = onlyStates ? -1 : await findFirstPath(call, workspace, before);
  const states = firstPath === -1 ? before : before.slice(0, firstPath);
  if (states.length > 2)
    throw usageError("`belay diff` takes at most two checkpoints.", "Paths come after them, or after --.");
  return { states, paths: firstPath === -1 ? after : before.slice(firstPath) };
}

/** -1 where every word is a checkpoint; a word that is none leads to the error of its resolution. */
async function findFirstPath(
  call: Pick<Call, "directory">,
  workspace: Workspace,
  words: readonly string[],
): Promise<number> {
  for (const [index, word] of words.entries()) {
    const states = words.slice(0, index);
    const isState = await isCheckpoint(workspace, word);
    const isPath =
      (await isKnownPath(call, workspace, word)) ||
      (!isState && (await isIn(call, workspace, { states, word })));
    if (isState && isPath)
      throw usageError(
        `"${word}" is both a checkpoint and a path.`,
        `\`belay diff -- ${word}\` is the path. For the checkpoint, use its number from \`belay list\`.`,
      );
    if (isPath) return index;
    if (!isState && /[./]/.test(word))
      throw usageError(
        `"${word}" is neither a checkpoint nor a file here.`,
        `A path that is gone goes after --: belay diff ${shellWords([...states, "--", word])}`,
      );
  }
  return -1;
}

/** Whether a word names something that the comparison of these checkpoints has: also a file that is gone meanwhile. */
async function isIn(
  { directory }: Pick<Call, "directory">,
  workspace: Workspace,
  { states, word }: { readonly states: readonly string[]; readonly word: string },
): Promise<boolean> {
  if (states.length === 0) return false;
  try {
    const paths = workspacePaths(workspace, directory, [word]);
    const { files } = await compare(workspace, states, { detail: "names", ...(paths && { paths }) });
    return files.length > 0;
  } catch (error) {
    // no path inside the workspace
    if (error instanceof EngineError || error instanceof ContractError) return false;
    throw error;
  }
}

/** What lies between two checkpoints, between one and the files as they are now, or what a turn changed. */
export async function compare(
  workspace: Workspace,
  [from, to]: readonly string[],
  options: DiffOptions,
): Promise<Diff> {
  if (from === undefined || to !== undefined || !isTurnName(from))
    return workspace.diff({ ...options, ...(from && { from }), ...(to && { to }) });
  const { id, before, after } = await workspace.timeline.row(from);
  return { from: before ?? id, to: after, ...(await workspace.timeline.changes(from, options)) };
}
