/** Threads, their messages and sessions. */
import { z } from "zod";
import { agentFacts, count, list, pathEntry, time } from "./basics.ts";

/** One prompt or answer. */
export const message = z.looseObject({
  id: z.string(),
  thread: z.string(),
  index: count,
  role: z.enum(["user", "assistant", "system", "tool"]),
  content: z.string(),
  externalId: z.string().nullable(),
  createdAt: time,
  checkpoint: z.string().nullable(),
  session: z.string().nullable(),
  artifacts: z.array(z.unknown()),
  rolledBack: z.boolean(),
  uncaptured: z.string().nullable(),
});

/** Work that was taken out while the agent still believes it is there. */
export const rolledBack = z.looseObject({
  by: z.enum(["restore", "reset"]),
  description: z.string(),
  ...list("paths", z.string()),
});

/** The shape of a thread. */
export const thread = z.looseObject({
  id: z.string(),
  workspace: z.string(),
  agent: z.string(),
  externalId: z.string(),
  title: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  messages: count,
  checkpoints: count,
  initialCheckpoint: z.string().nullable(),
  session: z.string().nullable(),
  lastApprovedAt: time.nullable(),
  closedAt: time.nullable(),
});

/** One run of an agent within a thread. */
export const agentRun = agentFacts.extend({
  thread: z.string(),
  startedAt: time,
  endedAt: time.nullable(),
  parent: z.string().nullable(),
  checkpoint: z.string().nullable(),
});

/** A stretch of a thread that is approved or reset as a whole. */
export const sessionRecord = z.looseObject({
  name: z.string(),
  status: z.enum(["active", "merged", "abandoned"]),
  createdAt: time,
  closedAt: time.nullable(),
  base: z.string().nullable(),
  approved: z.string().nullable(),
  message: z.string().nullable(),
  head: z.string().nullable(),
  checkpoints: count,
});

/** A file that is not approved yet. */
export const pendingFile = pathEntry.extend({
  status: z.enum(["added", "modified", "deleted"]),
  additions: count,
  deletions: count,
  diff: z.string().nullable(),
  baseContent: z.string().nullable(),
  isBinary: z.boolean(),
  isTooLarge: z.boolean(),
});

/** The open session and what is not approved yet. */
export const session = z.looseObject({
  activeSession: z.string().nullable(),
  sessionRef: z.string().nullable(),
  hasUnapproved: z.boolean(),
  lastApprovedAt: time.nullable(),
  changedFiles: z.array(pendingFile),
});

/** What an approval did. */
export const approval = z.looseObject({
  approved: z.string(),
  session: z.string(),
  newSession: z.string(),
  checkpointsApproved: count,
});
