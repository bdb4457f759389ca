/** Hook events in the resident process, which has the workspaces open. */
import { once } from "node:events";
import { HookService } from "@belay/agents/hook";
import { EXIT } from "@belay/protocol/errors";
import type { HookService as ServedHooks, WorkspaceHost } from "@belay/server";
import { ownEnvironment } from "../resident/own-environment.ts";
import { createAgentHost, worktreeToProtect, type OpenWorkspace } from "./workspace-agent-host.ts";

/** What the resident process is given to carry out hook events with, and what hears of a capture that failed. */
export function createHookService(
  home: string,
  host: WorkspaceHost,
  told: { captureFailed(failure: { readonly agent: string; readonly cwd: string }): void },
): ServedHooks {
  return new HookService(home, createAgentHost(openHosted(host, home), home, told));
}

function openHosted(host: WorkspaceHost, home: string): OpenWorkspace {
  return async (directory) => {
    try {
      return await host.find(directory);
    } catch (error) {
      if ((error as { code?: string }).code !== "WORKSPACE_NOT_FOUND") throw error;
      const worktree = await worktreeToProtect(directory, { home, notFound: error });
      if (worktree === undefined) return null;
      await protectInOwnProcess(worktree, home);
      return host.find(worktree);
    }
  };
}

/** A first capture reads every file in one go: done in this process, it would hold up all other requests. */
async function protectInOwnProcess(directory: string, home: string): Promise<void> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const command = ["--home", home, "-C", directory, "init", "--nested", "--no-agents", "--yes", "--json"];
  const child = spawn(process.execPath, [process.argv[1]!, ...command], {
    stdio: ["ignore", "ignore", "ignore"],
    env: ownEnvironment({ BELAY_RESIDENT: "off" }),
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== EXIT.done) throw new Error(`${directory} could not be protected (exit ${code})`);
}
