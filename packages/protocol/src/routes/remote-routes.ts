/** The routes of remotes. What takes as long as a network is a job: it is started, and asked about. */
import { z } from "zod";
import { identifier, number, path, text, workspaceQuery, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

const remote = z.looseObject({ name: z.string(), url: z.string() });
const started = { query: workspaceQuery, response: z.looseObject({ job: shapes.job }) };

/** The routes of remotes. */
export const REMOTES = {
  "GET /api/remotes": {
    summary:
      "The remotes of the workspace, with what waits for each; no server is asked. Keys and access never appear.",
    query: workspaceQuery,
    response: z.looseObject({ remotes: z.array(remote) }),
  },
  "POST /api/remotes": {
    ownProgramsOnly: true,
    summary:
      "Adds a remote: makes a space at an address, whose recovery key goes to the file named, or joins the one that is there with the key in that file. `url` may be an invitation.",
    query: workspaceQuery,
    body: z.object({
      name: identifier,
      url: text(20_000).min(1),
      records: text(2000).min(1).optional(),
      recoveryFile: path.optional(),
    }),
    response: z.looseObject({ remote, created: z.boolean() }),
  },
  "GET /api/remotes/:name": {
    summary: "One remote; no server is asked.",
    query: workspaceQuery,
    response: z.looseObject({ remote }),
  },
  "DELETE /api/remotes/:name": {
    summary: "Forgets a remote; what is stored there stays.",
    query: workspaceQuery,
    response: z.looseObject({ removed: z.string() }),
  },
  "GET /api/remotes/:name/lines": {
    summary: "The lines of other machines, as the last pull found them.",
    query: workspaceQuery,
    response: z.looseObject({
      lines: z.array(
        z.looseObject({
          line: z.string(),
          name: z.string(),
          at: z.string(),
          newest: z.looseObject({ id: z.string(), description: z.string() }).nullable(),
        }),
      ),
    }),
  },
  "GET /api/remotes/:name/members": {
    summary: "The members of the space with their roles, as its server has them now.",
    query: workspaceQuery,
    response: z.looseObject({
      generation: z.int(),
      members: z.array(
        z.looseObject({
          id: z.string(),
          name: z.string(),
          role: z.string(),
          isOwn: z.boolean(),
          until: z.string().nullable(),
        }),
      ),
    }),
  },
  "GET /api/remotes/:name/lines/:line/checkpoints": {
    summary: "The checkpoints of a line, newest first; `line` is its name or its id.",
    query: workspaceQuery.extend({ limit: number(50).optional() }),
    response: z.looseObject({
      checkpoints: z.array(z.looseObject({ id: z.string(), description: z.string(), createdAt: z.string() })),
    }),
  },
  "POST /api/remotes/:name/lines/:line/adopt": {
    ownProgramsOnly: true,
    summary:
      "Takes over a line whose machine is gone: this machine, an admin's, keeps it to the policy of the space. `line` is its name or its id.",
    query: workspaceQuery,
    response: z.looseObject({ adopted: z.looseObject({ line: z.string(), name: z.string() }) }),
  },
  "POST /api/remotes/:name/rotate": {
    ownProgramsOnly: true,
    summary:
      "A new secret for what comes; with `rewrite` also for what is there, this machine's line now and the others at their machines' next push: a job.",
    query: workspaceQuery,
    body: z.object({ rewrite: z.boolean().optional() }),
    response: z.looseObject({ job: shapes.job }),
  },
  "POST /api/remotes/:name/push": { summary: "Sends what the remote does not have yet: a job.", ...started },
  "POST /api/remotes/:name/pull": { summary: "Looks which lines moved: a job.", ...started },
  "POST /api/remotes/:name/sync": { summary: "Pushes, then pulls: a job.", ...started },
  "POST /api/remotes/:name/verify": { summary: "Proves what is stored: a job.", ...started },
  "POST /api/remotes/:name/gc": {
    summary: "Says what no line of the space needs any more: a job. Nothing is deleted.",
    ...started,
  },
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
  "DELETE /api/jobs/:id": {
    summary:
      "Stops a job. What the server has by then stays there; a push that was stopped goes on with the next one.",
    response: z.looseObject({ job: shapes.job }),
  },
} as const satisfies Readonly<Record<string, Route>>;
