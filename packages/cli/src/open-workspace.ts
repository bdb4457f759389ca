/** The workspace a command works on: the nearest protected directory above the one it was started in. */
import type { Workspace } from "@belay/engine";
import type { HeadStart } from "@belay/engine/head-start";
import { connectToAgents } from "./agents/connect-to-agents.ts";
import { recordUncaptured } from "./agents/uncaptured-work.ts";
import type { Call } from "./command.ts";
import { visible } from "./output/visible.ts";

type WorkspaceCall = Pick<Call, "directory" | "home" | "output">;

/** Opens the workspace, passes on what opening noticed, and closes it whatever happens. */
export async function withWorkspace<Result>(
  call: WorkspaceCall,
  work: (workspace: Workspace) => Promise<Result>,
  headStart?: HeadStart,
): Promise<Result> {
  const { findWorkspace } = await import("@belay/engine");
  await using workspace = await findWorkspace(call.directory, { home: call.home, headStart });
  connectToAgents(call.home, workspace);
  await recordUncaptured(call.home, workspace);
  warnAll(call, workspace.notices);
  return await work(workspace);
}

/** The same for a command that looks at the files first of all: in a big tree that begins before anything else. */
export async function withFiles<Result>(
  call: WorkspaceCall,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { startLooking } = await import("@belay/engine/head-start");
  return withWorkspace(call, work, startLooking(call.home, call.directory, Date.now()));
}

export function warnAll(call: Pick<Call, "output">, warnings: readonly string[]): void {
  const { output } = call;
  for (const warning of warnings) output.warn(`${output.noteStyle.yellow("warning:")} ${visible(warning)}`);
}
