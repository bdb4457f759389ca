/** Sessions, approval, reset; undo, redo, revert. Whatever changes files carries out a plan that was shown. */
import type { Outcome, Plan, PlanKind, Workspace } from "@belay/engine";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { outcomeJson, planJson, sessionStatusJson, stepJson } from "../json/index.ts";
import { assertApplied, checkpointOf, inThread, type Served } from "./served.ts";

export function serveApproval(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/session", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const options =
        query.diffs === true ? ({ detail: "text", content: true } as const) : ({ detail: "counts" } as const);
      return sessionStatusJson(await workspace.session(thread, options));
    }),
  );
  serveRoute(app, "POST /api/threads/:id/approve", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const options = body.message === undefined ? {} : { message: body.message };
      const { approved, newSession, checkpointsApproved } = await workspace.approve(thread, options);
      return { approved, newSession, checkpointsApproved };
    }),
  );
  serveRoute(app, "GET /api/threads/:id/reset/preview", ({ params }) =>
    inThread(served, params.id, async (workspace, thread, hosted) => ({
      plan: planJson(hosted.keep(await workspace.planReset(thread)), true),
    })),
  );
  serveRoute(app, "POST /api/threads/:id/reset", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread, hosted) => {
      const plan = hosted.take(body.planId, (each) => each.kind === "reset" && each.thread === thread);
      const outcome = await workspace.restore(plan, { bestEffort: body.bestEffort ?? false });
      const report = outcomeJson(outcome, true);
      assertApplied(outcome, report);
      const { session } = await workspace.session(thread);
      return { ...report, resetTo: plan.checkpoint, newSession: session };
    }),
  );
  serveRoute(app, "POST /api/threads/:id/restore", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread, hosted) => {
      const { id } = await checkpointOf(workspace, thread, body.checkpointId);
      const plan = hosted.take(
        body.planId,
        ({ kind, checkpoint }) => kind === "restore" && checkpoint === id,
      );
      const outcome = await workspace.restore(plan, { bestEffort: body.bestEffort ?? false });
      const report = outcomeJson(outcome, true);
      assertApplied(outcome, report);
      return report;
    }),
  );
  serveSteps(app, served);
}

function serveSteps(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/undo/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread, hosted) =>
      planned(hosted.keep(await workspace.planUndo({ thread, ...defined(query) }))),
    ),
  );
  serveRoute(app, "GET /api/threads/:id/redo/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread, hosted) =>
      planned(hosted.keep(await workspace.planRedo({ thread, ...defined(query) }))),
    ),
  );
  serveRoute(app, "GET /api/threads/:id/revert/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread, hosted) => {
      const { checkpoint, ...options } = query;
      const { id } = await checkpointOf(workspace, thread, checkpoint);
      return planned(hosted.keep(await workspace.planRevert(id, defined(options))));
    }),
  );
  for (const kind of ["undo", "redo", "revert"] as const) {
    serveRoute(app, `POST /api/threads/:id/${kind}`, ({ params, body }) =>
      inThread(served, params.id, async (workspace, _, hosted) => {
        const plan = hosted.take(body.planId, (each) => each.kind === (kind satisfies PlanKind));
        const outcome = await workspace.restore(plan, { bestEffort: body.bestEffort ?? false });
        return stepsOutcomeJson(workspace, outcome);
      }),
    );
  }
}

function planned(plan: Plan | null) {
  return { plan: plan === null ? null : planJson(plan, true), steps: plan?.steps.map(stepJson) ?? [] };
}

async function stepsOutcomeJson(workspace: Workspace, outcome: Outcome) {
  const { canUndo, canRedo } = await workspace.status();
  const report = {
    ...outcomeJson(outcome, true),
    steps: outcome.plan.steps.map(stepJson),
    canUndo: canUndo !== null,
    canRedo: canRedo !== null,
  };
  assertApplied(outcome, report);
  return report;
}

function defined<Options extends object>(options: Options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]: Exclude<Options[Key], undefined>;
  };
}
