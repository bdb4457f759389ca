/** Sessions, approval, reset; undo, redo, revert. Whatever changes files carries out a plan that was shown. */
import type { Plan, PlanKind } from "@belay/engine";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import {
  approvalJson,
  outcomeJson,
  planJson,
  plannedStepsJson,
  resetOutcomeJson,
  sessionJson,
  sessionStatusJson,
  stepsOutcomeJson,
} from "../json/index.ts";
import { carryOutPlan, restoresTo } from "./carry-out-plan.ts";
import { checkpointIn, checkpointOf, defined, inThread, type Served } from "./served.ts";

/** Serves the routes of approval and of undo, redo and revert. */
export function serveApproval(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/session", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const options =
        query.diffs === true ? ({ detail: "text", content: true } as const) : ({ detail: "counts" } as const);
      return sessionStatusJson(await workspace.approvals.session(thread, options));
    }),
  );
  serveRoute(app, "GET /api/threads/:id/sessions", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => ({
      sessions: (await workspace.approvals.sessions(thread)).map(sessionJson),
    })),
  );
  serveRoute(app, "POST /api/threads/:id/approve", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const options = body.message === undefined ? {} : { message: body.message };
      return approvalJson(await workspace.approvals.approve(thread, options));
    }),
  );
  serveRoute(app, "GET /api/threads/:id/reset/preview", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => ({
      plan: planJson(await workspace.approvals.planReset(thread)),
    })),
  );
  serveRoute(app, "POST /api/threads/:id/reset", async ({ params, body }) => {
    const hosted = await served.host.findThread(params.id);
    const fits = (plan: Plan) => plan.kind === "reset" && plan.thread === params.id;
    return carryOutPlan({ served, hosted }, body, { fits, report: resetOutcomeJson });
  });
  serveRoute(app, "POST /api/threads/:id/restore", async ({ params, body }) => {
    const hosted = await served.host.findThread(params.id);
    const fits = restoresTo((await checkpointIn(hosted, params.id, body.checkpointId)).id);
    return carryOutPlan({ served, hosted }, body, { fits, report: outcomeJson });
  });
  serveSteps(app, served);
}

function serveSteps(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/undo/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) =>
      plannedStepsJson(await workspace.planUndo({ thread, ...defined(query) })),
    ),
  );
  serveRoute(app, "GET /api/threads/:id/redo/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) =>
      plannedStepsJson(await workspace.planRedo({ thread, ...defined(query) })),
    ),
  );
  serveRoute(app, "GET /api/threads/:id/revert/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { checkpoint, ...options } = query;
      const { id } = await checkpointOf(workspace, thread, checkpoint);
      return plannedStepsJson(await workspace.planRevert(id, defined(options)));
    }),
  );
  for (const kind of ["undo", "redo", "revert"] as const) {
    serveRoute(app, `POST /api/threads/:id/${kind}`, async ({ params, body }) => {
      const hosted = await served.host.findThread(params.id);
      const fits = (plan: Plan) => plan.kind === (kind satisfies PlanKind);
      return carryOutPlan({ served, hosted }, body, { fits, report: stepsOutcomeJson });
    });
  }
}
