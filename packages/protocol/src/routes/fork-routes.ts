/** The routes of forks: listed, made, removed, brought back. */
import { z } from "zod";
import { empty, flag, identifier, path, text, workspaceQuery, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

const answer = z.looseObject({ fork: shapes.fork, warnings: z.array(z.string()) });

/** The routes of forks. A fork is named by its id or its name. */
export const FORKS = {
  "GET /api/forks": {
    summary: "Forks, oldest first; with `removed` also those in the trash.",
    query: workspaceQuery.extend({ removed: flag.optional() }),
    response: z.looseObject({ forks: z.array(shapes.fork) }),
  },
  "POST /api/forks": {
    summary: "Makes a fork. Without `from` the present is captured first. No program is started.",
    query: workspaceQuery,
    body: z.object({
      workspace: path.optional(),
      name: text(200).optional(),
      from: identifier.optional(),
      git: z.enum(["private", "none"]).optional(),
      dependencies: z.enum(["auto", "none"]).optional(),
    }),
    response: answer,
  },
  "GET /api/forks/:id": {
    summary: "One fork, and the variables for what is started in it.",
    query: workspaceQuery,
    response: z.looseObject({ fork: shapes.fork, environment: z.record(z.string(), z.string()) }),
  },
  "DELETE /api/forks/:id": {
    summary: "Captures everything in a fork and puts it into the trash; with `now` it is deleted at once.",
    query: workspaceQuery.extend({ now: flag.optional(), despiteGaps: flag.optional() }),
    response: answer.extend({
      branch: shapes.branch,
      checkpoint: z.string().nullable(),
      until: z.string().nullable(),
    }),
  },
  "POST /api/forks/:id/restore": {
    summary: "Brings a fork back from the trash.",
    query: workspaceQuery,
    body: empty.extend({ workspace: path.optional() }),
    response: z.looseObject({ fork: shapes.fork }),
  },
} as const satisfies Record<string, Route>;
