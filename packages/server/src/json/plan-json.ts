/** Plans and outcomes of restore, undo, redo and revert in the contract's shape. */
import type { Conflict, Edit, Outcome, OutsideEdit, Plan, ResetOutcome } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { affectedFiles } from "./affected-files.ts";
import { planOperationType } from "./plan-operation.ts";
import { leftOut, outcomeWord } from "./left-out-json.ts";
import { listField } from "./list-field.ts";
import { stepJson } from "./step-json.ts";
import { pathJson, withPathJson } from "./path-json.ts";
import { isoTime } from "./thread-json.ts";

/** What going back would do, as the contract shows it. */
export function planJson(plan: Plan): Json<typeof shapes.plan> {
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
    ...listField("merged", mergedJson(plan)),
    ...listField("kept", plan.kept.map(withPathJson)),
    ...listField("leftOut", leftOut(plan).map(withPathJson)),
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
    ...listField("outside", plan.outside.map(outsideJson)),
    writesOutside: plan.writesOutside,
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

/** With the contents that a decision to have it otherwise is made on. */
function mergedJson({ merged, edits }: Plan) {
  const edited = new Map(merged.length === 0 ? [] : edits.map((edit) => [edit.path, edit]));
  const hashOf = (entry: Edit["from"]) => (entry?.kind === "file" ? entry.hash : null);
  return merged.map((path) => {
    const { from, to } = edited.get(path) ?? {};
    return { ...pathJson(path), from: hashOf(from), to: hashOf(to) };
  });
}

/** The plan of undo, redo or revert; null when there is nothing to do. */
export function plannedStepsJson(plan: Plan | null): Json<typeof shapes.plannedSteps> {
  return { plan: plan === null ? null : planJson(plan), steps: plan?.steps.map(stepJson) ?? [] };
}

/** What going back did, as the contract shows it. */
export function outcomeJson(outcome: Outcome): Json<typeof shapes.outcome> {
  return {
    outcome: outcomeWord(outcome),
    restoredTo: outcome.restoredTo,
    paths: pathsJson(outcome.plan),
    safetyCheckpoint: outcome.safetyCheckpoint,
    newCheckpoint: outcome.newCheckpoint,
    created: outcome.created,
    modified: outcome.modified,
    deleted: outcome.deleted,
    bytesWritten: outcome.bytesWritten,
    ...listField("merged", outcome.merged.map(pathJson)),
    ...listField("kept", outcome.kept.map(withPathJson)),
    ...listField("leftOut", leftOut(outcome.plan).map(withPathJson)),
    ...listField("skipped", outcome.skipped.map(withPathJson)),
    ...listField("conflicts", outcome.conflicts.map(conflictJson)),
    ...listField("doubts", outcome.plan.doubts.map(withPathJson)),
    ...listField("displaced", outcome.displaced.map(withPathJson)),
    ...(outcome.outside && {
      outside: {
        written: outcome.outside.written.map(outsideJson),
        skipped: [...outcome.outside.skipped],
      },
    }),
    warnings: [...outcome.plan.warnings, ...(outcome.notices ?? [])],
    durationMs: outcome.durationMs,
  };
}

/** What an undo, redo or revert did. */
export function stepsOutcomeJson(outcome: Outcome): Json<typeof shapes.stepsOutcome> {
  const { steps, canUndo, canRedo } = outcome;
  return { ...outcomeJson(outcome), steps: steps.map(stepJson), canUndo, canRedo };
}

/** What a reset did, also where it was carried out as a plan. */
export function resetOutcomeJson(outcome: Outcome | ResetOutcome): Json<typeof shapes.resetOutcome> {
  const { resetTo, newSession } =
    "resetTo" in outcome ? outcome : { resetTo: outcome.plan.checkpoint, newSession: null };
  return { resetTo, newSession, ...outcomeJson(outcome) };
}

function outsideJson({ path, type, reason }: OutsideEdit): Json<typeof shapes.outsideEdit> {
  return { path, type, ...(reason === undefined ? {} : { reason }) };
}

/** What wrote a path last, where that is known. */
export function latestJson(latest: Conflict["latest"]): Pick<Json<typeof shapes.conflict>, "latest"> {
  return latest === undefined ? {} : { latest: { ...latest, at: isoTime(latest.at) } };
}

/** A path in conflict as the contract shows it. */
export function conflictJson({ sharedWith, latest, ...conflict }: Conflict): Json<typeof shapes.conflict> {
  return {
    ...withPathJson(conflict),
    ...latestJson(latest),
    ...(sharedWith && { sharedWith: sharedWith.map(stepJson) }),
  };
}

/** The paths requested by name; null = everything. */
function pathsJson({ paths }: Plan): readonly string[] | null {
  return paths?.map((path) => pathJson(path).path) ?? null;
}

/** [N1] What a refusal left unchanged, derived from the outcome itself. */
export function untouchedText({ displaced }: Pick<Outcome, "displaced">): string {
  if (displaced.length === 0) return "Nothing was changed.";
  const files = new Set(displaced.map(({ path }) => path)).size;
  return `Nothing was changed except ${files === 1 ? "one file" : `${files} files`} that another program wrote to meanwhile.`;
}
