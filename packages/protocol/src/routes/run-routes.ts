/** The routes of runs and of loops of fixes. No command ever comes over HTTP: agents and reviews are named. */
import { z } from "zod";
import * as shapes from "../shapes.ts";
import {
  identifier,
  MESSAGE_CHARACTERS,
  number,
  path,
  text,
  workspaceQuery,
  type Route,
} from "./route-parts.ts";

const workspaceBody = z.object({ workspace: path.optional() });
const limits = z.object({
  timeoutMinutes: z.number().positive().max(100_000).optional(),
  maxCost: z.number().positive().optional(),
  maxTokens: z.number().int().positive().optional(),
});
const runAnswer = z.looseObject({ run: shapes.run });
const fixAnswer = z.looseObject({ fix: shapes.fix });

/** The routes of runs and fixes. */
export const RUNS = {
  "GET /api/runs": {
    summary: "Runs of agents' programs, newest first.",
    query: workspaceQuery.extend({ batch: identifier.optional() }),
    response: z.looseObject({ runs: z.array(shapes.run) }),
  },
  "GET /api/runs/:id": { summary: "One run.", query: workspaceQuery, response: runAnswer },
  "GET /api/runs/:id/log": {
    summary: "What a run printed, from a byte on; at most 256 KiB at a time.",
    query: workspaceQuery.extend({
      stream: z.enum(["stdout", "stderr"]).optional(),
      after: number(Number.MAX_SAFE_INTEGER).optional(),
    }),
    response: z.looseObject({ text: z.string(), next: z.number().int(), ended: z.boolean() }),
  },
  "POST /api/runs": {
    summary: "Starts an agent of the settings in a fork of its own. 403 unless `runs.http` is on.",
    query: workspaceQuery,
    body: workspaceBody.extend({
      agent: identifier,
      prompt: text(MESSAGE_CHARACTERS).min(1),
      role: text(200).optional(),
      limits: limits.optional(),
    }),
    response: runAnswer,
  },
  "POST /api/runs/:id/stop": {
    summary: "Stops a run and every process of it.",
    query: workspaceQuery,
    body: workspaceBody,
    response: runAnswer,
  },
  "POST /api/runs/:id/resume": {
    summary: "Goes on with a run in its place. 403 unless `runs.http` is on.",
    query: workspaceQuery,
    body: workspaceBody.extend({ prompt: text(MESSAGE_CHARACTERS).min(1).optional() }),
    response: runAnswer,
  },
  "GET /api/fixes": {
    summary: "Loops that fix what a review found, newest first.",
    query: workspaceQuery,
    response: z.looseObject({ fixes: z.array(shapes.fix) }),
  },
  "GET /api/fixes/:id": { summary: "One of them.", query: workspaceQuery, response: fixAnswer },
  "POST /api/fixes": {
    summary: "Starts a loop with a review and an agent of the settings. 403 unless `runs.http` is on.",
    query: workspaceQuery,
    body: workspaceBody.extend({ review: identifier, agent: identifier.optional() }),
    response: fixAnswer,
  },
  "POST /api/fixes/:id/answer": {
    summary:
      "Answers a loop that waits for a decision; `c` is 403 unless `runs.http` is on. `v` decides nothing: it gives what changed since before the loop.",
    query: workspaceQuery,
    body: workspaceBody.extend({ choice: z.enum(["a", "r", "v", "m", "c"]) }),
    response: fixAnswer.extend({ diff: shapes.diff.nullable().optional() }),
  },
} as const satisfies Record<string, Route>;
