/** The workspace a command works on: the nearest protected directory above the one it was started in. */
import type { Workspace } from "@belay/engine";
import { keepHooks } from "./agents/keep-hooks.ts";
import type { Call } from "./command.ts";
import { visible } from "./output/visible.ts";

/** Opens the workspace, passes on what opening noticed, and closes it whatever happens. */
export async function withWorkspace<Result>(
  call: Pick<Call, "directory" | "home" | "output">,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { startSecondLook } = await import("@belay/engine/second-look");
  const secondLook = startSecondLook(call.home, call.directory);
  const { findWorkspace } = await import("@belay/engine");
  await using workspace = await findWorkspace(call.directory, { home: call.home, secondLook });
  keepHooks(call.home, workspace);
  warnAll(call, workspace.notices);
  return await work(workspace);
}

export function warnAll(call: Pick<Call, "output">, warnings: readonly string[]): void {
  const { output } = call;
  for (const warning of warnings) output.warn(`${output.noteStyle.yellow("warning:")} ${visible(warning)}`);
}
