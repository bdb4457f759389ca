/** Search in the files of a workspace. */
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { defined, inWorkspace, type SearchService, type Served } from "./served.ts";

/** Serves the search index. */
export function serveSearchIndex(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/find", ({ query }) =>
    inWorkspace(served, query.workspace, (workspace) => {
      const { q, k, at } = query;
      return searchOf(served).find(workspace, { query: q, ...defined({ k, at }) });
    }),
  );
  serveRoute(app, "GET /api/index", ({ query }) =>
    inWorkspace(served, query.workspace, (workspace) => searchOf(served).state(workspace)),
  );
  serveRoute(app, "POST /api/index/sync", ({ query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, (workspace) => searchOf(served).sync(workspace)),
  );
  serveRoute(app, "GET /api/index/files", ({ query }) =>
    inWorkspace(served, query.workspace, (workspace) => searchOf(served).files(workspace)),
  );
  serveRoute(app, "POST /api/index/files", ({ query, body }) =>
    inWorkspace(served, query.workspace, (workspace) => {
      const { paths, content, known } = body;
      if (content !== undefined && paths.length !== 1)
        throw new ContractError("BAD_REQUEST", "`content` is that of one file. Nothing was indexed.");
      return searchOf(served).index(workspace, { paths, ...defined({ content, known }) });
    }),
  );
  serveRoute(app, "POST /api/index/remove", ({ query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      removed: await searchOf(served).remove(workspace, body.paths),
    })),
  );
}

function searchOf({ search }: Served): SearchService {
  if (search !== undefined) return search;
  throw new ContractError("ROUTE_NOT_FOUND", "This program has no search index.");
}
