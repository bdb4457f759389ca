/** What changed in one file between two checkpoints, or between a checkpoint and the disk? */
import type { Context } from "../capture/context.ts";
import { changeRows } from "../diff/change-rows.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { fileDiff } from "../diff/file-diff.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { FileDiff, FileDiffOptions } from "../model/file-diff.ts";
import type { CheckpointRef } from "../model/ids.ts";
import { EngineError } from "../model/errors.ts";
import type { FileChange } from "../model/file-change.ts";
import type { Edit, Plan } from "../model/plan.ts";
import type { PlannedDiff } from "../model/plan-details.ts";
import { countHunks } from "../restore/choose-hunks.ts";
import type { Preview, Seen } from "../restore/go-back.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { changesBetween } from "./compare-states.ts";

/** Which file of which two states is compared. */
export interface CompareFileOptions extends FileDiffOptions {
  readonly from: CheckpointRef;
  /** undefined = the disk as it is now */
  readonly to?: CheckpointRef;
  /** Of a moved file the new path, or the old one. */
  readonly path: BytePath;
}

/** Which file of changes that are known is compared, such as those of a plan. */
export type OneFileOptions = Omit<CompareFileOptions, "from" | "to">;

/** Null when both states have the same at this path. */
export function compareFile(context: Context, options: CompareFileOptions): FileDiff | null {
  return compareIn(changesBetween(context, options), options);
}

/** Every file of a plan as it is on disk, compared with what the plan would make of it: diffs and patches. */
export function comparePlan({ plan, seen }: Preview): FileChange[] {
  return fileChanges(contentOf(plan, seen), plan.edits, { detail: "text" });
}

function contentOf(plan: Plan, seen: Seen | undefined): ObjectSource {
  if (seen !== undefined) return seen.objects;
  throw new EngineError("PLAN_STALE", "This plan is too old to be looked at. Make a new one.", {
    plan: plan.id,
  });
}

/** Null when the plan leaves the file as it is. A moved file is two: each can be chosen by itself. */
export function comparePlannedFile({ plan, seen }: Preview, options: OneFileOptions): PlannedDiff | null {
  const edit = plan.edits.find(({ path }) => path === options.path);
  if (edit === undefined) return null;
  const objects = contentOf(plan, seen);
  const diff = compareIn({ edits: [edit], objects }, options);
  return diff && { ...diff, choices: countHunks(edit, objects) };
}

/** Null when the edits leave the file as it is. */
export function compareIn(
  { edits, objects }: { readonly edits: readonly Edit[]; readonly objects: ObjectSource },
  options: OneFileOptions,
): FileDiff | null {
  const rows = changeRows(edits);
  const row =
    rows.find(({ path }) => path === options.path) ??
    rows.find(({ formerPath }) => formerPath === options.path);
  return row === undefined ? null : fileDiff(objects, row, options);
}
