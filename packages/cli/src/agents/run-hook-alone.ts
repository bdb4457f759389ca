/** One hook event, with the engine in this process: there is no resident process to do it. */
import { existsSync, realpathSync } from "node:fs";
import { runHook } from "@belay/agents/hook";
import { initWorkspace, findWorkspace, protectedRoots, type Workspace } from "@belay/engine";
import { innermostRoot } from "../call/innermost-root.ts";
import { syncAfterTurn } from "../resident/sync-after-turn.ts";
import { createAgentHost, worktreeToProtect, type OpenWorkspace } from "./workspace-agent-host.ts";

/** One event of an agent's hook. */
export interface HookEvent {
  readonly agent: string;
  readonly input: Buffer;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The event's name, and when its hook stops waiting. */
  readonly wait: { readonly id: string; readonly deadline: number };
}

/** Carries out an event and says what its hook prints. Never throws. */
export async function runHookAlone(home: string, event: HookEvent): Promise<string> {
  const opened: Workspace[] = [];
  const began = new Map<Workspace, number>();
  const open: OpenWorkspace = async (directory) => {
    // [R162] on a full disk a store can be open only once
    const known = opened.find(({ root }) => root === protectedRootOf(directory, home));
    const workspace = known ?? (await openForAgent(directory, home));
    if (workspace === null) return null;
    if (known === undefined) {
      opened.push(workspace);
      began.set(workspace, workspace.events.newest());
    }
    return { workspace, inTurn: (work) => work() };
  };
  try {
    return await runHook({
      ...event,
      input: [event.input],
      home,
      host: createAgentHost(open, home),
    });
  } finally {
    for (const workspace of opened) {
      sendEndedTurn(home, workspace, began.get(workspace)!);
      await workspace.close();
    }
  }
}

/** [R2265] Nothing of it may reach the hook. */
function sendEndedTurn(home: string, workspace: Workspace, since: number): void {
  try {
    if (workspace.events.after(since).some(({ type }) => type === "done")) syncAfterTurn(home, workspace);
  } catch {
    // the next turn tries again
  }
}

function protectedRootOf(directory: string, home: string): string | undefined {
  const roots = protectedRoots({ home }).map(({ path }) => path);
  return innermostRoot(roots, existsSync(directory) ? realpathSync(directory) : directory);
}

/** Null where nothing is protected. An agent's own worktree is protected at its first event. */
async function openForAgent(directory: string, home: string): Promise<Workspace | null> {
  try {
    return await findWorkspace(directory, { home });
  } catch (error) {
    if ((error as { code?: string }).code !== "WORKSPACE_NOT_FOUND") throw error;
    const worktree = await worktreeToProtect(directory, { home, notFound: error });
    return worktree === undefined ? null : (await initWorkspace(worktree, { home, nested: true })).workspace;
  }
}
