/** Ghosts: listed, made and taken away. */
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { ghostJson, possible } from "../json/index.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** Answers the routes of ghosts. */
export function serveGhosts(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/ghosts", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      ghosts: possible(await workspace.ghosts()).map(ghostJson),
    })),
  );
  serveRoute(app, "POST /api/ghosts", ({ query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => {
      const { checkpoint, description } = body;
      return { ghost: ghostJson(possible(await workspace.ghost(checkpoint, defined({ description })))) };
    }),
  );
  serveRoute(app, "DELETE /api/ghosts/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      dropped: possible(await workspace.dropGhost(params.id)),
    })),
  );
}
