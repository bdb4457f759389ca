/** Merges and their conflicts in the contract's shape. */
import type {
  Merge,
  MergeConflict,
  MergeOutcome,
  MergePlan,
  ResolvedConflict,
  TriedDecision,
} from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { changedFileJson } from "./diff-json.ts";
import { listField } from "./list-field.ts";
import { pathJson, withPathJson } from "./path-json.ts";
import { outcomeJson, planJson } from "./plan-json.ts";
import { stepJson } from "./step-json.ts";

/** One merge with its conflicts. */
export function mergeJson(merge: Merge): Json<typeof shapes.merge> {
  return {
    id: merge.id,
    state: merge.state,
    into: merge.into,
    sources: merge.sources.map(({ name, run, base, head, outcome, ownCommits }) => ({
      branch: name,
      run,
      base: base[0] ?? null,
      head,
      outcome,
      commits: ownCommits?.commits ?? 0,
    })),
    ...listField("merged", merge.merged.map(withPathJson)),
    ...listField("clean", merge.clean.map(withPathJson)),
    ...listField("conflicts", merge.conflicts.map(mergeConflictJson)),
    ...listField("notMerged", merge.notMerged.map(withPathJson)),
    checks: merge.checks,
    resolution: merge.resolution,
    createdAt: new Date(merge.createdAt).toISOString(),
  };
}

/** A merge that is planned. */
export function plannedMergeJson(plan: MergePlan): Json<typeof shapes.plannedMerge> {
  return { merge: mergeJson(plan.merge), plan: planJson(plan) };
}

/** What applying a merge did. */
export function mergeOutcomeJson(outcome: MergeOutcome): Json<typeof shapes.mergeOutcome> {
  const done = outcomeJson(outcome);
  return {
    ...mergeJson(outcome.merge),
    // a merge that is held back is told as such, whatever its files' going in was
    outcome: outcome.outcome,
    safetyCheckpoint: done.safetyCheckpoint,
    newCheckpoint: done.newCheckpoint,
    created: done.created,
    modified: done.modified,
    deleted: done.deleted,
    bytesWritten: done.bytesWritten,
    ...listField("kept", outcome.kept.map(withPathJson)),
    ...listField("displaced", outcome.displaced.map(withPathJson)),
    warnings: done.warnings,
    durationMs: done.durationMs,
    steps: outcome.steps.map(stepJson),
    canUndo: outcome.canUndo,
    canRedo: outcome.canRedo,
  };
}

/** One conflict, without its contents. */
export function mergeConflictJson(conflict: MergeConflict): Json<typeof shapes.mergeConflict> {
  const { id, merge, source, agents, severity, autoResolvable, reason, kind, reasons } = conflict;
  const { regions, options, state, chosen, resolution, otherPath } = conflict;
  return {
    id,
    merge,
    source,
    ...pathJson(conflict.path),
    otherPath: otherPath === null ? null : pathJson(otherPath).path,
    agents,
    severity,
    autoResolvable,
    reason,
    kind,
    reasons,
    regions,
    options,
    state,
    chosen,
    resolution: resolution === null ? null : { ...resolution, at: new Date(resolution.at).toISOString() },
  };
}

/** Contents over this are not sent. */
const VERSION_BYTES = 1024 * 1024;

/** One conflict, with its contents as far as they fit where the text with marks is given too. */
export function mergeConflictDetailsJson(
  conflict: MergeConflict,
  marked?: Buffer | null,
): Json<typeof shapes.mergeConflictDetails> {
  const told = { conflict: mergeConflictJson(conflict) };
  if (marked === undefined) return told;
  const { merger } = conflict;
  return {
    ...told,
    base: versionJson(conflict.content("base")),
    ours: versionJson(conflict.content("ours")),
    theirs: versionJson(conflict.content("theirs")),
    proposal: versionJson(conflict.proposal),
    merger: merger && { ...merger, content: versionJson(merger.content), dropped: [...merger.dropped] },
    marked: versionJson(marked),
  };
}

function versionJson(content: Buffer | null): Json<typeof shapes.triedDecision>["content"] {
  if (content === null) return null;
  const bytes = content.length;
  if (bytes > VERSION_BYTES) return { text: null, base64: null, bytes };
  const isText = !content.includes(0) && Buffer.from(content.toString("utf8"), "utf8").equals(content);
  return isText
    ? { text: content.toString("utf8"), base64: null, bytes }
    : { text: null, base64: content.toString("base64"), bytes };
}

/** A decision of a conflict as the contract shows it. */
export function resolvedConflictJson({
  conflict,
  warnings,
  open,
}: ResolvedConflict): Json<typeof shapes.resolvedConflict> {
  return { conflict: mergeConflictJson(conflict), warnings, open };
}

/** What a decision of a conflict would come to, as the contract shows it. */
export function triedDecisionJson({
  files,
  content,
  warnings,
  isWhole,
  parses,
}: TriedDecision): Json<typeof shapes.triedDecision> {
  return {
    files: files.map(changedFileJson),
    content: versionJson(content),
    warnings: [...warnings],
    whole: isWhole,
    parses,
  };
}
