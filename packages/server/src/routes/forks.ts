/** Forks: listed, made, removed, brought back. Nothing here starts a program. */
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { forkJson, removedForkJson } from "../json/index.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** Serves forks. */
export function serveForks(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/forks", ({ query }) =>
    inWorkspace(served, query.workspace, async ({ forks }) => ({
      forks: (await forks.list(defined({ removed: query.removed }))).map(forkJson),
    })),
  );
  serveRoute(app, "POST /api/forks", ({ query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async ({ forks }) => {
      const { from, git, dependencies } = body;
      const { fork, warnings } = await forks.create(body.name, defined({ from, git, dependencies }));
      return { fork: forkJson(fork), warnings: [...warnings] };
    }),
  );
  serveRoute(app, "GET /api/forks/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async ({ forks }) => ({
      fork: forkJson(await forks.find(nameIn(params))),
      environment: await forks.environment(nameIn(params)),
    })),
  );
  serveRoute(app, "DELETE /api/forks/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async ({ forks }) => {
      const { now, despiteGaps } = query;
      return removedForkJson(await forks.remove(nameIn(params), defined({ now, despiteGaps })));
    }),
  );
  serveRoute(app, "POST /api/forks/:id/restore", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async ({ forks }) => ({
      fork: forkJson(await forks.restore(nameIn(params))),
    })),
  );
}

/** An address has no encoded slash: that of a name is written "~" there, which no branch has in its name. */
function nameIn({ id }: { readonly id: string }): string {
  return id.replaceAll("~", "/");
}
