/** Hooks of agents, put in place and taken out as `belay init` and `belay uninstall` do it, by a process of their own. */
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import type { Served } from "./served.ts";

/** What the commands print of one file. */
interface ReportedFile {
  readonly path: string;
  readonly outcome: string;
  readonly reason?: string;
  readonly usedBy?: string[];
}

/** Serves the hooks of agents. */
export function serveAgentHooks(app: Hono, { host, work }: Served): void {
  serveRoute(app, "POST /api/agents/:agent/hooks", async ({ params, query, body }) => {
    const { action, dryRun = false } = body;
    const { workspace } = await host.find(query.workspace);
    const run = (...words: string[]) => work.run(workspace.root, [...words, `--agent=${params.agent}`]);
    if (action === "remove") {
      if (dryRun)
        throw new ContractError(
          "BAD_REQUEST",
          "`dryRun` says only what adding hooks would change. Nothing was done.",
        );
      const { hooks } = (await run("uninstall", "--yes")) as { hooks: ReportedFile[] };
      return { files: hooks, advice: [] };
    }
    if (dryRun) {
      const { files } = (await run("init", "--dry-run")) as { files: { path: string; action: string }[] };
      return { files: files.map(({ path, action: outcome }) => ({ path, outcome })), advice: [] };
    }
    const { agents } = (await run("init", "--yes")) as {
      agents: { files: ReportedFile[]; advice: string[] }[];
    };
    return { files: agents.flatMap(({ files }) => files), advice: agents.flatMap(({ advice }) => advice) };
  });
}
