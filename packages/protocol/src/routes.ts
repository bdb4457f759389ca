/**
 * Every route of the canonical API: its input and its answer, in one table. The server serves it,
 * `openapi.json` describes it, the client gets its types from it.
 */
import { z } from "zod";
import * as shapes from "./shapes.ts";

/** One route: its input and its answer. */
export interface Route {
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** undefined: not JSON, but what `media` says */
  readonly response?: z.ZodObject;
  /** undefined: a stream of events */
  readonly media?: string;
  /** Only for the user's own programs: the key of a page in a browser does not open it. */
  readonly ownProgramsOnly?: true;
}

const flag = z.enum(["0", "1", "true", "false"]).transform((text) => text === "1" || text === "true");
const number = (most: number) => z.coerce.number().int().min(0).max(most);
const text = (longest: number) => z.string().max(longest);
const path = text(4096).min(1);
const identifier = text(500).min(1);
const MESSAGE_CHARACTERS = 500_000;

/** A path of a file: its text, or its exact bytes where text cannot hold them. */
const fileQuery = z
  .object({ path: path.optional(), pathBase64: z.base64().max(6000).min(1).optional() })
  .refine((query) => (query.path === undefined) !== (query.pathBase64 === undefined), {
    error: "name one file, as `path` or as `pathBase64`",
  });

const workspaceQuery = z.object({ workspace: path.optional() });
/** How one file is compared. */
const diffQuery = fileQuery.safeExtend({
  ...workspaceQuery.shape,
  context: number(100_000).optional(),
  whitespace: z.enum(["exact", "ignore"]).optional(),
  large: flag.optional(),
});
const listQuery = z.object({
  limit: number(10_000).optional(),
  kind: text(40).optional(),
  search: text(500).optional(),
  fresh: flag.optional(),
});
const planQuery = z.object({
  paths: z
    .union([path, z.array(path)])
    .transform((given) => (Array.isArray(given) ? given : [given]))
    .optional(),
  keepNew: flag.optional(),
  scope: z.enum(["files", "conversation", "both"]).optional(),
});
const stepsQuery = z.object({ count: number(1000).min(1).optional(), includeShared: flag.optional() });
const carryOut = z.object({ planId: identifier, bestEffort: z.boolean().optional() });
const empty = z.object({});

const annotation = z.object({
  name: text(200).optional(),
  annotation: text(10_000).optional(),
  tags: z.array(text(200).min(1)).max(50).optional(),
});

/** null where nothing had to be recorded, or automatic checkpoints are off */
const optionallyTaken = shapes.taken.partial().extend({ checkpoint: shapes.checkpoint.nullable() });
const newCheckpoint = annotation;

const THREADS = {
  "GET /api/threads": {
    summary: "The threads of a workspace, newest first.",
    query: workspaceQuery,
    response: z.looseObject({ threads: z.array(shapes.thread) }),
  },
  "POST /api/threads": {
    summary: "Opens a thread and takes its initial checkpoint; the same external id returns the same thread.",
    query: workspaceQuery,
    body: z.object({
      agent: identifier.optional(),
      externalId: identifier.optional(),
      title: text(500).optional(),
    }),
    response: z.looseObject({ thread: shapes.thread }),
  },
  "GET /api/threads/:id": {
    summary: "One thread.",
    response: z.looseObject({ thread: shapes.thread }),
  },
  "PATCH /api/threads/:id": {
    summary: "Sets the title of a thread.",
    body: z.object({ title: text(500).nullable() }),
    response: z.looseObject({ thread: shapes.thread }),
  },
  "DELETE /api/threads/:id": {
    summary: "Deletes a thread and its checkpoints; files are untouched.",
    response: z.looseObject({ deleted: z.string() }),
  },
  "GET /api/threads/:id/messages": {
    summary: "The messages, newest page first; `before` continues at an index.",
    query: z.object({ before: number(1e9).optional(), limit: number(1000).optional() }),
    response: z.looseObject({ messages: z.array(shapes.message), nextCursor: z.int().nullable() }),
  },
  "POST /api/threads/:id/messages": {
    summary: "Adds a message. A user message takes a checkpoint first and opens a turn.",
    body: z.object({
      role: z.enum(["user", "assistant"]).optional(),
      content: text(MESSAGE_CHARACTERS),
      externalId: identifier.optional(),
    }),
    response: z.looseObject({
      message: shapes.message,
      checkpoint: shapes.checkpoint.nullable(),
      rolledBack: z.array(shapes.rolledBack).optional(),
    }),
  },
  "POST /api/threads/:id/stop": {
    summary: "Ends the open turn: the agent has answered.",
    body: empty,
    response: optionallyTaken,
  },
  "POST /api/threads/:id/tools": {
    summary: "Reports that a tool is about to run, or has run.",
    body: z.object({
      phase: z.enum(["before", "after"]),
      tool: identifier,
      toolUseId: identifier,
      paths: z.array(path).max(1000).optional(),
      description: text(500).optional(),
      agent: identifier.optional(),
    }),
    response: optionallyTaken,
  },
  "POST /api/threads/:id/edits": {
    summary: "Begins an edit of files; until it is finalized it can be aborted as a whole.",
    body: z.object({ paths: z.array(path).max(1000), within: identifier.optional() }),
    response: z.looseObject({ edit: z.string() }),
  },
  "POST /api/threads/:id/edits/:eid/finalize": {
    summary: "Keeps what the edit wrote.",
    body: empty,
    response: optionallyTaken.extend({ edit: z.string() }),
  },
  "POST /api/threads/:id/edits/:eid/abort": {
    summary: "Puts every file of the edit back as it was.",
    body: empty,
    response: shapes.outcome,
  },
  "GET /api/threads/:id/timeline": {
    summary: "Checkpoints, messages and agents in the order they happened.",
    query: z.object({ limit: number(10_000).optional() }),
    response: z.looseObject({
      entries: z.array(z.looseObject({ checkpoint: shapes.checkpoint, files: z.array(shapes.fileChange) })),
      agents: z.array(shapes.agentRun),
    }),
  },
  "GET /api/threads/:id/events": { summary: "Events of the thread, as a stream." },
} as const satisfies Record<string, Route>;

const CHECKPOINTS = {
  "GET /api/threads/:id/checkpoints": {
    summary: "The checkpoints of a thread, newest first.",
    query: listQuery,
    response: z.looseObject({ checkpoints: z.array(shapes.checkpoint) }),
  },
  "POST /api/threads/:id/checkpoints": {
    summary: "Takes a manual checkpoint.",
    body: newCheckpoint,
    response: shapes.taken,
  },
  "GET /api/threads/:id/checkpoints/:cid": {
    summary: "A checkpoint and the files it changed; with `content=1` their content up to 1 MB each.",
    query: z.object({ content: flag.optional() }),
    response: z.looseObject({
      checkpoint: shapes.checkpoint,
      files: z.array(shapes.fileChange.extend(shapes.fileContent.partial().shape)),
    }),
  },
  "PUT /api/threads/:id/checkpoints/:cid": {
    summary: "Changes name, note and tags of a checkpoint; what is left out stays.",
    body: annotation,
    response: z.looseObject({ checkpoint: shapes.checkpoint }),
  },
  "DELETE /api/threads/:id/checkpoints/:cid": {
    summary: "Drops a checkpoint; it can be brought back within a day.",
    response: z.looseObject({ deleted: z.string() }),
  },
  "GET /api/threads/:id/checkpoints/:cid/diff": {
    summary: "How the disk differs from a checkpoint.",
    response: shapes.diff,
  },
  "GET /api/threads/:id/checkpoints/:cid/diff/:other": {
    summary: "How two checkpoints differ.",
    response: shapes.diff,
  },
  "GET /api/threads/:id/checkpoints/:cid/rollback/preview": {
    summary: "What going back would do; pass its `id` as `planId` to carry it out.",
    query: planQuery,
    response: shapes.planned,
  },
  "POST /api/threads/:id/checkpoints/:cid/rollback": {
    summary: "Goes back as planned.",
    body: carryOut,
    response: shapes.outcome,
  },
} as const satisfies Record<string, Route>;

const COMPARE = {
  "GET /api/checkpoints/:a/files/:b": {
    summary: "Which files differ between a checkpoint and another one, or the disk (`disk`); without text.",
    query: workspaceQuery.extend({ detail: z.enum(["names", "counts"]).optional() }),
    response: shapes.diff,
  },
  "GET /api/checkpoints/:a/files/:b/diff": {
    summary: "One file of two states, line by line. `large` also gives long diffs and files up to 10 MiB.",
    query: diffQuery,
    response: shapes.fileDiff,
  },
  "GET /api/checkpoints/:id/blob": {
    summary: "The bytes of a file at a checkpoint, or on disk (`disk`), up to 64 MiB.",
    query: fileQuery.safeExtend(workspaceQuery.shape),
    media: "application/octet-stream",
  },
} as const satisfies Record<string, Route>;

const APPROVAL = {
  "GET /api/threads/:id/session": {
    summary: "The open session and what is not approved yet.",
    query: z.object({ diffs: flag.optional() }),
    response: shapes.session,
  },
  "GET /api/threads/:id/sessions": {
    summary: "All sessions of a thread, oldest first.",
    response: z.looseObject({ sessions: z.array(shapes.sessionRecord) }),
  },
  "POST /api/threads/:id/approve": {
    summary: "Approves the session and opens the next one.",
    body: z.object({ message: text(10_000).optional() }),
    response: shapes.approval,
  },
  "GET /api/threads/:id/reset/preview": {
    summary: "What a reset to the approved state would do.",
    response: shapes.planned,
  },
  "POST /api/threads/:id/reset": {
    summary: "Takes out what is not approved, as planned.",
    body: carryOut,
    response: shapes.resetOutcome,
  },
  "POST /api/threads/:id/restore": {
    summary: "Goes back to a checkpoint as planned.",
    body: carryOut.extend({ checkpointId: identifier }),
    response: shapes.outcome,
  },
  "GET /api/threads/:id/undo/preview": {
    summary: "What an undo would take back.",
    query: stepsQuery,
    response: shapes.plannedSteps,
  },
  "POST /api/threads/:id/undo": {
    summary: "Takes back steps as planned.",
    body: carryOut,
    response: shapes.stepsOutcome,
  },
  "GET /api/threads/:id/redo/preview": {
    summary: "What a redo would bring back.",
    query: stepsQuery,
    response: shapes.plannedSteps,
  },
  "POST /api/threads/:id/redo": {
    summary: "Brings back steps as planned.",
    body: carryOut,
    response: shapes.stepsOutcome,
  },
  "GET /api/threads/:id/revert/preview": {
    summary: "What reverting one step would do.",
    query: z.object({ checkpoint: identifier }).extend(stepsQuery.pick({ includeShared: true }).shape),
    response: shapes.plannedSteps,
  },
  "POST /api/threads/:id/revert": {
    summary: "Reverts one step as planned.",
    body: carryOut,
    response: shapes.stepsOutcome,
  },
} as const satisfies Record<string, Route>;

const PLANS = {
  "POST /api/plans": {
    summary: "What going back would do, in detail; `POST /api/plans/:id/apply` carries it out.",
    query: workspaceQuery,
    body: z.object({
      workspace: path.optional(),
      kind: z.enum(["restore", "undo", "redo", "revert", "reset"]),
      /** The checkpoint of a restore or revert. */
      target: identifier.optional(),
      thread: identifier.optional(),
      count: z.int().min(1).max(1000).optional(),
      /** Files, directories or patterns; left out, everything. */
      paths: z.array(path).min(1).max(10_000).optional(),
      /** Of these files only some hunks, numbered as `GET /api/plans/:id/diff` has them. */
      hunks: z
        .array(
          z.object({
            path,
            pathBase64: text(6000).optional(),
            hunks: z.array(z.int().min(0)).max(100_000),
          }),
        )
        .max(10_000)
        .optional(),
      /** What was decided about paths in conflict; the plan that follows is a step of its own. */
      decisions: z
        .array(
          z.object({
            path,
            pathBase64: text(6000).optional(),
            take: z.enum(["disk", "plan", "text"]),
            text: text(MESSAGE_CHARACTERS).optional(),
          }),
        )
        .max(10_000)
        .optional(),
      /** The plan whose hunks were counted: refused (`PLAN_STALE`) where the files are others by now. */
      basedOn: identifier.optional(),
      /** Threads whose work a restore leaves alone; every other thread unless said otherwise. */
      exceptThreads: z.array(identifier).max(1000).optional(),
      keepNew: z.boolean().optional(),
      scope: z.enum(["files", "conversation", "both"]).optional(),
      includeShared: z.boolean().optional(),
    }),
    response: shapes.detailed,
  },
  "POST /api/checkpoints/:id/fork": {
    summary:
      "Makes a conversation of the agent that ends at a checkpoint, where the agent can; no file changes. Before going back with a conversation.",
    query: workspaceQuery,
    body: z.object({ thread: identifier.optional() }),
    response: z.looseObject({
      /** How to continue there; null where there is nothing to say. */
      advice: z.string().nullable(),
      /** The line that resumes it, to copy. */
      resume: z.string().nullable(),
      /** Why the agent's own conversation stays as it is. */
      warning: z.string().nullable(),
    }),
  },
  "GET /api/plans/:id/diff": {
    summary:
      "One file of a plan, line by line: as it is on disk, and as the plan would make it. Its hunks, with three lines around each, are numbered from 0.",
    query: diffQuery,
    response: shapes.plannedDiff,
  },
  "POST /api/plans/:id/apply": {
    summary: "Carries out a plan once, if the files are still what it was made on.",
    query: workspaceQuery,
    body: z.object({ workspace: path.optional(), bestEffort: z.boolean().optional() }),
    response: shapes.planOutcome,
  },
} as const satisfies Record<string, Route>;

const WORKSPACE = {
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
    body: newCheckpoint.extend({ thread: identifier.optional() }),
    response: shapes.taken,
  },
  "GET /api/checkpoints/:id": {
    summary: "A checkpoint by any reference, with what it changed and what it leaves out.",
    query: workspaceQuery,
    response: shapes.checkpointDetails,
  },
  "GET /api/search": {
    summary: "Finds checkpoints by name, note, prompt or path.",
    query: workspaceQuery.extend({ q: text(500).min(1), limit: number(10_000).optional() }),
    response: z.looseObject({ checkpoints: z.array(shapes.checkpoint) }),
  },
  "GET /api/find": {
    summary: "Where a text, a regex or a file was in any checkpoint; looked for in another process.",
    query: workspaceQuery.extend({
      text: text(4000).min(1).optional(),
      regex: text(4000).min(1).optional(),
      file: path.optional(),
      ignoreCase: flag.optional(),
      limit: number(10_000).min(1).optional(),
    }),
    response: shapes.findings,
  },
  "GET /api/storage/usage": {
    summary: "Who takes the space: threads, kinds of checkpoint or directories; counted in another process.",
    query: workspaceQuery.extend({ by: z.enum(["thread", "kind", "directory"]) }),
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
  "GET /api/doctor": {
    summary: "Everything that could make protection weaker than it seems, looked at in another process.",
    query: workspaceQuery,
    response: shapes.doctorReport,
  },
  "POST /api/prune": {
    summary: "Drops checkpoints by a policy, or those older than some hours or beyond the newest ones.",
    query: workspaceQuery,
    body: z.object({
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

const PAGES = {
  "POST /api/pages/codes": {
    summary: "A code that opens one page in a browser within a minute; `at`: the address of a tunnel.",
    body: z.object({
      at: z
        .url({ protocol: /^http$/, hostname: /^[\w.-]+$/ })
        .max(200)
        .optional(),
    }),
    response: z.looseObject({ code: z.string() }),
    ownProgramsOnly: true,
  },
  "POST /api/pages": {
    summary: "Opens a page: gives its key for a code. The only route that needs no key.",
    body: z.object({ code: text(100) }),
    response: z.looseObject({ key: z.string() }),
  },
  "GET /api/pages": {
    summary: "The open pages, newest first.",
    response: z.looseObject({ pages: z.array(shapes.page) }),
  },
  "DELETE /api/pages/:id": {
    summary: "Ends the key of a page.",
    response: z.looseObject({ ended: z.string() }),
  },
} as const satisfies Record<string, Route>;

const HISTORY = {
  "GET /api/history": {
    summary:
      "What happened, newest first: turns, changes by hand, your checkpoints, restores. `before` continues with an answer's `next`.",
    query: workspaceQuery.extend({
      before: number(Number.MAX_SAFE_INTEGER).optional(),
      after: number(Number.MAX_SAFE_INTEGER).optional(),
      limit: number(1000).min(1).optional(),
      thread: identifier.optional(),
      agent: identifier.optional(),
      since: z.iso.datetime({ offset: true }).optional(),
      q: text(500).optional(),
      all: flag.optional(),
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

/** The table. */
export const ROUTES = {
  ...THREADS,
  ...CHECKPOINTS,
  ...COMPARE,
  ...APPROVAL,
  ...PLANS,
  ...WORKSPACE,
  ...HISTORY,
  ...PAGES,
} as const;

/** A method and a path of the table. */
export type RouteName = keyof typeof ROUTES;

/** What the handler of a route answers; a stream of events is a response of its own. */
export type RouteAnswer<Name extends RouteName> = (typeof ROUTES)[Name] extends {
  readonly response: infer Shape extends z.ZodType;
}
  ? shapes.Json<Shape>
  : Response;
