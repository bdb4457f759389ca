/** What a word on the command line names here: a checkpoint, a path, both or neither. */
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { EngineError, pathFromBytes, type Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { workspacePath } from "./workspace-path.ts";

/** Whether a word names one checkpoint, or several. */
export async function isCheckpoint(workspace: Workspace, word: string): Promise<boolean> {
  try {
    await workspace.resolve(word);
    return true;
  } catch (error) {
    if (error instanceof EngineError) return error.code === "CHECKPOINT_AMBIGUOUS";
    throw error;
  }
}

/** Whether a word is a pattern, or names something on disk or a file of the newest checkpoint. */
export async function isKnownPath(
  { directory }: { readonly directory: string },
  workspace: Workspace,
  word: string,
): Promise<boolean> {
  if (/[*?[]/.test(word)) return true;
  if (lstatSync(resolve(directory, word), { throwIfNoEntry: false }) !== undefined) return true;
  try {
    const path = pathFromBytes(Buffer.from(workspacePath(workspace, directory, word), "utf8"));
    return path !== "" && (await workspace.file("@", path, 0)) !== null;
  } catch (error) {
    // outside the workspace, or no checkpoint yet
    if (error instanceof EngineError || error instanceof ContractError) return false;
    throw error;
  }
}
