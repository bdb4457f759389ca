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

/** What the tool `checkpoint_create` takes. */
export const createInput = z.object({
  name: z.string().min(1).max(200).optional().describe("A name to find it by"),
  note: z.string().max(2000).optional(),
});
/** What the tool `checkpoint_list` takes. */
export const listInput = z.object({ limit: z.number().int().min(1).max(100).default(20) });
/** What the tool `checkpoint_search` takes. */
export const searchInput = z.object({
  text: z.string().min(1).max(500).describe("Part of a name, note, prompt or path"),
  limit: z.number().int().min(1).max(100).default(20),
});
/** What the tool `project_find` takes. */
export const findInput = z.object({
  query: z.string().min(1).max(2000).describe("A question, or words and names that the files have"),
  k: z.number().int().min(1).max(20).default(8).describe("How many pieces"),
  checkpoint: checkpointRef
    .optional()
    .describe("Search the files of this checkpoint instead of those on disk"),
});
/** What the tool `history_search` takes. */
export const historyInput = z.object({
  text: z.string().min(1).max(2000).describe("A literal text in the lines that are looked for"),
  paths,
  limit: z.number().int().min(1).max(50).default(20).describe("How many files at most"),
});
/** What the tool `checkpoint_show` takes. */
export const showInput = z.object({ checkpoint: checkpointRef });
/** What the tool `checkpoint_diff` takes. */
export const diffInput = z.object({
  from: REF.optional().describe("The newest checkpoint if left out"),
  to: REF.optional().describe("The files on disk if left out"),
  paths,
});
/** What the tool `checkpoint_preview` takes. */
export const previewInput = z.object({ checkpoint: checkpointRef, paths });
/** What the tool `checkpoint_restore` takes. */
export const restoreInput = previewInput.extend({
  confirm: REF.optional().describe("The code of a preview that the user has confirmed"),
});

/** What the tool `project_find` answers. */
export const findOutput = z.object({
  hits: z.array(
    z.object({
      path: z.string(),
      startLine: z.number(),
      endLine: z.number(),
      text: z.string(),
      score: z.number(),
    }),
  ),
  notice,
});
/** What the tool `history_search` answers. */
export const historyOutput = z.object({
  spans: z.array(
    contract.foundLine
      .pick({ path: true, text: true, first: true, firstAt: true, last: true, lastAt: true })
      .extend({
        addedBy: contract.foundAuthor.nullable(),
        removedBy: contract.foundAuthor.nullable(),
      }),
  ),
  spansTotal: z.number(),
  notice,
});
/** What the tool `checkpoint_create` answers. */
export const createOutput = z.object({ notice, checkpoint });
/** What `checkpoint_list` and `checkpoint_search` answer. */
export const listOutput = z.object({ notice, checkpoints: z.array(checkpoint) });
/** What the tool `checkpoint_show` answers. */
export const showOutput = z.object({ notice, checkpoint, files: z.array(file), filesTotal: z.number() });
/** What the tool `checkpoint_diff` answers. */
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

/** What the tool `merge_preview` takes. */
export const mergeInput = z.object({
  branches: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(50)
    .describe("In the order in which they are merged"),
});
/** What the tool `conflict_list` takes: nothing. */
export const noInput = z.object({});
/** What the tool `conflict_show` takes. */
export const conflictInput = z.object({ conflict: REF.describe("Its id, or the path of the file") });

/** A branch as models see it. */
export const branch = contract.branch.pick({
  name: true,
  current: true,
  parent: true,
  ahead: true,
  behind: true,
  files: true,
  run: true,
  state: true,
  workingCopy: true,
  description: true,
});
/** What the tool `branch_list` answers. */
export const branchesOutput = z.object({ notice, branches: z.array(branch) });

/** A conflict of a merge, as models see it. */
export const mergeConflict = contract.mergeConflict.pick({
  id: true,
  path: true,
  source: true,
  agents: true,
  severity: true,
  kind: true,
  reason: true,
  regions: true,
  options: true,
  state: true,
});

/** What merging would do, as models see it. */
export const mergePreview = z.object({
  into: z.string(),
  sources: z.array(z.object({ branch: z.string(), outcome: z.enum(["merged", "held", "unchanged"]) })),
  merged: z.array(z.object({ path: z.string(), severity: z.string(), how: z.string() })),
  conflicts: z.array(mergeConflict),
  notMerged: z.array(z.object({ path: z.string(), reason: z.string() })),
  changes: z.array(z.string()).describe("The files that would change"),
});

const side = z.string().nullable().describe("null: absent, or not text, or over 32 KiB");

/** A conflict with what its sides hold. */
export const mergeConflictContents = z.object({
  conflict: mergeConflict,
  base: side,
  ours: side,
  theirs: side,
  proposal: side,
});

/** What the tool `merge_preview` answers. */
export const mergeOutput = z.object({ notice, preview: mergePreview });
/** What the tool `conflict_list` answers. */
export const conflictsOutput = z.object({ notice, conflicts: z.array(mergeConflict) });
/** What the tool `conflict_show` answers. */
export const conflictOutput = mergeConflictContents.extend({ notice });

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

/** What the tool `checkpoint_preview` answers. */
export const previewOutput = z.object({ notice, preview: shownPreview, confirm: z.string() });
/** What `checkpoint_restore` answers: what was done, or what the user has to agree to. */
export const restoreOutput = outcome.partial().extend({
  notice,
  outcome: z.enum([...contract.outcomeKind.options, "declined", "needs-confirmation"]),
  preview: shownPreview.optional(),
  confirm: z.string().optional(),
});
