/** Merges and conflicts: planned, applied, decided, given up. */
import {
  readProgramSettings,
  type ConflictChoice,
  type MergeOption,
  type MergePlan,
  type MergePrograms,
  type Plan,
  type TriedChoice,
  type Workspace,
} from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import {
  mergeConflictDetailsJson,
  mergeConflictJson,
  mergeJson,
  mergeOutcomeJson,
  plannedMergeJson,
  resolvedConflictJson,
  triedDecisionJson,
} from "../json/index.ts";
import { pathFromJson } from "../json/path-json.ts";
import { carryOutPlan } from "./carry-out-plan.ts";
import { defined, inWorkspace, startable, type Served } from "./served.ts";

/** Answers the routes of merges and conflicts. */
export function serveMerges(app: Hono, served: Served): void {
  servePlanning(app, served);
  serveApplying(app, served);
  serveConflicts(app, served);
  serveRoute(app, "POST /api/merges/:id/agent", async ({ params, query, body }) => {
    const ref = body.workspace ?? query.workspace;
    const root = await startable(served, ref);
    const { id } = await inWorkspace(served, ref, (workspace) => workspace.merges.show(params.id));
    await served.work.run(root, ["resolve", "--agent", "--merge", id, "--yes"]);
    return inWorkspace(served, ref, async (workspace) => ({
      merge: mergeJson(await workspace.merges.show(id)),
    }));
  });
}

function servePlanning(app: Hono, served: Served): void {
  serveRoute(app, "POST /api/merges", ({ query, body }) =>
    planningIn(served, body.workspace ?? query.workspace, async (workspace) => {
      await assertHere(workspace, body.into);
      return plannedMergeJson(await planned(served, workspace, body.sources, body.onConflict));
    }),
  );
  serveRoute(app, "POST /api/branches/:name/merge", ({ params, query, body }) =>
    planningIn(served, body.workspace ?? query.workspace, async (workspace) =>
      plannedMergeJson(await planned(served, workspace, [params.name.replaceAll("~", "/")], body.onConflict)),
    ),
  );
  serveRoute(app, "POST /api/merges/:id/continue", ({ params, query, body }) =>
    planningIn(served, body.workspace ?? query.workspace, async (workspace) =>
      plannedMergeJson(
        await workspace.merges.planRest(
          params.id,
          defined({ syntax: await served.syntax?.(), programs: await programsFor(served, workspace) }),
        ),
      ),
    ),
  );
}

/** Plans in its turn among the work on a workspace; with a check, which may take minutes, nothing waits for it. */
async function planningIn<Result>(
  served: Served,
  ref: string | undefined,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const hosted = await served.host.find(ref);
  const { check } = readProgramSettings(served.host.home, hosted.workspace.id).merge;
  const plan = () => work(hosted.workspace);
  return check.length === 0 ? hosted.inTurn(plan) : hosted.beside(plan);
}

async function planned(
  served: Served,
  workspace: Workspace,
  sources: readonly string[],
  onConflict: "hold" | "none" | "partial" | undefined,
): Promise<MergePlan> {
  const syntax = await served.syntax?.();
  const programs = await programsFor(served, workspace);
  return workspace.planMerge(sources, { ...defined({ onConflict, syntax, programs }), announce: true });
}

/** [R793] Where the settings have a check, no merge goes around it: over HTTP it runs only if programs may be started. */
async function programsFor(served: Served, workspace: Workspace): Promise<MergePrograms | undefined> {
  const { merge } = readProgramSettings(served.host.home, workspace.id);
  if (merge.check.length === 0) return undefined;
  await startable(served, workspace.root);
  return served.mergePrograms?.(workspace);
}

/** A merge changes the files of a working copy: that of the branch it goes into. */
async function assertHere(workspace: Workspace, into: string | undefined): Promise<void> {
  const here = (await workspace.branches()).find(({ current }) => current)?.name;
  if (into === undefined || into === here) return;
  throw new ContractError(
    "BAD_REQUEST",
    `The files of this working copy are on "${here}", not on "${into}". Nothing was changed.`,
  );
}

function serveApplying(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/merges", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      merges: (await workspace.merges.list())
        .filter(({ state }) => query.state === undefined || state === query.state)
        .map(mergeJson),
    })),
  );
  serveRoute(app, "GET /api/merges/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      merge: mergeJson(await workspace.merges.show(params.id)),
    })),
  );
  serveRoute(app, "POST /api/merges/:id/apply", async ({ params, query, body }) => {
    const hosted = await served.host.find(body.workspace ?? query.workspace);
    const fits = ({ kind, subject }: Plan) => kind === "merge" && subject === params.id;
    // what is held back is not a refusal: it is recorded, and waits to be decided
    const outcome = await carryOutPlan({ served, hosted }, body, {
      fits,
      report: (done) => done,
      assert: () => {},
    });
    return hosted.inTurn(async () =>
      mergeOutcomeJson({ ...outcome, merge: await hosted.workspace.merges.show(params.id) }),
    );
  });
  serveRoute(app, "POST /api/merges/:id/abandon", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => ({
      merge: mergeJson(await workspace.abandonMerge(params.id)),
    })),
  );
}

function serveConflicts(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/merges/:id/conflicts", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      conflicts: (await workspace.conflicts(params.id)).map(mergeConflictJson),
    })),
  );
  serveRoute(app, "POST /api/merges/:id/conflicts", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async ({ merges }) => {
      const syntax = defined({ syntax: await served.syntax?.() });
      return { conflict: mergeConflictJson(await merges.takeUp(params.id, pathFromJson(body), syntax)) };
    }),
  );
  serveRoute(app, "GET /api/conflicts/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async ({ merges }) => {
      const conflict = await merges.conflict(params.id);
      if (query.content !== true) return mergeConflictDetailsJson(conflict);
      // only lines can be marked
      const isText = conflict.regions.length > 0 && conflict.kind !== "binary";
      return mergeConflictDetailsJson(conflict, isText ? await merges.marked(conflict.id) : null);
    }),
  );
  serveRoute(app, "POST /api/conflicts/:id/preview", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async ({ merges }) => {
      const syntax = defined({ syntax: await served.syntax?.() });
      return triedDecisionJson(await merges.tryOut(params.id, { ...triedChoiceOf(body), ...syntax }));
    }),
  );
  serveRoute(app, "POST /api/conflicts/:id/resolve", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => {
      const syntax = await served.syntax?.();
      return resolvedConflictJson(
        await workspace.resolve(params.id, { ...choiceOf(body), ...defined({ syntax }) }),
      );
    }),
  );
  serveRoute(app, "POST /api/conflicts/:id/reopen", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => ({
      conflict: mergeConflictJson(await workspace.reopen(params.id)),
    })),
  );
}

/** Which option there is, the engine knows: it refuses every other one. */
function choiceOf({
  take,
  region,
  content,
}: {
  readonly take?: string | undefined;
  readonly region?: number | undefined;
  readonly content?: string | undefined;
}): ConflictChoice {
  if ((take === undefined) === (content === undefined))
    throw new ContractError("BAD_REQUEST", 'Either "take" or "content" is needed. Nothing was changed.');
  if (content !== undefined) return { content: Buffer.from(content, "utf8") };
  return { take: take as MergeOption, ...defined({ region }) };
}

function triedChoiceOf({
  regions,
  ...body
}: Parameters<typeof choiceOf>[0] & {
  readonly regions?: Readonly<Record<string, string>> | undefined;
}): TriedChoice {
  if (regions === undefined) return choiceOf(body);
  if (Object.keys(regions).length > 0 && body.take === undefined && body.content === undefined)
    return { regions: regions as Readonly<Record<number, MergeOption>> };
  throw new ContractError(
    "BAD_REQUEST",
    '"regions" stands alone and names one at least. Nothing was changed.',
  );
}
