/** Plans and outcomes of restore, undo, redo and revert in the contract's shape. */
import type { Conflict, Outcome, Plan } from "@belay/engine";
import { affectedFiles } from "./affected-files.ts";
import { planOperationType } from "./plan-operation.ts";
import { listField } from "./list-field.ts";
import { stepJson } from "./step-json.ts";
import { pathJson, withPathJson } from "./path-json.ts";

export function planJson(plan: Plan) {
  const operations = plan.edits.map((edit) => ({ type: planOperationType(edit), ...pathJson(edit.path) }));
  return {
    id: plan.id,
    checkpointId: plan.checkpoint,
    description: plan.description,
    paths: pathsJson(plan),
    ...listField("operations", operations),
    ...listField(
      "affectedFiles",
      affectedFiles(plan).map((path) => pathJson(path).path),
    ),
    ...listField("merged", plan.merged.map(pathJson)),
    ...listField("kept", plan.kept.map(withPathJson)),
    ...listField("conflicts", plan.conflicts.map(conflictJson)),
    ...listField("meanwhile", plan.meanwhile.map(pathJson)),
    ...listField("paused", plan.paused.map(pathJson)),
    ...listField("maybe", plan.maybe.map(withPathJson)),
    background: plan.background.map(({ step, tool, paths }) => ({
      step: stepJson(step),
      tool,
      ...listField("paths", paths.map(pathJson)),
    })),
    ...listField("gaps", plan.gaps.map(withPathJson)),
    ...listField("doubts", plan.doubts.map(withPathJson)),
    otherThreads: plan.otherThreads.map(({ thread, paths }) => ({
      thread,
      ...listField(
        "paths",
        paths.map((path) => pathJson(path).path),
      ),
    })),
    warnings: plan.warnings,
  };
}

export function outcomeJson(outcome: Outcome) {
  return {
    outcome: outcome.outcome,
    restoredTo: outcome.restoredTo,
    paths: pathsJson(outcome.plan),
    safetyCheckpoint: outcome.safetyCheckpoint,
    newCheckpoint: outcome.newCheckpoint,
    created: outcome.created,
    modified: outcome.modified,
    deleted: outcome.deleted,
    ...listField("merged", outcome.merged.map(pathJson)),
    ...listField("kept", outcome.kept.map(withPathJson)),
    ...listField("skipped", outcome.skipped.map(withPathJson)),
    ...listField("conflicts", outcome.conflicts.map(conflictJson)),
    ...listField("doubts", outcome.plan.doubts.map(withPathJson)),
    ...listField("displaced", outcome.displaced.map(withPathJson)),
    warnings: [...outcome.plan.warnings, ...(outcome.notices ?? [])],
    durationMs: outcome.durationMs,
  };
}

export function conflictJson({ sharedWith, ...conflict }: Conflict) {
  return { ...withPathJson(conflict), ...(sharedWith && { sharedWith: sharedWith.map(stepJson) }) };
}

/** What was asked for by name; null = everything. */
function pathsJson({ paths }: Plan): readonly string[] | null {
  return paths?.map((path) => pathJson(path).path) ?? null;
}

/** [N1] What a refusal left of the files, from what became of them: never a word that something else decides. */
export function untouchedText({ displaced }: Pick<Outcome, "displaced">): string {
  if (displaced.length === 0) return "Nothing was changed.";
  const files = new Set(displaced.map(({ path }) => path)).size;
  return `Nothing was changed except ${files === 1 ? "one file" : `${files} files`} that another program wrote to meanwhile.`;
}
