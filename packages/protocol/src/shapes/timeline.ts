/** What happened, as people think of it. */
import { z } from "zod";
import { changeCounts, count, pathEntry, time } from "./basics.ts";
import { diff, fileDiff } from "./checkpoints.ts";

/** Files and lines that something changed; lines are null where they cannot be told. */
const timelineCounts = changeCounts.extend({ plus: count.nullable(), minus: count.nullable() });

/** Something that happened. `ref` names it and no other row; rows may share `seq`, which orders them. */
export const historyRow = timelineCounts.extend({
  seq: count,
  id: z.string(),
  ref: z.string(),
  kind: z.enum([
    "turn",
    "hand",
    "checkpoint",
    "restore",
    "revert",
    "reset",
    "switch",
    "merge",
    "approved",
    "initial",
    "safety",
    "capture",
  ]),
  title: z.string(),
  thread: z.string().nullable(),
  agent: z.string().nullable(),
  session: z.string().nullable(),
  at: time,
  endedAt: time.nullable(),
  state: z.enum(["open", "applied", "undone", "empty"]),
  status: z.enum(["working", "completed", "interrupted", "failed"]).nullable(),
  undoneAt: time.nullable(),
  /** Set where a person undid it in the page. An agent runs the same commands as a person: of others it is not known. */
  undoneBy: z.literal("page").optional(),
  approved: z.boolean(),
  pruned: z.boolean(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  shared: count,
  steps: count,
  gaps: count,
  late: count,
  /** Set where a checkpoint on either side of it cannot be restored in full. */
  damaged: z.literal(true).optional(),
  name: z.string().nullable(),
  note: z.string().nullable(),
  tags: z.array(z.string()),
  sameAsNow: z.boolean().nullable(),
  beforeSameAsNow: z.boolean().nullable(),
  /** The file, of a change outside of agents that touched no other. */
  path: z.string().optional(),
  /** The checkpoint that a restore went to, where it is still there. */
  target: z.string().optional(),
  /** Set where it happened on another branch than the one that the files are on. */
  branch: z.string().optional(),
  /** Other branches that began here. */
  begun: z.array(z.string()).optional(),
});

/** Agent work that no checkpoint covers. */
export const uncapturedTurn = z.looseObject({
  thread: z.string(),
  messageId: z.string().nullable(),
  prompt: z.string().nullable(),
  at: time,
  until: time,
  events: count,
  problem: z.string(),
  after: count,
});

/** A page of what happened, newest first, and the turns between its rows that were not captured. `skipped` is how many rows are above it. `total` and `days` are in the first page only; `now` where the disk was looked at. */
export const history = z.looseObject({
  rows: z.array(historyRow),
  next: count.nullable(),
  skipped: count.nullable(),
  /** The newest event when the rows were read: a stream that began with a later one has missed something. */
  event: count,
  total: count.nullable(),
  days: z.array(z.looseObject({ day: z.string(), count })).nullable(),
  now: z
    .looseObject({
      at: time,
      changed: count.nullable(),
      first: z.string().nullable(),
      since: count.nullable(),
      working: z.array(z.string()),
      failing: z.looseObject({ since: time, problem: z.string() }).nullable(),
    })
    .nullable(),
  uncaptured: z.array(uncapturedTurn),
});

/** What a row itself changed: other work between the states around it is not part of it. */
export const historyChanges = diff.omit({ from: true, to: true });

/** The same as a patch, byte for byte; `notInPatch` has what a patch cannot express. */
export const historyPatch = z.looseObject({
  patchBase64: z.string(),
  files: count,
  notInPatch: z.array(pathEntry.extend({ reason: z.string() })),
});

/** One file of it, line by line; `file` is null where the row did not change it. */
export const historyFileDiff = fileDiff.omit({ from: true, to: true });

/** What one tool call of a turn changed. */
export const historyStep = timelineCounts.extend({
  seq: count,
  id: z.string(),
  at: time,
  tool: z.string().nullable(),
  summary: z.string().nullable(),
  nature: z.enum(["edit", "command"]).nullable(),
  before: z.string().nullable(),
  after: z.string(),
});
