/** Routes of a workspace as a whole, the settings, and the process itself. */
import { listSettings, writeSetting } from "@belay/engine";
import { openApiDocument } from "@belay/protocol";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import type { OpenPage } from "../http/page-book.ts";
import { streamEvents, type EventStreams } from "../http/sse.ts";
import { ContractError } from "@belay/protocol/errors";
import {
  checkpointDetailsJson,
  checkpointJson,
  isoTime,
  NO_RESIDENT,
  statusJson,
  takenJson,
  type ResidentStatus,
} from "../json/index.ts";
import { annotations } from "./checkpoints.ts";
import { defined, inWorkspace, type Served } from "./served.ts";
import type { Checkpoint, ThreadId, Workspace } from "@belay/engine";

/** Serves the routes of workspaces, settings and the process. */
export function serveWorkspaces(app: Hono, served: Served): void {
  app.get("/openapi.json", (context) => context.json(openApiDocument(served.version)));
  serveRoute(app, "GET /api/workspaces", async () => ({ workspaces: await served.host.all() }));
  serveRoute(app, "GET /api/status", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      ...statusJson(await workspace.status(), {
        resident: residentOf(served, workspace),
      }),
      watching: workspace.watching,
      ...(served.capture && { capture: await served.capture(workspace) }),
    })),
  );
  serveRoute(app, "GET /api/checkpoints", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { workspace: _, ...options } = query;
      return { checkpoints: listed(await workspace.list(defined(options)), workspace) };
    }),
  );
  serveRoute(app, "POST /api/checkpoints", ({ query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const thread = body.thread as ThreadId | undefined;
      const request = { kind: "manual", ...annotations(body), ...(thread && { thread }) } as const;
      return takenJson(await workspace.checkpoint(request), workspace.id);
    }),
  );
  serveRoute(app, "GET /api/checkpoints/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) =>
      checkpointDetailsJson(await workspace.show(params.id, defined({ since: query.since })), workspace.id),
    ),
  );
  serveRoute(app, "GET /api/search", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      checkpoints: listed(
        await workspace.list({ search: query.q, ...(query.limit !== undefined && { limit: query.limit }) }),
        workspace,
      ),
    })),
  );
  serveSettings(app, served);
  serveProcess(app, served);
}

function serveSettings(app: Hono, served: Served): void {
  const settings = () =>
    Object.fromEntries(
      listSettings(served.host.home).map(({ key, value, source }) => [key, { value, source }]),
    );
  serveRoute(app, "GET /api/settings", () => Promise.resolve({ settings: settings() }));
  serveRoute(app, "PUT /api/settings", ({ body }) => {
    writeSetting(served.host.home, body.key, body.value);
    return Promise.resolve({ settings: settings() });
  });
}

function serveProcess(app: Hono, served: Served): void {
  serveRoute(app, "PUT /api/pause", ({ query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const now = Date.now();
      if (body.minutes === null) await workspace.resume();
      else await workspace.pause({ since: now, until: now + body.minutes * 60_000 });
      const { paused } = workspace;
      return { paused: paused && { since: isoTime(paused.since), until: isoTime(paused.until) } };
    }),
  );
  serveRoute(app, "GET /api/events", async ({ query, request, page }) => {
    const workspaces = await findSome(served, query.workspace ?? [undefined]);
    return streamEvents(streamsFor(page, served), workspaces, request);
  });
  serveRoute(app, "GET /api/threads/:id/events", async ({ params, request, page }) => {
    const { workspace } = await served.host.findThread(params.id);
    return streamEvents(streamsFor(page, served), [workspace], request, params.id as ThreadId);
  });
  serveRoute(app, "GET /api/resident", async ({ page }) => ({
    ...runningFacts(served),
    ...(page && { token: null }),
    workspaces: (await served.host.all()).filter(({ open }) => open),
  }));
  serveRoute(app, "POST /api/resident/stop", () => {
    served.stop();
    return Promise.resolve({ stopping: true });
  });
}

/** One of several that is gone does not end the stream of the others. */
async function findSome({ host }: Served, names: readonly (string | undefined)[]): Promise<Workspace[]> {
  const found = await Promise.allSettled(names.map((name) => host.find(name)));
  const workspaces = found.flatMap((each) => (each.status === "fulfilled" ? [each.value.workspace] : []));
  const [first] = found;
  if (workspaces.length === 0 && first?.status === "rejected") throw first.reason;
  return [...new Set(workspaces)];
}

/** The stream of a page ends with its key. */
function streamsFor(page: OpenPage | undefined, { ending, listeners }: Served): EventStreams {
  return { listeners, ending: page === undefined ? ending : AbortSignal.any([ending, page.ended]) };
}

function listed(checkpoints: readonly Checkpoint[], workspace: Workspace) {
  return checkpoints.map((checkpoint) => checkpointJson(checkpoint, { workspace: workspace.id }));
}

function residentOf(served: Served, { watching }: Workspace): ResidentStatus {
  const facts = served.facts();
  if (facts === undefined) return NO_RESIDENT;
  return { running: true, pid: facts.pid, watching: watching.state === "live" };
}

function runningFacts(served: Served) {
  const facts = served.facts();
  if (facts === undefined)
    throw new ContractError("ROUTE_NOT_FOUND", "This is not the resident process. Nothing was changed.");
  return facts;
}
