/** Pages in browsers: codes, keys, and which pages are open. */
import type { Hono } from "hono";
import { ContractError } from "@belay/protocol/errors";
import { serveRoute } from "../http/serve-route.ts";
import type { Served } from "./served.ts";

/** Serves the routes of pages. */
export function servePages(app: Hono, { pages }: Served): void {
  serveRoute(app, "POST /api/pages/codes", async ({ body }) => ({
    code: pages.newCode(body.at === undefined ? undefined : new URL(body.at).origin),
  }));
  serveRoute(app, "POST /api/pages", async ({ body }) => ({ key: pages.open(body.code) }));
  serveRoute(app, "GET /api/pages", async ({ page }) => ({
    pages: pages.list().map(({ id, openedAt, usedAt }) => ({
      id,
      openedAt: new Date(openedAt).toISOString(),
      usedAt: new Date(usedAt).toISOString(),
      current: id === page?.id,
    })),
  }));
  serveRoute(app, "DELETE /api/pages/:id", async ({ params }) => {
    if (!pages.end(params.id)) throw new ContractError("ROUTE_NOT_FOUND", `No page ${params.id} is open.`);
    return { ended: params.id };
  });
}
