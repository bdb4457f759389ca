/** Routes of a whole workspace: its checkpoints, the care of its store, the process that serves it. */
import { z } from "zod";
import * as shapes from "../shapes.ts";
import {
  annotation,
  empty,
  flag,
  identifier,
  listQuery,
  number,
  path,
  text,
  workspaceQuery,
  type Route,
} from "./route-parts.ts";

/** A workspace, its store and the process that serves it. */
export const WORKSPACE = {
  "GET /api/workspaces": {
    summary: "All protected directories of the user.",
    response: z.looseObject({ workspaces: z.array(shapes.workspace) }),
  },
  "GET /api/status": {
    summary: "What is protected, what changed, what is excluded.",
    query: workspaceQuery,
    response: shapes.status.extend({ watching: shapes.watching, capture: z.unknown().optional() }),
  },
  "GET /api/checkpoints": {
    summary: "The checkpoints of a workspace, newest first.",
    query: workspaceQuery.extend(listQuery.shape),
    response: z.looseObject({ checkpoints: z.array(shapes.checkpoint) }),
  },
  "POST /api/checkpoints": {
    summary: "Takes a checkpoint of the workspace.",
    query: workspaceQuery,
    body: annotation.extend({ thread: identifier.optional() }),
    response: shapes.taken,
  },
  "GET /api/checkpoints/:id": {
    summary:
      "A checkpoint by any reference, with what it changed and what it leaves out; `newBytes` is counted against `since`, or the one before it.",
    query: workspaceQuery.extend({ since: identifier.optional() }),
    response: shapes.checkpointDetails,
  },
  "GET /api/search": {
    summary: "Finds checkpoints by name, note, prompt or path.",
    query: workspaceQuery.extend({ q: text(500).min(1), limit: number(10_000).optional() }),
    response: z.looseObject({ checkpoints: z.array(shapes.checkpoint) }),
  },
  "GET /api/content": {
    summary:
      "Where a text (`text` or `q`), a regex or a file was in any checkpoint, or `at` one; with `history` also when each matching line was there, who brought it and who took it out. Looked for in another process.",
    query: workspaceQuery.extend({
      q: text(4000).min(1).optional(),
      text: text(4000).min(1).optional(),
      at: identifier.optional(),
      regex: text(4000).min(1).optional(),
      file: path.optional(),
      ignoreCase: flag.optional(),
      history: flag.optional(),
      limit: number(10_000).min(1).optional(),
    }),
    response: shapes.findings,
  },
  "GET /api/storage/usage": {
    summary:
      "Who takes the space: threads, kinds of checkpoint, directories or checkpoints; counted in another process.",
    query: workspaceQuery.extend({ by: z.enum(["thread", "kind", "directory", "checkpoint"]) }),
    response: shapes.spaceUsage,
  },
  "GET /api/storage": {
    summary: "How much space the store takes.",
    query: workspaceQuery,
    response: shapes.storage,
  },
  "PUT /api/checkpoints/:cid": {
    summary: "Changes name, note and tags of a checkpoint; what is left out stays.",
    query: workspaceQuery,
    body: annotation,
    response: z.looseObject({ checkpoint: shapes.checkpoint }),
  },
  "DELETE /api/checkpoints/:cid": {
    summary: "Drops a checkpoint; it can be brought back within a day.",
    query: workspaceQuery,
    response: z.looseObject({ deleted: z.string() }),
  },
  "POST /api/prune/undo": {
    summary: "Brings back what was pruned or deleted within a day.",
    query: workspaceQuery,
    body: empty,
    response: shapes.unpruned,
  },
  "POST /api/gc": {
    summary: "Frees what no checkpoint needs, in another process.",
    query: workspaceQuery,
    body: z.object({ dryRun: z.boolean().optional() }),
    response: shapes.gcReport,
  },
  "POST /api/verify": {
    summary: "Proves the store sound, in another process; `full` re-hashes every byte.",
    query: workspaceQuery,
    body: z.object({ full: z.boolean().optional() }),
    response: shapes.verifyReport,
  },
  "GET /api/verify": {
    summary: "How far a verification has come.",
    query: workspaceQuery,
    response: shapes.workUnderWay,
  },
  "POST /api/forget": {
    summary: "Purges a path from all checkpoints, or a checkpoint; needs `confirm` or `dryRun`.",
    query: workspaceQuery,
    body: z
      .object({
        path: path.optional(),
        checkpoint: identifier.optional(),
        sameContent: z.boolean().optional(),
        always: z.boolean().optional(),
        dryRun: z.boolean().optional(),
        confirm: z.literal("forget").optional(),
      })
      .refine((body) => (body.path === undefined) !== (body.checkpoint === undefined), {
        error: "name either a path or a checkpoint",
      }),
    response: shapes.forgetReport,
  },
  "POST /api/agents/:agent/hooks": {
    summary:
      "Adds Belay's hooks to an agent's settings for this workspace, or takes them out; with `dryRun` says which files adding them would change. Done in another process.",
    query: workspaceQuery,
    body: z.object({ action: z.enum(["install", "remove"]), dryRun: z.boolean().optional() }),
    response: shapes.hookReport,
  },
  "GET /api/doctor": {
    summary: "Everything that could make protection weaker than it seems, looked at in another process.",
    query: workspaceQuery,
    response: shapes.doctorReport,
  },
  "GET /api/prune": {
    summary:
      "What the policy of the settings would drop now, and about how much space that is; counted in another process.",
    query: workspaceQuery,
    response: shapes.pruneReport,
  },
  "POST /api/prune": {
    summary:
      "Drops checkpoints by a policy, or those older than some hours or beyond the newest ones; of all threads or of one.",
    query: workspaceQuery,
    body: z.object({
      thread: identifier.optional(),
      policy: text(40).optional(),
      olderThanHours: z.number().positive().max(1e6).optional(),
      keepLast: z.int().min(0).max(1e9).optional(),
      dryRun: z.boolean().optional(),
    }),
    response: shapes.pruneReport.extend({ pruned: z.array(z.string()) }),
  },
  "GET /api/settings": {
    summary: "The settings and where each comes from.",
    response: z.looseObject({ settings: z.record(z.string(), shapes.setting) }),
  },
  "PUT /api/settings": {
    summary: "Changes one setting.",
    body: z.object({ key: identifier, value: z.string().nullable() }),
    response: z.looseObject({ settings: z.record(z.string(), shapes.setting) }),
  },
  "PUT /api/pause": {
    summary: "Pauses automatic captures for some minutes, or resumes them (`minutes: null`).",
    query: workspaceQuery,
    body: z.object({
      minutes: z
        .int()
        .min(1)
        .max(7 * 24 * 60)
        .nullable(),
    }),
    response: z.looseObject({ paused: shapes.pause.nullable() }),
  },
  "GET /api/events": {
    summary:
      "Events of a workspace, as a stream; of several where `workspace` is given more than once, without resuming.",
    query: z.object({
      workspace: z
        .union([path, z.array(path).max(100)])
        .transform((given) => (Array.isArray(given) ? given : [given]))
        .optional(),
    }),
  },
  "GET /api/resident": {
    summary: "The process itself.",
    response: shapes.resident,
  },
  "POST /api/resident/stop": {
    summary: "Ends the process; everything acknowledged is durable.",
    body: empty,
    response: z.looseObject({ stopping: z.boolean() }),
    ownProgramsOnly: true,
  },
} as const satisfies Record<string, Route>;
