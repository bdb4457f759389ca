/** The routes of remotes. What takes as long as a network is a job: it is started, and asked about. */
import { z } from "zod";
import { identifier, number, workspaceQuery, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

const started = { query: workspaceQuery, response: z.looseObject({ job: shapes.job }) };

/** The routes of remotes. */
export const REMOTES = {
  "GET /api/remotes": {
    summary:
      "The remotes of the workspace, with what waits for each; no server is asked. Keys and access never appear.",
    query: workspaceQuery,
    response: z.looseObject({ remotes: z.array(z.looseObject({ name: z.string(), url: z.string() })) }),
  },
  "GET /api/remotes/:name/lines": {
    summary: "The lines of other machines, as the last pull found them.",
    query: workspaceQuery,
    response: z.looseObject({ lines: z.array(z.looseObject({ line: z.string(), name: z.string() })) }),
  },
  "GET /api/remotes/:name/lines/:line/checkpoints": {
    summary: "The checkpoints of a line, newest first; `line` is its name or its id.",
    query: workspaceQuery.extend({ limit: number(50).optional() }),
    response: z.looseObject({ checkpoints: z.array(z.looseObject({ id: z.string() })) }),
  },
  "POST /api/remotes/:name/push": { summary: "Sends what the remote does not have yet: a job.", ...started },
  "POST /api/remotes/:name/pull": { summary: "Looks which lines moved: a job.", ...started },
  "POST /api/remotes/:name/sync": { summary: "Pushes, then pulls: a job.", ...started },
  "POST /api/remotes/:name/verify": { summary: "Proves what is stored: a job.", ...started },
  "POST /api/remotes/:name/fetch": {
    summary: "Brings a checkpoint of another line into the store, or finds it there.",
    query: workspaceQuery,
    body: z.object({ reference: identifier }),
    response: shapes.checkpointDetails,
  },
  "GET /api/jobs/:id": {
    summary: "How far a job is, and what came of it.",
    response: z.looseObject({ job: shapes.job }),
  },
} as const satisfies Readonly<Record<string, Route>>;
