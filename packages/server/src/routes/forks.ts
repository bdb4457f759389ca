/** Forks: listed, made, removed, brought back. Nothing here starts a program. */
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { forkJson, removedForkJson } from "../json/index.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** Answers the routes of forks. */
export function serveForks(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/forks", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      forks: (await workspace.forks(defined({ removed: query.removed }))).map(forkJson),
    })),
  );
  serveRoute(app, "POST /api/forks", ({ query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => {
      const { from, git, dependencies } = body;
      const fork = await workspace.fork(body.name, defined({ from, git, dependencies }));
      return { fork: forkJson(fork), warnings: [...fork.warnings] };
    }),
  );
  serveRoute(app, "GET /api/forks/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      fork: forkJson(await workspace.findFork(nameIn(params))),
      environment: await workspace.forkEnvironment(nameIn(params)),
    })),
  );
  serveRoute(app, "DELETE /api/forks/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { now, despiteGaps } = query;
      return removedForkJson(await workspace.removeFork(nameIn(params), defined({ now, despiteGaps })));
    }),
  );
  serveRoute(app, "POST /api/forks/:id/restore", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => ({
      fork: forkJson(await workspace.restoreFork(nameIn(params))),
    })),
  );
}

/** An address has no encoded slash: that of a name is written "~" there, which no branch has in its name. */
function nameIn({ id }: { readonly id: string }): string {
  return id.replaceAll("~", "/");
}
