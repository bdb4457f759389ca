/** The workspace of a command: the nearest protected directory at or above its directory. */
import type { Workspace } from "@belay/engine";
import { connectToAgents } from "../agents/connect-to-agents.ts";
import { recordUncaptured } from "../agents/uncaptured-work.ts";
import type { Call } from "../call/command.ts";
import { visible } from "../output/visible.ts";
import { openSyntax } from "./open-syntax.ts";

type WorkspaceCall = Pick<Call, "directory" | "home" | "hosted" | "output">;

/**
 * Opens the workspace, prints the warnings of opening, and always closes it. In the resident process it is
 * open already and stays open.
 */
export async function withWorkspace<Result>(
  call: WorkspaceCall,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { hosted } = call;
  if (hosted !== undefined)
    return hosted.inTurn(async () => {
      await recordUncaptured(call.home, hosted.workspace);
      return work(hosted.workspace);
    });
  const { findWorkspace } = await import("@belay/engine");
  await using workspace = await findWorkspace(call.directory, { home: call.home });
  connectToAgents(call.home, workspace);
  workspace.parseWith(openSyntax);
  await recordUncaptured(call.home, workspace);
  warnAll(call, workspace.notices);
  return await work(workspace);
}

/** Prints warnings of the engine on stderr. */
export function warnAll(call: Pick<Call, "output">, warnings: readonly string[]): void {
  const { output } = call;
  for (const warning of warnings) output.warn(`${output.noteStyle.yellow("warning:")} ${visible(warning)}`);
}
