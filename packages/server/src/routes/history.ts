/** What happened in a workspace: rows, and the tool calls behind them. */
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { historyJson, historyStepJson } from "../json/index.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** Serves the routes of the timeline. */
export function serveHistory(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/history", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { workspace: _, since, thread, ...options } = query;
      // a cold look reads every directory: later pages do without it
      const look = workspace.watching.state === "live" || options.before === undefined;
      return historyJson(
        await workspace.timeline.rows({
          ...defined(options),
          ...(since !== undefined && { since: Date.parse(since) }),
          ...(thread !== undefined && { thread: (await workspace.threads.get(thread)).id }),
          look,
        }),
      );
    }),
  );
  serveRoute(app, "GET /api/history/:seq/steps", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      steps: (await workspace.timeline.steps(params.seq)).map(historyStepJson),
    })),
  );
}
