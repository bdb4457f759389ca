/** Plans of going back, and what carrying them out did. */
import { z } from "zod";
import { captureLimits, count, gap, gitState, list, pathEntry, reasonedPath, time } from "./basics.ts";
import { fileDiff } from "./checkpoints.ts";

/** What a plan would do to one file. `choices`: how many hunks can be chosen, by their numbers from 0 in this order. */
export const plannedDiff = fileDiff.extend({ choices: count });

/** Something that changed the working copy and can be taken out whole. */
export const step = z.looseObject({
  kind: z.string(),
  thread: z.string().nullable(),
  description: z.string(),
  agent: z.string().nullable(),
  prompt: z.string().nullable(),
  at: time,
});

/** One side of a conflict: enough of it to decide by. */
export const conflictSide = z.looseObject({
  kind: z.string(),
  lines: z.array(z.string()),
  line: count.nullable(),
  more: count,
});

/** What made a path what it is now: an agent, a person, or a program while an agent was about. */
const latestChange = z.looseObject({
  by: z.enum(["agent", "hand", "outside"]),
  agent: z.string().nullable(),
  at: time,
});

/** A path in conflict, with its present and its wanted content. */
export const conflict = reasonedPath.extend({
  thread: z.string().optional(),
  latest: latestChange.optional(),
  sharedWith: z.array(step).optional(),
  together: count.nullable().optional(),
  ours: conflictSide.optional(),
  theirs: conflictSide.optional(),
  restoreFrom: z.string().optional(),
});

/** What a plan does to one path. */
export const planOperation = pathEntry.extend({
  type: z.enum(["create", "restore", "delete", "mode", "replace"]),
});

/** What a restore would do to a file outside the workspace; `kept`: nothing, for this reason. */
export const outsideEdit = z.looseObject({
  path: z.string(),
  type: z.enum(["create", "restore", "delete", "mode", "kept"]),
  reason: z.string().optional(),
});

/** Every change that going back would make, and what it would keep. */
export const plan = z.looseObject({
  id: z.string(),
  checkpointId: z.string().nullable(),
  description: z.string(),
  paths: z.array(z.string()).nullable(),
  ...list("operations", planOperation),
  ...list("affectedFiles", z.string()),
  /** Combined by lines: what is there now, and what it becomes, by the hashes of their contents. */
  ...list("merged", pathEntry.extend({ from: z.string().nullable(), to: z.string().nullable() })),
  ...list("kept", reasonedPath),
  ...list("leftOut", reasonedPath),
  ...list("conflicts", conflict),
  ...list("meanwhile", pathEntry),
  ...list("paused", pathEntry),
  ...list("maybe", pathEntry.extend({ tool: z.string() })),
  background: z.array(z.looseObject({ step, tool: z.string(), ...list("paths", pathEntry) })),
  ...list("gaps", gap),
  ...list("doubts", reasonedPath),
  ...list("outside", outsideEdit),
  /** Whether the files outside are written back too. */
  writesOutside: z.boolean(),
  otherThreads: z.array(z.looseObject({ thread: z.string(), ...list("paths", z.string()) })),
  warnings: z.array(z.string()),
});

/** What a plan does to one file, and what to know before choosing it. */
export const plannedFile = pathEntry.extend({
  change: z.enum(["delete", "change", "create", "mode"]),
  plus: count.nullable(),
  minus: count.nullable(),
  binary: z.boolean(),
  reasons: z.array(z.string()),
  /** "scripts", "by hand" or "by hand too", "<agent> too" */
  marks: z.array(z.string()),
  threads: z.array(z.string()),
  /** Where it was written a moment ago. */
  latest: latestChange.optional(),
});

/** A thread, its agent and files. */
const threadFiles = z.looseObject({
  thread: z.string(),
  agent: z.string().nullable(),
  ...list("files", pathEntry),
});

/** A plan with what people choose by: each file, whose work it is, what is left alone, git. */
export const detailedPlan = plan.extend({
  kind: z.enum(["restore", "undo", "redo", "revert", "reset"]),
  /** Files of which only these hunks go back; null where none is limited. */
  hunks: z.array(pathEntry.extend({ hunks: z.array(count) })).nullable(),
  ...list("files", plannedFile),
  leftAlone: z.array(threadFiles),
  /** Threads whose agents are at work right now. */
  working: z.array(z.looseObject({ thread: z.string(), agent: z.string() })),
  git: z.looseObject({ target: gitState.nullable(), now: gitState.nullable() }),
  limits: captureLimits,
  steps: z.array(step),
});

/** A detailed plan; null where there is nothing to do. */
export const detailed = z.looseObject({ plan: detailedPlan.nullable() });

/** A plan of going back to a checkpoint. */
export const planned = z.looseObject({ plan });

/** A plan of undo, redo or revert with its steps; null when there is nothing to do. */
export const plannedSteps = z.looseObject({ plan: plan.nullable(), steps: z.array(step) });

/** How going back ended. */
export const outcomeKind = z.enum(["applied", "unchanged", "conflicts", "partial", "displaced"]);

/** What a program wrote while files were put in place, and the checkpoint that holds it. */
export const displaced = pathEntry.extend({ checkpoint: z.string() });

/** What going back did. */
export const outcome = z.looseObject({
  outcome: outcomeKind,
  restoredTo: z.string().nullable(),
  paths: z.array(z.string()).nullable(),
  safetyCheckpoint: z.string().nullable(),
  newCheckpoint: z.string().nullable(),
  created: count,
  modified: count,
  deleted: count,
  bytesWritten: count,
  ...list("merged", pathEntry),
  ...list("kept", reasonedPath),
  ...list("leftOut", reasonedPath),
  ...list("skipped", reasonedPath),
  ...list("conflicts", conflict),
  ...list("doubts", reasonedPath),
  ...list("displaced", displaced),
  /** Where files outside the workspace were to be written back. */
  outside: z
    .looseObject({
      written: z.array(outsideEdit),
      skipped: z.array(z.looseObject({ path: z.string(), reason: z.string() })),
    })
    .optional(),
  warnings: z.array(z.string()),
  durationMs: z.number(),
});

/** What an undo, redo or revert did. */
export const stepsOutcome = outcome.extend({
  steps: z.array(step),
  canUndo: z.boolean(),
  canRedo: z.boolean(),
});

/** What a reset did; `newSession` is null when conflicts kept everything as it was. */
export const resetOutcome = outcome.extend({
  resetTo: z.string().nullable(),
  newSession: z.string().nullable(),
});

/** What carrying out a plan did, with the facts of its kind. */
export const planOutcome = outcome.extend({
  ...stepsOutcome.pick({ steps: true, canUndo: true, canRedo: true }).partial().shape,
  ...resetOutcome.pick({ resetTo: true, newSession: true }).partial().shape,
});
