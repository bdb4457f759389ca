/** Merges of branches, and the conflicts that are left to decide. */
import { z } from "zod";
import { count, list, pathEntry, reasonedPath, time } from "./basics.ts";
import { fileDiff } from "./checkpoints.ts";
import { outcome, plan, step } from "./going-back.ts";

const severity = z.enum(["low", "medium", "high", "critical"]);

/** Lines `[start, end)`, counted from 0. */
const lines = z.tuple([count, count]);

/** A line that a decision leaves out on purpose, or brings back. */
const droppedLine = z.looseObject({ side: z.enum(["ours", "theirs"]), text: z.string(), reason: z.string() });

/** A path that both sides changed and that nothing combines with certainty. */
export const mergeConflict = pathEntry.extend({
  id: z.string(),
  merge: z.string(),
  source: z.string(),
  otherPath: z.string().nullable(),
  agents: z.array(z.string()),
  severity,
  autoResolvable: z.boolean(),
  reason: z.string(),
  kind: z.enum([
    "content",
    "delete-modify",
    "rename",
    "type",
    "binary",
    "symlink",
    "lock",
    "generated",
    "check",
  ]),
  reasons: z.array(z.looseObject({ code: z.string(), line: count.nullable(), detail: z.string() })),
  regions: z.array(
    z.looseObject({
      class: z.enum(["format", "disjoint", "overlap"]),
      base: lines,
      ours: lines,
      theirs: lines,
    }),
  ),
  options: z.array(z.string()),
  state: z.enum(["open", "resolved"]),
  /** By the number of the region, counted from 1. */
  chosen: z.record(z.string(), z.string()),
  resolution: z
    .looseObject({
      by: z.enum(["auto", "merger", "user"]),
      take: z.string(),
      explanation: z.string().nullable(),
      dropped: z.array(droppedLine),
      at: time,
    })
    .nullable(),
});

/** One version of a conflict's file: text, or bytes in base64; null where it is absent, too large or gone. */
const version = z
  .looseObject({ text: z.string().nullable(), base64: z.string().nullable(), bytes: count })
  .nullable();

/** What a text does not keep to. */
const warnings = z.array(z.looseObject({ check: z.string(), line: count.nullable(), detail: z.string() }));

/** A conflict with its contents. */
export const mergeConflictDetails = z.looseObject({
  conflict: mergeConflict,
  base: version.optional(),
  ours: version.optional(),
  theirs: version.optional(),
  proposal: version.optional(),
  /** What a merger agent made, why, and what it left out on purpose. */
  merger: z
    .looseObject({ content: version, explanation: z.string(), dropped: z.array(droppedLine) })
    .nullable()
    .optional(),
  /** The lines of all three with marks at what is left to decide, to edit; null where there are none. */
  marked: version.optional(),
});

/** A path that both sides changed and that was combined with certainty. */
const mergedPath = pathEntry.extend({
  severity: z.enum(["low", "medium"]),
  how: z.enum(["lines", "format", "rename", "lock", "generated"]),
  agents: z.array(z.string()),
});

/** Branches that were merged, or would be. */
export const merge = z.looseObject({
  id: z.string(),
  state: z.enum(["open", "applied", "abandoned"]),
  into: z.string(),
  sources: z.array(
    z.looseObject({
      branch: z.string(),
      run: z.string().nullable(),
      base: z.string().nullable(),
      head: z.string().nullable(),
      outcome: z.enum(["merged", "held", "unchanged"]),
      commits: count,
    }),
  ),
  ...list("merged", mergedPath),
  /** Combined in sources that are held back: it comes in with them, and can be taken up before. */
  ...list("clean", mergedPath),
  ...list("conflicts", mergeConflict),
  ...list("notMerged", reasonedPath),
  checks: z.array(
    z.looseObject({
      command: z.array(z.string()),
      source: z.string().nullable(),
      exitCode: z.number(),
      durationMs: z.number(),
    }),
  ),
  resolution: z.looseObject({
    autoResolved: count,
    mergerResolved: count,
    userResolved: count,
    success: z.boolean(),
  }),
  createdAt: time,
});

/** What applying a merge did, and what is left of it. */
export const mergeOutcome = merge.extend({
  ...outcome.pick({
    outcome: true,
    safetyCheckpoint: true,
    newCheckpoint: true,
    created: true,
    modified: true,
    deleted: true,
    bytesWritten: true,
    warnings: true,
    durationMs: true,
  }).shape,
  ...list("kept", reasonedPath),
  ...list("displaced", pathEntry.extend({ checkpoint: z.string() })),
  steps: z.array(step),
  canUndo: z.boolean(),
  canRedo: z.boolean(),
});

/** A merge that is planned: nothing is stored or written before `apply`. */
export const plannedMerge = z.looseObject({ merge, plan });

/** A decision that was recorded. */
export const resolvedConflict = z.looseObject({
  conflict: mergeConflict,
  warnings,
  open: count,
});

/** What a decision would come to, compared with what is here now. */
export const triedDecision = z.looseObject({
  files: z.array(fileDiff.omit({ from: true, to: true })),
  /** What the path itself would hold. */
  content: version,
  warnings,
  /** False while regions are left to decide. */
  whole: z.boolean(),
  /** Whether the path would be free of syntax errors; null where nothing knows its language. */
  parses: z.boolean().nullable(),
});
