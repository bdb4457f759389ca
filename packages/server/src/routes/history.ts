/** What happened in a workspace: rows, and the tool calls behind them. */
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { changedFileJson, changesJson, historyJson, historyStepJson, patchJson } from "../json/index.ts";
import { pathFromJson } from "../json/path-json.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** The longest patch that is sent. */
const PATCH_BYTES = 64 * 1024 * 1024;

/** Serves the routes of the timeline. */
export function serveHistory(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/history", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { workspace: _, since, thread, ...options } = query;
      // a cold look reads every directory: later pages do without it
      const isLater = [options.before, options.skip, options.around].some((each) => each !== undefined);
      const look = workspace.watching.state === "live" || !isLater;
      // before the rows: what comes between is in both
      const event = workspace.events.newest();
      return historyJson(
        await workspace.timeline.rows({
          ...defined(options),
          ...(since !== undefined && { since: Date.parse(since) }),
          ...(thread !== undefined && { thread: (await workspace.threads.get(thread)).id }),
          look,
        }),
        event,
      );
    }),
  );
  serveRoute(app, "GET /api/history/:seq/steps", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      steps: (await workspace.timeline.steps(params.seq)).map(historyStepJson),
    })),
  );
  serveRoute(app, "GET /api/history/:seq/changes", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { detail = "list", step } = query;
      return changesJson(await workspace.timeline.changes(params.seq, { detail, step }));
    }),
  );
  serveRoute(app, "GET /api/history/:seq/patch", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { files } = await workspace.timeline.changes(params.seq, { detail: "text", step: query.step });
      return patchJson(files, PATCH_BYTES);
    }),
  );
  serveRoute(app, "GET /api/history/:seq/changes/diff", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { context, whitespace, large, step } = query;
      const options = { path: pathFromJson(query), ...defined({ context, whitespace, large }), step };
      return changedFileJson(await workspace.timeline.changedFile(params.seq, options));
    }),
  );
}
