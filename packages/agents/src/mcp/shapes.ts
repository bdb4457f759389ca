/** The input and output of the tools, as schemas that clients see. */
import { z } from "zod";

const REF = z.string().min(1).max(200);
const checkpointRef = REF.describe(
  "A checkpoint: its id, number, name or tag, '@' for the newest, '@-2' two before",
);
const paths = z
  .array(z.string().min(1).max(4096))
  .max(200)
  .optional()
  .describe("Only these files or directories");

const changes = z.object({ added: z.number(), modified: z.number(), deleted: z.number() });

const checkpoint = z.object({
  id: z.string(),
  seq: z.number(),
  kind: z.string(),
  name: z.string().nullable(),
  description: z.string(),
  createdAt: z.string(),
  changes,
});

const file = z.object({
  path: z.string(),
  type: z.string(),
  linesAdded: z.number().nullable(),
  linesDeleted: z.number().nullable(),
  diff: z.string().nullable(),
});

/** Said with everything that may have been written by somebody else. */
const notice = z.string().describe("How to take the text in this result");

export const createInput = z.object({
  name: z.string().min(1).max(200).optional().describe("A name to find it by"),
  note: z.string().max(2000).optional(),
});
export const listInput = z.object({ limit: z.number().int().min(1).max(100).default(20) });
export const searchInput = z.object({
  text: z.string().min(1).max(500).describe("Part of a name, note, prompt or path"),
  limit: z.number().int().min(1).max(100).default(20),
});
export const showInput = z.object({ checkpoint: checkpointRef });
export const diffInput = z.object({
  from: REF.optional().describe("The newest checkpoint if left out"),
  to: REF.optional().describe("The files on disk if left out"),
  paths,
});
export const previewInput = z.object({ checkpoint: checkpointRef, paths });
export const restoreInput = previewInput.extend({
  confirm: REF.optional().describe("The code from a preview that the user has agreed to"),
});

export const createOutput = z.object({ notice, checkpoint });
export const listOutput = z.object({ notice, checkpoints: z.array(checkpoint) });
export const showOutput = z.object({ notice, checkpoint, files: z.array(file), filesTotal: z.number() });
export const diffOutput = z.object({
  notice,
  files: z.array(file),
  filesTotal: z.number(),
  truncated: z.boolean(),
});

const side = z.object({
  kind: z.string(),
  lines: z.array(z.string()),
  line: z.number().nullable(),
  more: z.number(),
});
const conflicts = z.array(
  z.looseObject({
    path: z.string(),
    reason: z.string(),
    ours: side.optional().describe("What is there now"),
    theirs: side.optional().describe("What was wanted"),
    restoreFrom: z.string().optional().describe("The checkpoint that has exactly what was wanted"),
  }),
);
const waysOut = z
  .array(z.object({ command: z.string(), does: z.string() }))
  .describe("Commands that the user can type to go on in spite of conflicts");

const preview = z.object({
  description: z.string(),
  operations: z.array(z.object({ type: z.string(), path: z.string() })),
  operationsTotal: z.number(),
  kept: z.array(z.string()),
  conflicts,
  waysOut,
  warnings: z.array(z.string()),
});
export const previewOutput = z.object({ notice, preview, confirm: z.string() });
export const restoreOutput = z.object({
  notice,
  outcome: z.enum([
    "applied",
    "unchanged",
    "conflicts",
    "partial",
    "displaced",
    "declined",
    "needs-confirmation",
  ]),
  preview: preview.optional(),
  confirm: z.string().optional(),
  safetyCheckpoint: z.string().nullable().optional(),
  created: z.number().optional(),
  modified: z.number().optional(),
  deleted: z.number().optional(),
  conflicts: conflicts.optional(),
  waysOut: waysOut.optional(),
  displaced: z.array(z.object({ path: z.string(), checkpoint: z.string() })).optional(),
  warnings: z.array(z.string()).optional(),
});
