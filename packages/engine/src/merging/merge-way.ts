/**
 * The way of a merge: the files are captured, what is certain is put in place, and one transaction records one step, a
 * checkpoint for each source, and what is left to decide. A plan of other files or another branch than those here
 * is refused.
 */
import { branchAt } from "../history/branches.ts";
import type { Context } from "../capture/context.ts";
import { encodeEdit, type Finish } from "../history/journal.ts";
import { branchHere } from "../history/line.ts";
import { EngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Outcome, type StepSummary } from "../model/plan.ts";
import type { WayBack } from "../restore/go-back.ts";
import { recordedOf, type PlannedMerge } from "./plan-merge.ts";

/** What a merge is carried out from. */
export interface MergeRequest {
  readonly merge: PlannedMerge;
}

/** The way that brings a planned merge into the files. */
export function mergeWay({ merge }: MergeRequest): WayBack {
  return {
    safety: { description: "Before merge" },
    plan(context, { present, put }) {
      refuseStale(context, merge, present.snapshot);
      for (const content of merge.made.values()) put(content);
      return {
        ...EMPTY_PLAN,
        kind: "merge",
        description: describeMerge(context, merge),
        subject: merge.record.id,
        checkpoint: null,
        thread: null,
        base: present.snapshot,
        edits: merge.edits,
        merged: merge.record.merged.map(({ path }) => path),
        git: { target: null, now: present.git },
        steps: isAnything(merge) ? [stepOf(context, merge)] : [],
      };
    },
    isWorthDoing: ({ conflicts }) => conflicts.length === 0 && isAnything(merge),
    finish: (context) => finishOf(context, merge),
    end: (_, outcome) => withConflicts(outcome, merge),
  };
}

/** Equal files are not enough: another branch may be here by now, or the merge may be over. */
function refuseStale(context: Context, { record, base, recorded }: PlannedMerge, present: ObjectHash): void {
  const changed =
    (present !== base && "The files changed") ||
    (branchHere(context.store.db) !== record.into && "The files went to another branch") ||
    (recordedOf(context, record) !== recorded && "What is recorded of this merge changed");
  if (changed === false) return;
  const message = `${changed} since this merge was planned. Nothing was changed; plan it again.`;
  throw new EngineError("PLAN_STALE", message, { plan: record.id });
}

/** Whether something comes in, or has to be decided. */
function isAnything({ parts, record }: PlannedMerge): boolean {
  return parts.length > 0 || record.conflicts.length > 0;
}

/** The sources that come in, as a sentence. */
function describeMerge({ store: { db } }: Context, { parts, record }: PlannedMerge): string {
  const brought = parts.length > 0 ? parts.map(({ source }) => source) : [...record.sources.keys()];
  const names = brought.map((source) => branchAt(db, record.sources[source]!.branch).name);
  return `Merged ${names.join(", ")}`;
}

function stepOf(context: Context, merge: PlannedMerge): StepSummary {
  const description = describeMerge(context, merge);
  const at = context.system.now();
  return { id: "", kind: "merge", thread: null, agent: null, prompt: null, description, at };
}

function finishOf(context: Context, merge: PlannedMerge): Finish {
  return {
    kind: "merge",
    description: describeMerge(context, merge),
    thread: null,
    target: null,
    step: { id: context.system.newId(), kind: "merge" },
    moved: [],
    merge: {
      record: merge.record,
      parts: merge.parts.map(({ source, edits }) => ({ source, edits: edits.map(encodeEdit) })),
    },
  };
}

/** A merge of which something is left to decide is not done. */
function withConflicts(outcome: Outcome, { parts, record }: PlannedMerge): Outcome {
  const isHeld = record.sources.some((source) => source.outcome === "held");
  if (!isHeld || (outcome.outcome !== "applied" && outcome.outcome !== "unchanged")) return outcome;
  return { ...outcome, outcome: parts.length > 0 ? "partial" : "conflicts" };
}
