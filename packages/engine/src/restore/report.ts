/** The report of going back: what was changed, what was not, and why. */
import type { Context } from "../capture/context.ts";
import { countChanges } from "../diff/count-changes.ts";
import { nextStep } from "../history/step-rows.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { Displaced, Outcome, Plan } from "../model/plan.ts";
import type { Applied } from "./apply.ts";

/** What became of a plan. */
export interface CarriedOut {
  /** The plan as it was carried out: what could not be saved has become a conflict. */
  readonly plan: Plan;
  readonly applied: Applied;
  readonly displaced: readonly Displaced[];
  readonly notices: readonly string[];
  /** The checkpoint that records the result; null where nothing was recorded. */
  readonly newCheckpoint: CheckpointId | null;
  /** Ids of steps that were to be moved and stay, because best effort could do nothing for them. */
  readonly stayed: readonly string[];
  /** Whether the conversation went back, or the working copy to another branch, with the files or alone. */
  readonly movedMore: boolean;
}

/** Nothing was touched and nothing recorded. */
export const NOTHING_DONE: Omit<CarriedOut, "plan"> = {
  applied: { done: [], conflicts: [], kept: [], skipped: [], left: [] },
  displaced: [],
  notices: [],
  newCheckpoint: null,
  stayed: [],
  movedMore: false,
};

interface Reported extends CarriedOut {
  readonly bestEffort: boolean;
  readonly startedMs: number;
  /** The safety checkpoint; undefined where none was needed. */
  readonly safety?: Checkpoint;
}

/** Says what became of a plan of going back. */
export function report(context: Context, work: Reported): Outcome {
  const { plan, applied, displaced, notices, safety } = work;
  const { db } = context.store;
  const conflicts = [...plan.conflicts, ...applied.conflicts];
  const { added, modified, deleted } = countChanges(applied.done);
  return {
    outcome: outcomeOf(work, conflicts.length),
    plan,
    restoredTo: plan.checkpoint,
    safetyCheckpoint: safety?.id ?? null,
    newCheckpoint: work.newCheckpoint,
    created: added,
    modified,
    deleted,
    bytesWritten: bytesOf(applied.done),
    merged: plan.merged,
    kept: [...plan.kept, ...applied.kept],
    skipped: applied.skipped,
    conflicts,
    displaced,
    steps: plan.steps.filter(({ id }) => !work.stayed.includes(id)),
    // what is refused leaves no checkpoint: what was to be undone may be in none yet
    canUndo: nextStep(db, "applied") !== null || (safety === undefined && isUndoOfSteps(plan)),
    canRedo: nextStep(db, "undone") !== null,
    durationMs: context.system.elapsed() - work.startedMs,
    ...(notices.length === 0 ? {} : { notices }),
  };
}

/** What a change of mode alone leaves in place was not written. */
function bytesOf(done: Reported["applied"]["done"]): number {
  return done.reduce(
    (sum, { from, to }) =>
      to?.kind !== "file" || (from?.kind === "file" && from.hash === to.hash) ? sum : sum + to.size,
    0,
  );
}

function isUndoOfSteps({ kind, steps }: Plan): boolean {
  return kind === "undo" && steps.length > 0;
}

function outcomeOf(work: Reported, conflicts: number): Outcome["outcome"] {
  const { plan, applied, displaced, bestEffort, movedMore } = work;
  if (conflicts > 0 && !bestEffort) return "conflicts";
  if (displaced.length > 0) return "displaced";
  if (conflicts + applied.skipped.length > 0) return "partial";
  return plan.edits.length === 0 && !movedMore ? "unchanged" : "applied";
}
