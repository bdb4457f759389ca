/** The care of a store, and the search through it. */
import { z } from "zod";
import { count, list, pathEntry, time } from "./basics.ts";
import { checkpoint } from "./checkpoints.ts";
import { step } from "./going-back.ts";

/** How much the store takes. */
export const storage = z.looseObject({
  bytes: count,
  capBytes: count,
  checkpoints: count,
  byKind: z.record(z.string(), count),
  threads: count,
  operations: z.record(z.string(), count),
  objects: count,
  packs: count,
  copiesBytes: count,
  contentBytes: count,
  storedBytes: count,
  diskBytes: count,
  oldest: time.nullable(),
  newest: time.nullable(),
  usage: z.looseObject({
    threads: count,
    rollbacks: count,
    undos: count,
    redos: count,
    reverts: count,
    resets: count,
    approvals: count,
    manualCheckpoints: count,
    threadsWithRollback: count,
    threadsWithManual: count,
    rollbackShare: z.number(),
    manualShare: z.number(),
  }),
});

const spaceUse = z.looseObject({ bytes: count, storedBytes: count });

/** Who takes the space of a store. A group's bytes are those that no other group needs. */
export const spaceUsage = z.looseObject({
  by: z.enum(["thread", "kind", "directory", "checkpoint"]),
  groups: z.array(
    spaceUse.extend({
      key: z.string().nullable(),
      keyBase64: z.string().optional(),
      checkpoints: count.nullable(),
    }),
  ),
  shared: spaceUse,
  rest: spaceUse,
});

/** What a check of the store found. */
export const verifyReport = z.looseObject({
  ok: z.boolean(),
  checkpoints: count,
  objects: count,
  bytes: count,
  ...list(
    "problems",
    z.looseObject({
      kind: z.string(),
      detail: z.string(),
      object: z.string().optional(),
      checkpoints: z.array(z.string()),
    }),
  ),
});

/** What was freed, or would be. */
export const gcReport = z.looseObject({
  objectsFreed: count,
  contentFreed: count,
  storedFreed: count.optional(),
  packsFreed: count,
  packsRewritten: count,
  bytesBefore: count,
  bytesAfter: count.nullable(),
  checkpointsDropped: count,
  stepsDropped: z.array(step),
  dryRun: z.boolean(),
});

/** What was purged, or would be. */
export const forgetReport = z.looseObject({
  ...list("checkpoints", z.string()),
  objects: count,
  bytes: count,
  dryRun: z.boolean(),
  steps: z.array(step),
  ...list("sameContent", pathEntry),
  ...list("stillOpen", pathEntry),
});

/** What was dropped, or would be. */
export const pruneReport = z.looseObject({
  ...list("pruned", checkpoint),
  kept: count,
  keptBy: z.record(z.string(), count),
  droppedBy: z.record(z.string(), count),
  dryRun: z.boolean(),
  storedBytes: count.optional(),
});

/** Checkpoints that were brought back. */
export const unpruned = z.looseObject(list("restored", checkpoint));

/** The files in which an agent's hooks were put in place or taken out, or would be. */
export const hookReport = z.looseObject({
  files: z.array(
    z.looseObject({
      path: z.string(),
      /** What was done to it, or would be. */
      outcome: z.string(),
      reason: z.string().optional(),
      /** Other workspaces that need what is in it. */
      usedBy: z.array(z.string()).optional(),
    }),
  ),
  /** What else the agent needs, such as trust. */
  advice: z.array(z.string()),
});

/** Everything that could make protection weaker than it seems, looked at. */
export const doctorReport = z.looseObject({
  ok: z.boolean(),
  checks: z.array(
    z.looseObject({
      name: z.string(),
      status: z.enum(["ok", "warning", "problem"]),
      detail: z.string(),
      hint: z.string().optional(),
    }),
  ),
  capture: z.unknown(),
});

const foundPlace = z.looseObject({ id: z.string(), seq: count, at: time });

const foundCause = z.looseObject({
  ref: z.string().nullable(),
  title: z.string(),
  agent: z.string().nullable(),
});

/** A stretch of checkpoints in which a file matched. */
export const foundSpan = z.looseObject({
  first: foundPlace,
  last: foundPlace,
  since: foundCause.nullable(),
  gone: foundPlace
    .extend({
      how: z.enum(["deleted", "changed", "left-out", "not-captured", "forgotten"]),
      by: foundCause.nullable(),
    })
    .nullable(),
  binary: z.boolean(),
  lines: z.array(z.string()),
  lineNumbers: z.array(count),
  cat: z.string(),
  restore: z.string(),
});

/** What happened, and whose it was; a change by hand has neither thread nor agent. */
export const foundAuthor = foundCause.extend({
  thread: z.string().nullable(),
  tool: z.string().nullable(),
  messageId: z.string().nullable(),
  prompt: z.string().nullable(),
});

/** A stretch of checkpoints in which a file had a matching line; `last` is null while the newest one has it. */
export const foundLine = pathEntry.extend({
  text: z.string(),
  first: z.string(),
  firstSeq: count,
  firstAt: time,
  last: z.string().nullable(),
  lastSeq: count.nullable(),
  lastAt: time.nullable(),
  addedBy: foundAuthor.nullable(),
  removedBy: foundAuthor.nullable(),
});

/** Where a text or a file was, in any checkpoint; `spans` only where the history of lines was asked for. */
export const findings = z.looseObject({
  ...list("files", pathEntry.extend({ onDisk: z.boolean(), spans: z.array(foundSpan) })),
  checkpoints: count,
  contents: count,
  unreadable: count,
  spans: z.array(foundLine).optional(),
});
