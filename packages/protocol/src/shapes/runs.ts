/** Runs of agents' programs, and loops that fix what a review found. */
import { z } from "zod";
import { changeCounts, count, time } from "./basics.ts";

/** Tokens as an agent reported them. */
const tokens = z.looseObject({
  input: count.nullable(),
  output: count.nullable(),
  cached: count.nullable(),
  total: count.nullable(),
});

/** One execution of an agent's program. A cost that was not reported is null, never 0. */
export const run = z.looseObject({
  id: z.string(),
  batch: z.string(),
  fork: z.string().nullable(),
  branch: z.string(),
  thread: z.string().nullable(),
  agent: z.string(),
  role: z.string(),
  prompt: z.string(),
  status: z.enum([
    "queued",
    "starting",
    "running",
    "done",
    "failed",
    "timed-out",
    "over-budget",
    "stopped",
    "interrupted",
    "lost",
  ]),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  reason: z.string().nullable(),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  cost: z.number().nullable(),
  tokens: tokens.nullable(),
  /** The checkpoints around it. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  changes: changeCounts.nullable(),
  session: z.string().nullable(),
  resumable: z.boolean(),
  log: z.looseObject({ stdout: z.string(), stderr: z.string(), truncated: z.boolean() }).nullable(),
  escaped: z.array(z.string()),
});

/** One thing that a review wants changed. */
const reviewIssue = z.looseObject({
  severity: z.string(),
  message: z.string(),
  file: z.string(),
  line: count,
  suggestion: z.string().optional(),
});

/** A loop of attempts to fix what a review found. */
export const fix = z.looseObject({
  id: z.string(),
  state: z.enum(["running", "clean", "escalated", "rejected", "accepted", "manual", "exhausted"]),
  attempts: z.array(
    z.looseObject({
      number: count,
      severity: z.string(),
      checkpoint: z.string().nullable(),
      run: z.string().nullable(),
      issuesBefore: z.array(reviewIssue),
      issuesAfter: z.array(reviewIssue).nullable(),
      takenBack: z.boolean(),
    }),
  ),
  issues: z.array(reviewIssue),
  /** How many checkpoints it took. */
  snapshots: count,
  /** What can be answered; none when it waits for no answer. */
  options: z.array(z.string()),
  reason: z.string().nullable(),
  before: z.string().nullable(),
  result: z
    .looseObject({
      success: z.boolean(),
      totalRetries: count,
      /** What was accepted as it is. */
      ignoredIssues: z.array(reviewIssue).optional(),
      /** The files are as they were before it. */
      rollback: z.boolean().optional(),
      /** The user fixes it. */
      manualFix: z.boolean().optional(),
    })
    .nullable(),
  createdAt: time,
  endedAt: time.nullable(),
});
