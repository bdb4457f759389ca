/** The way back of undo, redo and revert: steps taken out of, or put back into, the present. */
import { checkpointAt } from "../history/checkpoints.ts";
import type { Finish } from "../history/journal.ts";
import { interleave, StepPlanner, type Direction } from "../history/plan-steps.ts";
import type { Step } from "../history/steps.ts";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Plan, type StepSummary } from "../model/plan.ts";
import type { Context } from "../capture/context.ts";
import type { PlanDraft, Sight, WayBack } from "../restore/go-back.ts";
import { planWarnings } from "../restore/plan-warnings.ts";
import { hiddenPaths } from "../restore/second-look.ts";
import { spareIgnored } from "../rules/spare-ignored.ts";
import { listPaths, nameOf } from "../restore/restore-way.ts";
import {
  isNothing,
  isNothingToDo,
  selectDeltas,
  unrecorded,
  type Deltas,
  type StepRequest,
} from "./select-steps.ts";
import {
  approvalWarnings,
  uncapturedWarnings,
  backgroundWork,
  changedOutside,
  changedWhilePaused,
  pausedWarnings,
  changesOf,
  lateDoubts,
  maybeOf,
  ownerOf,
  summaryOf,
  withSharers,
} from "./step-remarks.ts";
import { tellConflicts } from "../restore/explain-conflicts.ts";

/** Takes steps out of the present, or puts them back in. */
export function stepsWay(request: StepRequest): WayBack {
  const { kind, target } = request;
  return {
    safety: { description: { undo: "Before undo", redo: "Before redo", revert: "Before revert" }[kind] },
    planWithoutLook: (context) => (isNothingToDo(context, request) ? emptyPlan(request) : undefined),
    look: (context) => ({
      spared: target?.seq,
      widen(present) {
        const { changes } = selectDeltas(context, request, unrecorded(context, present));
        return hiddenPaths(present, changes.flat());
      },
    }),
    plan(context, sight) {
      const pending = sight.isRecorded ? undefined : unrecorded(context, sight.present);
      const deltas = selectDeltas(context, request, pending);
      return isNothing(request, deltas)
        ? emptyPlan(request)
        : draftPlan(context, request, { ...sight, deltas });
    },
    isWorthDoing({ edits, conflicts, base }, bestEffort) {
      if (base === NO_BASE) return false;
      // [R123] best effort that can do nothing is a refusal too
      return conflicts.length === 0 || (bestEffort && edits.length > 0);
    },
    finish: (context, plan) => finishOf(context, request, plan),
  };
}

function draftPlan(
  context: Context,
  request: StepRequest,
  { present, put, deltas }: Sight & { readonly deltas: Deltas },
): PlanDraft {
  const direction: Direction = request.kind === "redo" ? "forwards" : "backwards";
  const planner = new StepPlanner({
    objects: present.objects,
    present: present.snapshot,
    put,
    includeShared: request.includeShared,
  });
  const { paths } = request;
  const chosen = (path: BytePath) => paths === undefined || paths.some((each) => isAtOrBelow(path, each));
  const meanwhile = changedOutside(context, deltas, chosen);
  const background = request.kind === "undo" ? backgroundWork(context, deltas, meanwhile) : [];
  const left = meanwhile.filter((path) => !background.some(({ paths: those }) => those.includes(path)));
  const later = request.includeBackground === true ? changesOf(context, background, deltas) : [];
  for (const delta of [later, ...interleave(deltas.changes, direction)])
    planner.add(
      delta.filter(({ path }) => chosen(path)),
      direction,
    );
  const { edits, merged, gaps, ...result } = planner.result();
  const { kept, conflicts } = spareIgnored(result, present.recordedRules);
  return {
    ...emptyPlan(request),
    description: describe(request, deltas.steps),
    base: present.snapshot,
    edits,
    merged,
    kept,
    conflicts: tellConflicts(context, conflicts, {
      direction,
      ownerOf: (path) => ownerOf(context, path, deltas.steps),
    }).map((conflict) => withSharers(context, conflict, { request, deltas })),
    meanwhile: left,
    paused: changedWhilePaused(context, deltas, left),
    maybe: maybeOf(deltas, edits),
    background: request.includeBackground === true ? [] : background,
    gaps,
    doubts:
      direction === "backwards" ? lateDoubts(context, deltas.steps).filter(({ path }) => chosen(path)) : [],
    warnings: [
      ...planWarnings(context, {
        present,
        target: request.kind === "undo" ? beforeFirst(context, deltas.steps) : undefined,
        edits,
      }),
      ...(request.kind === "undo" ? approvalWarnings(context, deltas.steps) : []),
      ...(request.kind === "undo" ? uncapturedWarnings(context, deltas.steps) : []),
      ...(request.kind === "undo" ? pausedWarnings(context, deltas.steps) : []),
    ],
    steps: deltas.steps.map(summaryOf),
  };
}

/** What git was like before the first of these steps: a turn may have committed. */
function beforeFirst({ store }: Context, steps: readonly Step[]): Checkpoint | undefined {
  const seqs = steps.flatMap(({ before }) => before ?? []);
  return seqs.length === 0 ? undefined : checkpointAt(store.db, Math.min(...seqs));
}

/** What a plan is made on that needs no files to know that there is nothing to do. */
const NO_BASE = "" as ObjectHash;

/** The plan where there is nothing to undo, redo or revert. */
function emptyPlan(request: StepRequest): PlanDraft {
  return {
    kind: request.kind,
    description: "",
    checkpoint: request.target?.id ?? null,
    thread: request.thread ?? null,
    base: NO_BASE,
    ...EMPTY_PLAN,
    paths: request.paths ?? null,
  };
}

function describe({ kind, target, paths }: StepRequest, steps: readonly Step[]): string {
  const verb: Record<StepRequest["kind"], string> = {
    undo: "Undid",
    redo: "Redid",
    revert: "Reverted",
  };
  const what =
    steps.length > 0
      ? steps.map(({ description }) => description).join("; ")
      : target === undefined
        ? "nothing"
        : nameOf(target);
  return `${verb[kind]}${paths === undefined ? "" : ` ${listPaths(paths)} of`}: ${what}`;
}

/** The conversation that all of them belong to, if it is one. */
function threadOf(steps: readonly StepSummary[]): ThreadId | null {
  const [first, ...others] = new Set(steps.map(({ thread }) => thread));
  return others.length === 0 ? (first ?? null) : null;
}

function finishOf({ system }: Context, request: StepRequest, plan: Plan): Finish {
  return {
    kind: request.kind,
    description: plan.description,
    thread: plan.thread ?? threadOf(plan.steps),
    target: null,
    step: request.kind === "revert" ? { id: system.newId(), kind: "revert" } : null,
    moved: request.kind === "revert" ? [] : plan.steps.map(({ id }) => id),
  };
}
