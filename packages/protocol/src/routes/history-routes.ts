/** Routes of what happened: the rows of the history and what each changed. */
import { z } from "zod";
import * as shapes from "../shapes.ts";
import { diffQuery, flag, identifier, number, text, workspaceQuery, type Route } from "./route-parts.ts";

/** The routes of what happened: the rows of the history and what each changed. */
export const HISTORY = {
  "GET /api/history": {
    summary:
      "What happened, newest first: turns, changes by hand, your checkpoints, restores. `before` continues with an answer's `next`, `skip` and `around` give the page of a place far down.",
    query: workspaceQuery.extend({
      before: number(Number.MAX_SAFE_INTEGER).optional(),
      after: number(Number.MAX_SAFE_INTEGER).optional(),
      limit: number(1000).min(1).optional(),
      /** The page of a place far down: so many rows are above it. */
      skip: number(Number.MAX_SAFE_INTEGER).optional(),
      /** The page that has this row, by its ref. */
      around: identifier.optional(),
      thread: identifier.optional(),
      agent: identifier.optional(),
      since: z.iso.datetime({ offset: true }).optional(),
      q: text(500).optional(),
      all: flag.optional(),
      /** One row a checkpoint, of all kinds and phases. */
      flat: flag.optional(),
    }),
    response: shapes.history,
  },
  "GET /api/history/:seq/steps": {
    summary: "The tool calls of a turn that changed something; `:seq` may be a row's seq or ref, such as T3.",
    query: workspaceQuery,
    response: z.looseObject({ steps: z.array(shapes.historyStep) }),
  },
  "GET /api/history/:seq/changes": {
    summary:
      "What a row itself changed, as an undo of it would take it out, file by file; `detail=text` also has the lines, `step` only one of its steps.",
    query: workspaceQuery.extend({
      detail: z.enum(["names", "counts", "text"]).optional(),
      step: number(Number.MAX_SAFE_INTEGER).optional(),
    }),
    response: shapes.historyChanges,
  },
  "GET /api/history/:seq/patch": {
    summary: "What a row, or one of its steps, itself changed, as a patch for `git apply`, up to 64 MiB.",
    query: workspaceQuery.extend({ step: number(Number.MAX_SAFE_INTEGER).optional() }),
    response: shapes.historyPatch,
  },
  "GET /api/history/:seq/changes/diff": {
    summary: "One file of what a row, or one of its steps, itself changed, line by line.",
    query: diffQuery.safeExtend({ step: number(Number.MAX_SAFE_INTEGER).optional() }),
    response: shapes.historyFileDiff,
  },
} as const satisfies Record<string, Route>;
