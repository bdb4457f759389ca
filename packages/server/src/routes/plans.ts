/** Plans of every kind by one route, and the route that carries them out. */
import {
  EngineError,
  type Decision,
  type Outcome,
  type Plan,
  type ThreadId,
  type Workspace,
} from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute, type RouteInput } from "../http/serve-route.ts";
import { pathFromJson, pathJson } from "../json/path-json.ts";
import {
  detailedPlanJson,
  type GoingBack,
  fileDiffJson,
  outcomeJson,
  resetOutcomeJson,
  stepsOutcomeJson,
} from "../json/index.ts";
import { carryOutPlan } from "./carry-out-plan.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

type PlanRequest = RouteInput<"POST /api/plans">["body"];

/** Answers the routes of plans: preview, apply, files of a plan. */
export function servePlans(app: Hono, served: Served): void {
  serveRoute(app, "POST /api/plans", ({ query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => ({
      plan: await detailedPlan(workspace, body),
    })),
  );
  serveRoute(app, "POST /api/checkpoints/:id/fork", ({ params, query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const target = await workspace.resolve(params.id);
      const thread = body.thread === undefined ? null : (await workspace.threads.get(body.thread)).id;
      const {
        advice = null,
        resume = null,
        warning = null,
      } = (await served.fork?.(workspace, { target, thread })) ?? {};
      return { advice, resume, warning };
    }),
  );
  serveRoute(app, "GET /api/plans/:id/diff", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const plan = workspace.plans.find(workspace.copyId, params.id, () => true);
      const { context, whitespace, large } = query;
      const options = { path: pathFromJson(query), ...defined({ context, whitespace, large }) };
      const diff = await workspace.diffPlanned(plan, options);
      return { ...fileDiffJson(diff, { from: "disk", to: plan.id }), choices: diff?.choices ?? 0 };
    }),
  );
  serveRoute(app, "POST /api/plans/:id/apply", async ({ params, query, body, page }) => {
    const hosted = await served.host.find(body.workspace ?? query.workspace);
    const by = page === undefined ? undefined : ("page" as const);
    const request = { planId: params.id, bestEffort: body.bestEffort, by };
    return carryOutPlan({ served, hosted }, request, { fits: () => true, report: reportOf });
  });
}

/** Files may change between the plan and the counting of its lines: then the plan is made again. */
const TRIES = 5;

async function detailedPlan(workspace: Workspace, request: PlanRequest) {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      const plan = await makePlan(workspace, await withoutLeftOut(workspace, request));
      return plan && (await detailsOf(workspace, assertBasedOn(workspace, plan, request)));
    } catch (error) {
      // hunks that are not there any more do not come back
      if (
        left === 0 ||
        request.hunks !== undefined ||
        !(error instanceof EngineError && error.code === "PLAN_STALE")
      )
        throw error;
    }
  }
}

/** What is left out, said as what is chosen: of a large plan the shorter list travels. */
async function withoutLeftOut(workspace: Workspace, request: PlanRequest): Promise<PlanRequest> {
  const { without, hunks: _hunks, basedOn: _basedOn, ...given } = request;
  if (without === undefined || without.length === 0) return request;
  if (request.paths !== undefined)
    throw badRequest("A plan takes what is chosen, or what is left out, not both.");
  const whole = await makePlan(workspace, { ...given, without: [] });
  const stays = new Set(without);
  const alone = (whole?.leftAlone ?? []).flatMap(({ paths }) => paths.map((path) => pathJson(path).path));
  // to choose a directory is to choose everything in it: only one that comes or goes whole can be
  const above = new Set([...without, ...alone].flatMap(pathsAbove));
  const paths = (whole?.edits ?? [])
    .filter(({ from, to }) => from?.kind !== "directory" || to?.kind !== "directory")
    .map(({ path }) => pathJson(path).path)
    .filter((path) => !stays.has(path) && !above.has(path) && !pathsAbove(path).some((at) => stays.has(at)));
  if (paths.length === 0) throw badRequest("Everything is left out.");
  const { without: _without, ...rest } = request;
  return { ...rest, paths };
}

/** `a` and `a/b` of `a/b/c`. */
function pathsAbove(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Numbers of hunks mean something only on the files that they were counted on. */
function assertBasedOn(workspace: Workspace, plan: Plan, { basedOn }: PlanRequest): Plan {
  if (basedOn === undefined || workspace.plans.find(workspace.copyId, basedOn).base === plan.base)
    return plan;
  throw new EngineError("PLAN_STALE", "The files changed since the hunks were chosen. Nothing was changed.", {
    plan: basedOn,
  });
}

async function detailsOf(workspace: Workspace, plan: Plan) {
  const details = await workspace.planDetails(plan);
  const threads = await workspace.threads.list();
  return detailedPlanJson(plan as GoingBack, {
    ...details,
    agents: new Map(threads.map(({ id, agent }) => [id, agent])),
    limits: workspace.limits,
  });
}

/** Each kind takes what concerns it; what would have no effect is refused. */
const TAKES: Readonly<Record<PlanRequest["kind"], readonly (keyof PlanRequest)[]>> = {
  restore: [
    "target",
    "thread",
    "paths",
    "without",
    "hunks",
    "basedOn",
    "exceptThreads",
    "keepNew",
    "scope",
    "outside",
  ],
  undo: ["thread", "count", "paths", "without", "hunks", "basedOn", "includeShared", "decisions"],
  redo: ["thread", "count", "includeShared", "decisions"],
  revert: ["target", "paths", "without", "hunks", "basedOn", "includeShared", "decisions"],
  reset: ["thread", "includeShared", "decisions"],
};

async function makePlan(workspace: Workspace, request: PlanRequest): Promise<Plan | null> {
  refuseUseless(request);
  const {
    kind,
    thread,
    exceptThreads,
    hunks,
    decisions,
    basedOn: _basedOn,
    without: _without,
    workspace: _,
    ...given
  } = request;
  const chosen = hunks?.map((each) => ({ path: pathFromJson(each), hunks: each.hunks }));
  const options = {
    ...defined(given),
    ...(chosen && { hunks: chosen }),
    ...(decisions && { decisions: decisions.map(decisionOf) }),
  };
  const named = thread === undefined ? {} : { thread: (await workspace.threads.get(thread)).id };
  switch (kind) {
    case "restore": {
      const except = exceptThreads === undefined ? "others" : await threadsNamed(workspace, exceptThreads);
      return workspace.planRestore(needed(request, "target"), {
        ...options,
        ...named,
        exceptThreads: except,
      });
    }
    case "undo":
      return workspace.planUndo({ ...options, ...named });
    case "redo":
      return workspace.planRedo({ ...options, ...named });
    case "revert":
      return workspace.planRevert(needed(request, "target"), options);
    case "reset":
      return workspace.approvals.planReset(named.thread ?? (needed(request, "thread") as ThreadId), options);
  }
}

/** A thread that is not there would protect nothing: what it was meant to name would be taken out. */
async function threadsNamed(workspace: Workspace, names: readonly string[]): Promise<ThreadId[]> {
  const threads = await Promise.all(names.map((name) => workspace.threads.get(name)));
  return threads.map(({ id }) => id);
}

type DecisionJson = NonNullable<PlanRequest["decisions"]>[number];

function decisionOf({ take, text, ...name }: DecisionJson): Decision {
  const path = pathFromJson(name);
  if (take !== "text") return { path, take };
  if (text === undefined) throw badRequest(`A decision for a text needs "text".`);
  return { path, take, text: Buffer.from(text, "utf8") };
}

function refuseUseless(request: PlanRequest): void {
  const { kind, workspace: _, ...given } = request;
  const useless = Object.keys(defined(given)).find(
    (name) => !TAKES[kind].includes(name as keyof PlanRequest),
  );
  if (useless !== undefined) throw badRequest(`"${useless}" means nothing to a plan of kind "${kind}".`);
}

function needed(request: PlanRequest, name: "target" | "thread"): string {
  const value = request[name];
  if (value === undefined) throw badRequest(`A plan of kind "${request.kind}" needs "${name}".`);
  return value;
}

function badRequest(message: string): ContractError {
  return new ContractError("BAD_REQUEST", `${message} Nothing was changed.`);
}

function reportOf(outcome: Outcome) {
  switch (outcome.plan.kind) {
    case "restore":
      return outcomeJson(outcome);
    case "reset":
      return resetOutcomeJson(outcome);
    default:
      return stepsOutcomeJson(outcome);
  }
}
