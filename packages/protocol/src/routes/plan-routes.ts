/** Routes that compare states, and that show and carry out plans of every kind. */
import { z } from "zod";
import * as shapes from "../shapes.ts";
import {
  diffQuery,
  fileQuery,
  identifier,
  isWholeOutside,
  MESSAGE_CHARACTERS,
  path,
  text,
  workspaceQuery,
  type Route,
} from "./route-parts.ts";

/** What differs between two states. */
export const COMPARE = {
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
  "GET /api/checkpoints/:id/archive": {
    summary: "All files of a checkpoint as a tar archive; what was not captured is not in it.",
    query: workspaceQuery,
    media: "application/x-tar",
  },
} as const satisfies Record<string, Route>;

/** What a plan is asked for. */
const planBody = z
  .object({
    workspace: path.optional(),
    kind: z.enum(["restore", "undo", "redo", "revert", "reset"]),
    /** The checkpoint of a restore or revert. */
    target: identifier.optional(),
    thread: identifier.optional(),
    count: z.int().min(1).max(1000).optional(),
    /** Files, directories or patterns; left out, everything. */
    paths: z.array(path).min(1).max(10_000).optional(),
    /** Files and directories that stay as they are; everything else goes back. Not together with `paths`. */
    without: z.array(path).max(10_000).optional(),
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
          take: z.enum(["disk", "plan", "merged", "text"]),
          text: text(MESSAGE_CHARACTERS).optional(),
        }),
      )
      .max(10_000)
      .optional(),
    /** The plan whose hunks were counted: refused (`PLAN_STALE`) if the files have changed since. */
    basedOn: identifier.optional(),
    /** Threads whose work a restore leaves alone; every other thread unless said otherwise. */
    exceptThreads: z.array(identifier).max(1000).optional(),
    keepNew: z.boolean().optional(),
    /** Also write back files outside the workspace. */
    outside: z.boolean().optional(),
    scope: z.enum(["files", "conversation", "both"]).optional(),
    includeShared: z.boolean().optional(),
  })
  .refine(
    (body) =>
      isWholeOutside(body) &&
      (body.outside !== true ||
        (body.hunks === undefined && !body.without?.length && body.exceptThreads?.length === 0)),
    {
      error:
        "`outside` goes with a whole restore: send `exceptThreads: []`, and no `paths`, `without`, `hunks` or `keepNew`",
    },
  );

/** Plans and what carries them out. */
export const PLANS = {
  "POST /api/plans": {
    summary: "What going back would do, in detail; `POST /api/plans/:id/apply` carries it out.",
    query: workspaceQuery,
    body: planBody,
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
