/** The shapes of the contract: what clients may rely on. Readers must tolerate fields they do not know. */
import { z } from "zod";

const time = z.iso.datetime();
const nullable = <Shape extends z.ZodType>(shape: Shape) => shape.nullable();

export const pathEntry = z.looseObject({ path: z.string(), pathBase64: z.string().optional() });
const reasonedPath = pathEntry.extend({ reason: z.string() });

export const gitState = z.looseObject({
  branch: nullable(z.string()),
  commit: nullable(z.string()),
  dirty: z.boolean(),
  staged: z.array(z.string()),
});

export const checkpoint = z.looseObject({
  id: z.string(),
  seq: z.int(),
  workspace: z.string(),
  thread: nullable(z.string()),
  session: nullable(z.string()),
  kind: z.string(),
  phase: nullable(z.enum(["before", "after"])),
  name: nullable(z.string()),
  note: nullable(z.string()),
  tags: z.array(z.string()),
  description: z.string(),
  createdAt: time,
  snapshot: z.string().length(64),
  parents: z.array(z.string()),
  messageId: nullable(z.string()),
  messageIndex: nullable(z.int()),
  toolUseId: nullable(z.string()),
  tool: nullable(z.string()),
  rolledBack: z.boolean(),
  agent: nullable(z.looseObject({ id: z.string(), role: nullable(z.string()) })),
  conversation: nullable(z.looseObject({ messageCount: z.int(), lastMessageId: nullable(z.string()) })),
  git: nullable(gitState),
  files: z.int(),
  bytes: z.int(),
  changes: z.looseObject({ added: z.int(), modified: z.int(), deleted: z.int() }),
  hasChanges: nullable(z.boolean()),
  gaps: z.array(reasonedPath),
  doubts: z.array(reasonedPath),
});

export const fileChange = pathEntry.extend({
  type: z.enum(["added", "modified", "deleted", "renamed", "mode"]),
  linesAdded: nullable(z.int()),
  linesDeleted: nullable(z.int()),
  binary: z.boolean(),
  attribution: nullable(z.string()),
  diff: nullable(z.string()).optional(),
});

export const diff = z.looseObject({
  from: z.string(),
  to: nullable(z.string()),
  files: z.array(fileChange),
  summary: z.looseObject({
    added: z.int(),
    modified: z.int(),
    deleted: z.int(),
    linesAdded: z.int(),
    linesDeleted: z.int(),
  }),
});

export const plan = z.looseObject({
  id: z.string(),
  checkpointId: nullable(z.string()),
  description: z.string(),
  paths: nullable(z.array(z.string())),
  operations: z.array(pathEntry.extend({ type: z.enum(["create", "restore", "delete", "mode", "replace"]) })),
  affectedFiles: z.array(z.string()),
  kept: z.array(pathEntry),
  conflicts: z.array(pathEntry),
  gaps: z.array(pathEntry),
  doubts: z.array(pathEntry),
  otherThreads: z.array(z.looseObject({ thread: z.string(), paths: z.array(z.string()) })),
  warnings: z.array(z.string()),
});

export const outcome = z.looseObject({
  outcome: z.enum(["applied", "unchanged", "conflicts", "partial", "displaced"]),
  restoredTo: nullable(z.string()),
  paths: nullable(z.array(z.string())),
  safetyCheckpoint: nullable(z.string()),
  newCheckpoint: nullable(z.string()),
  created: z.int(),
  modified: z.int(),
  deleted: z.int(),
  merged: z.array(pathEntry),
  kept: z.array(pathEntry),
  skipped: z.array(pathEntry),
  conflicts: z.array(pathEntry),
  displaced: z.array(pathEntry.extend({ checkpoint: z.string() })),
  durationMs: z.number(),
});

export const stepsOutcome = outcome.extend({
  steps: z.array(z.looseObject({ kind: z.string(), thread: nullable(z.string()), description: z.string() })),
  canUndo: z.boolean(),
  canRedo: z.boolean(),
});

export const message = z.looseObject({
  id: z.string(),
  thread: z.string(),
  index: z.int(),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  createdAt: time,
  checkpoint: nullable(z.string()),
  session: nullable(z.string()),
  rolledBack: z.boolean(),
});

export const thread = z.looseObject({
  id: z.string(),
  workspace: z.string(),
  agent: z.string(),
  externalId: z.string(),
  title: nullable(z.string()),
  createdAt: time,
  updatedAt: time,
  initialCheckpoint: nullable(z.string()),
  session: nullable(z.string()),
  lastApprovedAt: nullable(time),
});

export const pendingFile = z.looseObject({
  path: z.string(),
  status: z.enum(["added", "modified", "deleted"]),
  additions: z.int(),
  deletions: z.int(),
  diff: nullable(z.string()),
  baseContent: nullable(z.string()),
  isBinary: z.boolean(),
  isTooLarge: z.boolean(),
});

export const session = z.looseObject({
  activeSession: nullable(z.string()),
  sessionRef: nullable(z.string()),
  hasUnapproved: z.boolean(),
  lastApprovedAt: nullable(time),
  changedFiles: z.array(pendingFile),
});

export const workspace = z.looseObject({
  id: z.string(),
  path: z.string(),
  open: z.boolean(),
  watching: nullable(z.looseObject({ state: z.enum(["live", "cold"]), reason: nullable(z.string()) })),
});

export const errorBody = z.looseObject({
  error: z.looseObject({ code: z.string(), message: z.string(), hint: z.string() }),
});
