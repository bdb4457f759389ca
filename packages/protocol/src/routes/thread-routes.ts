/** Routes of one thread: its messages, tools and checkpoints, its approval, and going back in it. */
import { z } from "zod";
import * as shapes from "../shapes.ts";
import {
  annotation,
  carryOut,
  empty,
  flag,
  identifier,
  listQuery,
  MESSAGE_CHARACTERS,
  number,
  path,
  planQuery,
  stepsQuery,
  text,
  workspaceQuery,
  type Route,
} from "./route-parts.ts";

/** null where nothing had to be recorded, or automatic checkpoints are off */
const optionallyTaken = shapes.taken.partial().extend({ checkpoint: shapes.checkpoint.nullable() });

/** Threads, their messages and what their agents do. */
export const THREADS = {
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
  "POST /api/threads/:id/close": {
    summary:
      "Says that a conversation is over; its next event opens it again. Retention may keep less of it.",
    body: empty,
    response: z.looseObject({ thread: shapes.thread }),
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

/** The routes of a thread's checkpoints. */
export const CHECKPOINTS = {
  "GET /api/threads/:id/checkpoints": {
    summary: "The checkpoints of a thread, newest first.",
    query: listQuery,
    response: z.looseObject({ checkpoints: z.array(shapes.checkpoint) }),
  },
  "POST /api/threads/:id/checkpoints": {
    summary: "Takes a manual checkpoint.",
    body: annotation,
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

/** Approval, reset, undo, redo and revert in a thread. */
export const APPROVAL = {
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
