/** Undo, redo and revert: steps taken out of, or put back into, the present. */
import { checkpointAt } from "../history/checkpoints.ts";
import type { Finish } from "../history/journal.ts";
import { interleave, StepPlanner, type Direction } from "../history/plan-steps.ts";
import type { Step } from "../history/steps.ts";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Outcome, type Plan, type StepSummary } from "../model/plan.ts";
import { giveBack } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { carryOut, newOperation, withoutEffect, withRestoreLease } from "../restore/carry-out.ts";
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { Overlay } from "../capture/overlay.ts";
import { planWarnings } from "../restore/plan-warnings.ts";
import { hiddenPaths } from "../capture/see-for.ts";
import { spareIgnored } from "../rules/spare-ignored.ts";
import { assertAsShown, listPaths, nameOf } from "../restore/restore.ts";
import { assertRootThere } from "../scan/root.ts";
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
import { takeCheckpoint, type Taken } from "../capture/take-checkpoint.ts";
import { tellConflicts } from "../restore/tell-conflicts.ts";
import type { Look, Present } from "../capture/look.ts";

/** The plan without recording anything; null when there is nothing to undo or redo. */
export function lookAndPlanSteps(context: Context, request: StepRequest): Plan | null {
  if (isNothingToDo(context, request)) return null;
  assertRootThere(context.worktree.root);
  let present = lookNow(context);
  const deltas = selectDeltas(context, request, unrecorded(context, present));
  if (isNothing(request, deltas)) return request.kind === "revert" ? emptyPlan(context, request) : null;
  const more = hiddenPaths(present, deltas.changes.flat());
  if (more !== undefined) present = lookNow(context, more);
  return planOverlaid(context, { request, present, deltas });
}

/** Undoes, redoes or reverts in one go. */
export function moveSteps(
  context: Context,
  request: StepRequest,
  options: { bestEffort: boolean; planned?: Plan },
): Outcome {
  const startedMs = context.system.elapsed();
  const { bestEffort } = options;
  if (isNothingToDo(context, request)) return withoutEffect(context, emptyPlan(context, request), startedMs);
  return withRestoreLease(context, () => {
    const { safety, refused } = saveUnlessRefused(context, request, options);
    if (safety === undefined) return withoutEffect(context, refused!, startedMs);
    const deltas = selectDeltas(context, request, undefined);
    const writer = new ObjectWriter(context.store.db, context.store.objects, context.system.owner);
    try {
      const plan = buildPlan(context, {
        request,
        present: safety.present,
        put: (bytes) => writer.put(bytes),
        deltas,
      });
      writer.flush();
      return carryOut(context, {
        plan,
        safety: safety.checkpoint,
        finish: finishOf(context, request, plan),
        pathsOf: new Map(
          deltas.steps.map(({ id }, index) => [id, deltas.changes[index]!.map(({ path }) => path)]),
        ),
        bestEffort,
        startedMs,
      });
    } finally {
      giveBack(() => writer.abandon());
    }
  });
}

/** The safety checkpoint; what is refused (conflicts, too few steps, a stale plan) leaves none behind. */
function saveUnlessRefused(
  context: Context,
  request: StepRequest,
  { bestEffort, planned }: { bestEffort: boolean; planned?: Plan },
): { safety?: Taken; refused?: Plan } {
  let look: Look | undefined;
  for (;;) {
    let refused: Plan | undefined;
    let more: Look | undefined;
    const safety = takeSafety(context, request, {
      look,
      wanted(present) {
        const deltas = selectDeltas(context, request, unrecorded(context, present));
        if (isNothing(request, deltas)) refused = emptyPlan(context, request);
        if (refused !== undefined) return false;
        more = look === undefined ? hiddenPaths(present, deltas.changes.flat()) : undefined;
        if (more !== undefined) return false;
        const plan = planOverlaid(context, { request, present, deltas });
        assertAsShown(plan, planned);
        // [R123] best effort that can do nothing is a refusal too
        if (plan.conflicts.length > 0 && (!bestEffort || plan.edits.length === 0)) refused = plan;
        return refused === undefined;
      },
    });
    if (safety !== undefined) return { safety };
    if (more === undefined) return { refused: refused! };
    look = more;
  }
}

/** What merges make is kept in memory: the plan may never be carried out. */
function planOverlaid(context: Context, { present, ...input }: Omit<PlanInput, "put">): Plan {
  const overlay = new Overlay(present.objects, context.worktree.root);
  const put = (bytes: Buffer) => {
    const name = hashBytes(bytes);
    overlay.small(name, bytes);
    return name;
  };
  return buildPlan(context, { ...input, present: { ...present, objects: overlay }, put });
}

function takeSafety(
  context: Context,
  request: StepRequest,
  { look, wanted }: { look: Look | undefined; wanted: (present: Present) => boolean },
): Taken | undefined {
  const names = { undo: "Before undo", redo: "Before redo", revert: "Before revert" };
  return takeCheckpoint(context, {
    request: { kind: "safety" },
    description: names[request.kind],
    wanted,
    ...(look === undefined ? {} : { look }),
    ...(request.target === undefined ? {} : { keep: request.target.seq }),
  });
}

interface PlanInput {
  readonly request: StepRequest;
  readonly present: Present;
  readonly put: (bytes: Buffer) => ObjectHash;
  readonly deltas: Deltas;
}

function buildPlan(context: Context, { request, present, put, deltas }: PlanInput): Plan {
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
    ...emptyPlan(context, request),
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

function emptyPlan(context: Context, request: StepRequest): Plan {
  return {
    id: newOperation(context),
    kind: request.kind,
    description: "",
    checkpoint: request.target?.id ?? null,
    thread: request.thread ?? null,
    base: "" as ObjectHash,
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
