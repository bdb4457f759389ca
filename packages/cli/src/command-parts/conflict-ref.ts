/** A conflict as it is typed. */
import { relative, resolve } from "node:path";
import type { Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";

/** As the engine has it: fewer letters are not the beginning of an id. */
const SHORTEST_PREFIX = 4;

/** An id or its beginning stays as it is; a path is relative to the directory of the call. */
export async function conflictRef(
  { directory }: Pick<Call, "directory">,
  workspace: Workspace,
  typed: string,
): Promise<string> {
  const conflicts = await workspace.conflicts();
  if (typed.length >= SHORTEST_PREFIX && conflicts.some(({ id }) => id.startsWith(typed))) return typed;
  const path = relative(workspace.root, resolve(directory, typed));
  return path.startsWith("..") || path === "" ? typed : path;
}
