/** Hook events for the resident process: it already knows the files, the threads and the adapters. */
import { runHook } from "@belay/agents/hook";
import { initWorkspace } from "@belay/engine";
import type { Extension, WorkspaceHost } from "@belay/server";
import type { HookEvent } from "./run-hook.ts";
import { createAgentHost, worktreeToProtect, type OpenWorkspace } from "./workspace-agent-host.ts";

export function serveHooks(home: string): Extension {
  return (app, host) => {
    app.post("/api/hooks/:agent", async (context) => {
      const { input, cwd, environment, wait } = await context.req.json<{
        input: string;
        cwd: string;
        environment: NodeJS.ProcessEnv;
        wait?: HookEvent["wait"];
      }>();
      const answer = await runHook({
        agent: context.req.param("agent"),
        input: [Buffer.from(input, "utf8")],
        home,
        cwd,
        environment,
        ...(wait && { wait }),
        host: createAgentHost(opener(host, home), home),
      });
      return context.json({ answer });
    });
  };
}

function opener(host: WorkspaceHost, home: string): OpenWorkspace {
  return async (directory) => {
    try {
      return await host.find(directory);
    } catch (error) {
      if ((error as { code?: string }).code !== "WORKSPACE_NOT_FOUND") throw error;
      const worktree = await worktreeToProtect(directory, home);
      if (worktree === undefined) return null;
      await (await initWorkspace(worktree, { home, nested: true })).workspace.close();
      return host.find(worktree);
    }
  };
}
