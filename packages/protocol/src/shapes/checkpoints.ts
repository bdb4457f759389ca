/** Checkpoints, and what differs between two of them. */
import { z } from "zod";
import {
  agentFacts,
  captureLimits,
  changeCounts,
  count,
  excludedPath,
  gap,
  gitState,
  list,
  pathEntry,
  reasonedPath,
  time,
} from "./basics.ts";

/** The shape of a checkpoint. */
export const checkpoint = z.looseObject({
  id: z.string(),
  seq: count,
  workspace: z.string(),
  branch: z.string().nullable(),
  /** The fork it was taken in; null for the workspace's root. */
  fork: z.string().nullable(),
  /** What it was imported from, or the line it was fetched from; null when it was captured here. */
  origin: z.union([z.string(), z.object({ remote: z.string(), line: z.string() })]).nullable(),
  /** Whether every remote is known to have it; null where there is no remote. */
  synced: z.boolean().nullable(),
  thread: z.string().nullable(),
  session: z.string().nullable(),
  kind: z.string(),
  phase: z.enum(["before", "after"]).nullable(),
  name: z.string().nullable(),
  note: z.string().nullable(),
  tags: z.array(z.string()),
  description: z.string(),
  createdAt: time,
  snapshot: z.string().length(64),
  parents: z.array(z.string()),
  messageId: z.string().nullable(),
  messageIndex: count.nullable(),
  toolUseId: z.string().nullable(),
  tool: z.string().nullable(),
  rolledBack: z.boolean(),
  agent: agentFacts.nullable(),
  conversation: z
    .looseObject({
      messageCount: count,
      lastMessageId: z.string().nullable(),
      artifacts: z.array(z.unknown()),
    })
    .nullable(),
  git: gitState.nullable(),
  files: count,
  bytes: count,
  changes: changeCounts,
  hasChanges: z.boolean().nullable(),
  undoDropped: z.boolean().optional(),
  ...list("gaps", gap),
  ...list("doubts", reasonedPath),
});

/** A checkpoint that was just taken. */
export const taken = z.looseObject({
  checkpoint,
  unchanged: z.boolean(),
  stored: z.looseObject({ objects: count, bytes: count }),
  warnings: z.array(z.string()),
  durationMs: z.number(),
});

/** The shape of a changed file. */
export const fileChange = pathEntry.extend({
  from: z.string().optional(),
  fromBase64: z.string().optional(),
  type: z.enum(["added", "modified", "deleted", "renamed", "mode"]),
  linesAdded: count.nullable(),
  linesDeleted: count.nullable(),
  binary: z.boolean(),
  tooLarge: z.boolean(),
  gap: z.string().optional(),
  /** The store has lost the content of one side: its lines are not counted. */
  damaged: z.literal(true).optional(),
  /** The agents that changed it between the two states, and whether it was changed without one too. */
  agents: z.array(z.string()).optional(),
  byHand: z.boolean().optional(),
  attribution: z.enum(["tool", "shared", "outside", "merge"]).nullable(),
  diff: z.string().nullable().optional(),
});

/** A file's content at a checkpoint or on disk; null where it was absent or is larger than what is shown. */
export const fileContent = z.looseObject({
  content: z.string().nullable(),
  encoding: z.enum(["utf-8", "base64"]),
  mode: count.nullable(),
  hash: z.string().nullable(),
  tooLarge: z.boolean(),
});

/** A checkpoint with what it changed and what it leaves out. */
export const checkpointDetails = z.looseObject({
  checkpoint,
  ...list("files", fileChange),
  ...list("excluded", excludedPath),
  /** Files outside the workspace that it holds. */
  ...list("outside", z.looseObject({ path: z.string(), type: z.enum(["file", "absent"]) })),
  /** The bytes of the files that it has and the checkpoint before it did not have like that; `since` may name another. */
  newBytes: count,
  limits: captureLimits,
});

/** What differs between two checkpoints, or a checkpoint and the disk (`to: null`). */
export const diff = z.looseObject({
  from: z.string(),
  to: z.string().nullable(),
  ...list("files", fileChange),
  /** Lines are null where they were not counted: without a `detail`, of more than 300 files. */
  summary: changeCounts.extend({ linesAdded: count.nullable(), linesDeleted: count.nullable() }),
});

/** One line of a hunk, with its number on each side. */
const diffLine = z.looseObject({
  type: z.enum([" ", "+", "-"]),
  text: z.string(),
  old: count.nullable(),
  new: count.nullable(),
  noNewline: z.boolean().optional(),
});

/** Nearby changes of a file with the unchanged lines around them. */
export const diffHunk = z.looseObject({
  header: z.string(),
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  lines: z.array(diffLine),
});

/** One of the two versions of a file. */
export const fileSide = z.looseObject({
  kind: z.enum(["file", "symlink", "gap"]),
  mode: count.nullable(),
  size: count,
  hash: z.string().nullable(),
  target: z.string().optional(),
  gap: z.string().optional(),
  image: z
    .looseObject({ format: z.enum(["png", "jpeg", "gif", "webp"]), width: count, height: count })
    .optional(),
});

/** The change of one file, line by line; `file` is null where both states have the same. */
export const fileDiff = z.looseObject({
  from: z.string(),
  to: z.string().nullable(),
  file: fileChange.nullable(),
  before: fileSide.nullable(),
  after: fileSide.nullable(),
  hunks: z.array(diffHunk),
  /** How many unchanged lines follow the last hunk. */
  below: count,
  truncated: z.boolean(),
});
