/** What agents' hooks keep beside the store, kept in step with a workspace. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { listUncaptured } from "@belay/agents/uncaptured";
import type { Workspace } from "@belay/engine";

/** From now on, every restore puts hooks back, and every forgotten conversation is forgotten here too; agents are asked for
 * interrupts, and what hooks could not record is known. */
export function connectToAgents(home: string, workspace: Workspace): void {
  workspace.events.afterForget(async ({ agent, externalId }) => {
    // the thread of a run has the run's id: its log holds the same words
    if (/^[k-z]{16}$/.test(externalId))
      rmSync(join(home, "runs", workspace.id, externalId), { recursive: true, force: true });
    if (!existsSync(join(home, "agents"))) return;
    const { forgetConversation } = await import("@belay/agents");
    await forgetConversation(home, { agent, session: externalId });
  });
  workspace.events.askInterruptions(async (threads) => {
    if (!existsSync(join(home, "agents"))) return [];
    const { findInterruptions } = await import("./interruptions.ts");
    return findInterruptions(home, threads);
  });
  workspace.events.askUnrecorded(() =>
    listUncaptured(home).map(({ cwd, at, problem }) => ({ directory: cwd, since: at, problem })),
  );
  // [R63] a restore must not remove the hooks that take the next checkpoint
  workspace.events.afterRestore(async (paths) => {
    if (!existsSync(join(home, "agents"))) return [];
    const { pathJson } = await import("@belay/server/json");
    const { putHooksBack } = await import("./agent-hooks.ts");
    const changed = paths.map((path) => pathJson(path).path);
    return putHooksBack(home, workspace.root, changed, Date.now());
  });
}
