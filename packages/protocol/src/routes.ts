/**
 * Every route of the canonical API: its input and its answer, in one table. The server serves it,
 * `openapi.json` describes it, the client gets its types from it.
 */
import type { z } from "zod";
import { BRANCHES } from "./routes/branch-routes.ts";
import { FORKS } from "./routes/fork-routes.ts";
import { GHOSTS } from "./routes/ghost-routes.ts";
import { HISTORY } from "./routes/history-routes.ts";
import { MERGES } from "./routes/merge-routes.ts";
import { MOLDABLE } from "./routes/moldable-routes.ts";
import { INDEX } from "./routes/index-routes.ts";
import { PAGES } from "./routes/page-routes.ts";
import { COMPARE, PLANS } from "./routes/plan-routes.ts";
import { REMOTES } from "./routes/remote-routes.ts";
import { SHARES } from "./routes/share-routes.ts";
import { RUNS } from "./routes/run-routes.ts";
import { APPROVAL, CHECKPOINTS, THREADS } from "./routes/thread-routes.ts";
import { WORKSPACE } from "./routes/workspace-routes.ts";
import type * as shapes from "./shapes.ts";

export type { Route } from "./routes/route-parts.ts";

/** The table of all routes: address, method, what is asked and answered. */
export const ROUTES = {
  ...THREADS,
  ...CHECKPOINTS,
  ...COMPARE,
  ...APPROVAL,
  ...BRANCHES,
  ...FORKS,
  ...GHOSTS,
  ...MERGES,
  ...MOLDABLE,
  ...INDEX,
  ...PLANS,
  ...REMOTES,
  ...SHARES,
  ...RUNS,
  ...WORKSPACE,
  ...HISTORY,
  ...PAGES,
} as const;

/** A method and a path of the table. */
export type RouteName = keyof typeof ROUTES;

/** What the handler of a route answers; a stream of events is a response of its own. */
export type RouteAnswer<Name extends RouteName> = (typeof ROUTES)[Name] extends {
  readonly response: infer Shape extends z.ZodType;
}
  ? shapes.Json<Shape>
  : Response;
