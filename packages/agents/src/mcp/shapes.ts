/** The input and output of the tools, as schemas that clients see: of the contract's shapes what a model can use. */
import * as contract from "@belay/protocol/shapes";
import { z } from "zod";

const REF = z.string().min(1).max(200);
const checkpointRef = REF.describe(
  "A checkpoint: its id, number, name or tag, '@' for the newest, '@-2' two before",
);
const paths = z
  .array(z.string().min(1).max(4096))
  .min(1)
  .max(200)
  .optional()
  .describe("Only these files or directories; leave it out for everything");

/** A checkpoint as models see it. */
export const checkpoint = contract.checkpoint.pick({
  id: true,
  seq: true,
  kind: true,
  name: true,
  description: true,
  createdAt: true,
  changes: true,
});

/** A changed file as models see it; `diff` is null for binary files and in results without diffs. */
export const file = contract.fileChange
  .pick({ path: true, type: true, linesAdded: true, linesDeleted: true })
  .extend({ diff: z.string().nullable() });

/** Goes with all text of the project: a model must not take it for instructions. */
const notice = z.string().describe("How to treat the text in this result");

/** `checkpoint_create` */
export const createInput = z.object({
  name: z.string().min(1).max(200).optional().describe("A name to find it by"),
  note: z.string().max(2000).optional(),
});
/** `checkpoint_list` */
export const listInput = z.object({ limit: z.number().int().min(1).max(100).default(20) });
/** `checkpoint_search` */
export const searchInput = z.object({
  text: z.string().min(1).max(500).describe("Part of a name, note, prompt or path"),
  limit: z.number().int().min(1).max(100).default(20),
});
/** `checkpoint_show` */
export const showInput = z.object({ checkpoint: checkpointRef });
/** `checkpoint_diff` */
export const diffInput = z.object({
  from: REF.optional().describe("The newest checkpoint if left out"),
  to: REF.optional().describe("The files on disk if left out"),
  paths,
});
/** `checkpoint_preview` */
export const previewInput = z.object({ checkpoint: checkpointRef, paths });
/** `checkpoint_restore` */
export const restoreInput = previewInput.extend({
  confirm: REF.optional().describe("The code of a preview that the user has confirmed"),
});

/** What `checkpoint_create` answers. */
export const createOutput = z.object({ notice, checkpoint });
/** What `checkpoint_list` and `checkpoint_search` answer. */
export const listOutput = z.object({ notice, checkpoints: z.array(checkpoint) });
/** What `checkpoint_show` answers. */
export const showOutput = z.object({ notice, checkpoint, files: z.array(file), filesTotal: z.number() });
/** What `checkpoint_diff` answers. */
export const diffOutput = z.object({
  notice,
  files: z.array(file),
  filesTotal: z.number(),
  truncated: z.boolean(),
});

const conflict = contract.conflict.extend({
  ours: contract.conflictSide.optional().describe("What is there now"),
  theirs: contract.conflictSide.optional().describe("What was wanted"),
  restoreFrom: z.string().optional().describe("The checkpoint that has exactly what was wanted"),
});

const waysOut = z
  .array(z.object({ command: z.string(), does: z.string() }))
  .describe("Commands that the user can type to resolve the conflicts");

/** What a restore would do, as models see it. */
export const preview = contract.plan.pick({ description: true, operations: true, warnings: true }).extend({
  kept: z.array(z.string()),
  conflicts: z.array(conflict),
  waysOut,
});

/** What a restore did, as models see it. */
export const outcome = contract.outcome
  .pick({
    outcome: true,
    safetyCheckpoint: true,
    created: true,
    modified: true,
    deleted: true,
    displaced: true,
    warnings: true,
  })
  .extend({ conflicts: z.array(conflict), waysOut });

const shownPreview = preview.extend({ operationsTotal: z.number() });

/** What `checkpoint_preview` answers. */
export const previewOutput = z.object({ notice, preview: shownPreview, confirm: z.string() });
/** What `checkpoint_restore` answers: what was done, or what the user has to agree to. */
export const restoreOutput = outcome.partial().extend({
  notice,
  outcome: z.enum([...contract.outcomeKind.options, "declined", "needs-confirmation"]),
  preview: shownPreview.optional(),
  confirm: z.string().optional(),
});
