/** The routes of merges and conflicts: planned, applied, decided, given up. */
import { z } from "zod";
import { flag, identifier, path, text, workspaceQuery, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

const body = z.object({ workspace: path.optional() });
const onConflict = z.enum(["hold", "none", "partial"]);

/** The routes of merges. */
export const MERGES = {
  "POST /api/merges": {
    summary: "Plans a merge of branches into the files as they are now; nothing is changed.",
    query: workspaceQuery,
    body: body.extend({
      sources: z.array(text(200).min(1)).min(1).max(100),
      into: text(200).optional(),
      onConflict: onConflict.optional(),
    }),
    response: shapes.plannedMerge,
  },
  "POST /api/branches/:name/merge": {
    summary: "Plans a merge of one branch.",
    query: workspaceQuery,
    body: body.extend({ onConflict: onConflict.optional() }),
    response: shapes.plannedMerge,
  },
  "GET /api/merges": {
    summary: "Merges, newest first; with `state` only those that are in it.",
    query: workspaceQuery.extend({ state: z.enum(["open", "applied", "abandoned"]).optional() }),
    response: z.looseObject({ merges: z.array(shapes.merge) }),
  },
  "GET /api/merges/:id": {
    summary: "One merge with its conflicts.",
    query: workspaceQuery,
    response: z.looseObject({ merge: shapes.merge }),
  },
  "POST /api/merges/:id/continue": {
    summary: "Plans what is left of a merge whose conflicts are all decided.",
    query: workspaceQuery,
    body,
    response: shapes.plannedMerge,
  },
  "POST /api/merges/:id/apply": {
    summary: "Applies a merge as planned.",
    query: workspaceQuery,
    body: body.extend({ planId: identifier }),
    response: shapes.mergeOutcome,
  },
  "POST /api/merges/:id/abandon": {
    summary: "Gives a merge up: what came in stays, what was held back is as if it had not been tried.",
    query: workspaceQuery,
    body,
    response: z.looseObject({ merge: shapes.merge }),
  },
  "POST /api/merges/:id/agent": {
    summary:
      "Has the merger of the settings combine conflicts of text of a merge; what is decided by that comes in. 403 unless `runs.http` is on.",
    query: workspaceQuery,
    body,
    response: z.looseObject({ merge: shapes.merge }),
  },
  "GET /api/merges/:id/conflicts": {
    summary: "The conflicts of a merge.",
    query: workspaceQuery,
    response: z.looseObject({ conflicts: z.array(shapes.mergeConflict) }),
  },
  "POST /api/merges/:id/conflicts": {
    summary:
      "Takes up a path that a source which is held back combines by itself (`clean`): a conflict from then on, decided as it was combined, which can be decided otherwise. No file is touched.",
    query: workspaceQuery,
    body: body.extend({ path: path.optional(), pathBase64: z.base64().max(6000).min(1).optional() }),
    response: z.looseObject({ conflict: shapes.mergeConflict }),
  },
  "GET /api/conflicts/:id": {
    summary:
      "One conflict; with `content` also what base, ours, theirs, a proposal, a merger's answer and the text with marks hold, up to 1 MB each.",
    query: workspaceQuery.extend({ content: flag.optional() }),
    response: shapes.mergeConflictDetails,
  },
  "POST /api/conflicts/:id/resolve": {
    summary:
      "Decides a conflict, one region of it (`region`, counted from 1), or puts in `content`. No file is touched.",
    query: workspaceQuery,
    body: body.extend({
      take: identifier.optional(),
      region: z.number().int().min(1).optional(),
      content: z.string().optional(),
    }),
    response: shapes.resolvedConflict,
  },
  "POST /api/conflicts/:id/preview": {
    summary:
      "What deciding a conflict in this way would make of what is here: by an option, by `content`, or by an option for each region. Nothing is recorded.",
    query: workspaceQuery,
    body: body.extend({
      take: identifier.optional(),
      content: z.string().optional(),
      regions: z.record(z.string().regex(/^[1-9]\d{0,5}$/), identifier).optional(),
    }),
    response: shapes.triedDecision,
  },
  "POST /api/conflicts/:id/reopen": {
    summary: "Takes a decision back.",
    query: workspaceQuery,
    body,
    response: z.looseObject({ conflict: shapes.mergeConflict }),
  },
} as const satisfies Record<string, Route>;
