/** The application: the canonical routes and the two reference mounts, over one set of actions. */
import { answerJson } from "../http/answer.ts";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BODY_LIMIT_BYTES } from "../http/guard.ts";
import { mountDialogTracker } from "../mounts/dialog-tracker.ts";
import { mountDialogs } from "../mounts/dialogs.ts";
import { mountSessions } from "../mounts/sessions.ts";
import { serveApproval } from "../routes/approval.ts";
import { serveCheckpoints } from "../routes/checkpoints.ts";
import { serveComparisons } from "../routes/comparisons.ts";
import { serveBranches } from "../routes/branches.ts";
import { serveForks } from "../routes/forks.ts";
import { serveAgentHooks } from "../routes/agent-hooks.ts";
import { serveGhosts } from "../routes/ghosts.ts";
import { serveMoldable } from "../routes/moldable.ts";
import { serveMerges } from "../routes/merges.ts";
import { serveSearchIndex } from "../routes/search-index.ts";
import { servePlans } from "../routes/plans.ts";
import { serveHistory } from "../routes/history.ts";
import { serveRemotes } from "../routes/remotes.ts";
import { serveShares } from "../routes/shares.ts";
import { serveRuns } from "../routes/runs.ts";
import type { Served } from "../routes/served.ts";
import { servePages } from "../routes/pages.ts";
import { serveThreads } from "../routes/threads.ts";
import { serveUpkeep } from "../routes/upkeep.ts";
import { serveWorkspaces } from "../routes/workspaces.ts";
import type { Log } from "../hosting/log.ts";
import { ContractError, errorJson, reportError } from "@belay/protocol/errors";
import type { WorkspaceHost } from "../hosting/workspace-host.ts";

/** Adds routes of the program that assembles the process. */
export type Extension = (app: Hono, host: WorkspaceHost) => void;

/** The HTTP application with all routes. */
export function createApp(served: Served, log: Log, extend?: Extension): Hono {
  const app = new Hono();
  app.use(
    bodyLimit({
      maxSize: BODY_LIMIT_BYTES,
      onError: () => {
        throw new ContractError("BODY_TOO_LARGE", "The body is larger than 1 MiB. Nothing was changed.");
      },
    }),
  );
  serveThreads(app, served);
  serveCheckpoints(app, served);
  serveComparisons(app, served);
  serveApproval(app, served);
  serveBranches(app, served);
  serveForks(app, served);
  serveGhosts(app, served);
  serveMoldable(app, served);
  serveMerges(app, served);
  serveSearchIndex(app, served);
  servePlans(app, served);
  serveRemotes(app, served);
  serveShares(app, served);
  serveRuns(app, served);
  serveWorkspaces(app, served);
  servePages(app, served);
  serveHistory(app, served);
  serveUpkeep(app, served);
  serveAgentHooks(app, served);
  mountDialogs(app, served);
  mountDialogTracker(app, served);
  mountSessions(app, served);
  extend?.(app, served.host);
  app.notFound(() => {
    throw new ContractError(
      "ROUTE_NOT_FOUND",
      "There is nothing at this address. `GET /openapi.json` lists all routes.",
    );
  });
  app.onError((error) => {
    const report = reportError(error, { kind: "api" });
    if (report.status >= 500) log.error("request failed", { error: String(error.stack ?? error) });
    return answerJson(errorJson(report), report.status);
  });
  return app;
}
