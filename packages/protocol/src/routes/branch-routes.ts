/** The routes of branches: listed, made, renamed, deleted, switched to. */
import { z } from "zod";
import { flag, text, path, identifier, workspaceQuery, carryOut, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

const branchBody = z.object({ workspace: path.optional(), name: text(200) });

/** The routes of branches. */
export const BRANCHES = {
  "GET /api/branches": {
    summary: "Branches, oldest first; with `deleted` also those that can be brought back.",
    query: workspaceQuery.extend({ deleted: flag.optional() }),
    response: z.looseObject({ branches: z.array(shapes.branch) }),
  },
  "POST /api/branches": {
    summary: "Makes a branch; no file is touched. Without `from` the present is captured first.",
    query: workspaceQuery,
    body: branchBody.extend({ from: identifier.optional(), description: text(10_000).optional() }),
    response: z.looseObject({ branch: shapes.branch }),
  },
  "PATCH /api/branches/:name": {
    summary: "Renames a branch, or brings a deleted one back (`state`: `open`).",
    query: workspaceQuery,
    body: z.object({
      workspace: path.optional(),
      name: text(200).optional(),
      state: z.literal("open").optional(),
    }),
    response: z.looseObject({ branch: shapes.branch }),
  },
  "DELETE /api/branches/:name": {
    summary: "Deletes a branch that no working copy is on; for 30 days it can be brought back.",
    query: workspaceQuery,
    response: z.looseObject({ branch: shapes.branch }),
  },
  "GET /api/branches/:name/switch/preview": {
    summary: "What going to a branch would do to the files.",
    query: workspaceQuery.extend({ keepFiles: flag.optional(), whileWorking: flag.optional() }),
    response: shapes.plannedSteps,
  },
  "POST /api/branches/:name/switch": {
    summary: "Goes to a branch as planned.",
    query: workspaceQuery,
    body: carryOut.extend({ workspace: path.optional() }),
    response: shapes.stepsOutcome,
  },
} as const satisfies Record<string, Route>;
