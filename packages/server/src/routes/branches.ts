/** Branches: listed, made, renamed, deleted, brought back, and switched to as planned. */
import type { Branch, Plan } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { branchJson, plannedStepsJson, stepsOutcomeJson } from "../json/index.ts";
import { carryOutPlan } from "./carry-out-plan.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** Answers the routes of branches. */
export function serveBranches(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/branches", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      branches: (await workspace.branches(defined({ deleted: query.deleted }))).map(branchJson),
    })),
  );
  serveRoute(app, "POST /api/branches", ({ query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => {
      const { from, description } = body;
      return answer(await workspace.createBranch(body.name, defined({ from, description })));
    }),
  );
  serveRoute(app, "PATCH /api/branches/:name", ({ params, query, body }) =>
    inWorkspace(served, body.workspace ?? query.workspace, async (workspace) => {
      if (body.name === undefined && body.state === undefined)
        throw new ContractError("BAD_REQUEST", 'Either "name" or "state" is needed. Nothing was changed.');
      const restored = body.state && (await workspace.restoreBranch(nameIn(params)));
      return answer(
        body.name === undefined ? restored! : await workspace.renameBranch(nameIn(params), body.name),
      );
    }),
  );
  serveRoute(app, "DELETE /api/branches/:name", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) =>
      answer(await workspace.deleteBranch(nameIn(params))),
    ),
  );
  serveRoute(app, "GET /api/branches/:name/switch/preview", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { keepFiles, whileWorking } = query;
      return plannedStepsJson(
        await workspace.planSwitch(nameIn(params), defined({ keepFiles, whileWorking })),
      );
    }),
  );
  serveRoute(app, "POST /api/branches/:name/switch", async ({ params, query, body }) => {
    const hosted = await served.host.find(body.workspace ?? query.workspace);
    const fits = ({ kind, description }: Plan) =>
      kind === "switch" && description === `Switched to ${nameIn(params)}`;
    return carryOutPlan({ served, hosted }, body, { fits, report: stepsOutcomeJson });
  });
}

/** An address has no encoded slash: a branch's "/" is written "~" there, which no branch has in its name. */
function nameIn({ name }: { readonly name: string }): string {
  return name.replaceAll("~", "/");
}

function answer(branch: Branch) {
  return { branch: branchJson(branch) };
}
