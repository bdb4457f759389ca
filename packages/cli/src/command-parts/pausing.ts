/** Pauses or resumes every protected directory. */
import type { Pause, Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { warnAll } from "../wiring/open-workspace.ts";

/**
 * True when at least one of them was paused before. A directory that cannot be opened is named; the pause
 * holds there too.
 */
export async function inEveryWorkspace(call: Call, pause: Pause | null): Promise<boolean> {
  const { setPauseOfAll } = await import("@belay/engine");
  await using opened = new AsyncDisposableStack();
  const workspaces = await openAll(call, opened);
  const paused = workspaces.filter((workspace) => workspace.paused !== null);
  if (pause === null) for (const workspace of paused) await workspace.resume("all");
  else for (const workspace of workspaces) await workspace.pause(pause, "all");
  setPauseOfAll(call.home, pause);
  return paused.length > 0;
}

async function openAll(call: Call, opened: AsyncDisposableStack): Promise<Workspace[]> {
  const { findWorkspace, protectedRoots } = await import("@belay/engine");
  const workspaces: Workspace[] = [];
  for (const { path } of protectedRoots({ home: call.home })) {
    try {
      workspaces.push(opened.use(await findWorkspace(path, { home: call.home })));
    } catch (error) {
      warnAll(call, [`${path}: ${(error as Error).message}`]);
    }
  }
  return workspaces;
}
