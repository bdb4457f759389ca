/** The way back of undo, redo and revert: steps taken out of, or put back into, the present. */
import { lookUp } from "../diff/compare-trees.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import type { Finish } from "../history/journal.ts";
import type { Direction } from "../restore/joined-changes.ts";
import { inPieces, StepPlanner } from "../restore/plan-steps.ts";
import { lateDoubtsOf } from "../history/late-doubts.ts";
import { summaryOf, type Step } from "../history/step-rows.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint, Doubt } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import { EMPTY_PLAN, type Edit, type Plan, type StepSummary } from "../model/plan.ts";
import type { Context } from "../capture/context.ts";
import { NO_BASE, type PlanDraft, type Sight, type WayBack } from "../restore/go-back.ts";
import { planWarnings } from "../restore/plan-warnings.ts";
import { widenForChanges } from "../restore/widen-look.ts";
import { spareIgnored } from "../rules/spare-ignored.ts";
import { listPaths, nameOf } from "../restore/restore-way.ts";
import {
  isNothingListed,
  isNothingSelected,
  selectSteps,
  type SelectedSteps,
  type StepRequest,
} from "./select-steps.ts";
import { ALL_RECORDED, unrecordedIn, type Unrecorded } from "../capture/unrecorded.ts";
import {
  backgroundChanges,
  backgroundWork,
  changedOutside,
  changedWhilePaused,
} from "./changed-meanwhile.ts";
import { withSharers } from "./shared-conflicts.ts";
import { nothingToUndoWarnings, undoWarnings } from "./step-warnings.ts";
import { explainConflicts } from "../restore/explain-conflicts.ts";

/** Takes steps out of the present, or puts them back in. */
export function stepsWay(request: StepRequest): WayBack {
  const { kind, target } = request;
  return {
    safety: { description: { undo: "Before undo", redo: "Before redo", revert: "Before revert" }[kind] },
    hunks: request.hunks,
    planWithoutLook: (context) =>
      isNothingListed(context, request) ? nothingToDo(context, request) : undefined,
    look: (context) => ({
      spared: target?.seq,
      widen(present) {
        const { changes } = selectSteps(context, request, unrecordedIn(context, present));
        return widenForChanges(present, changes.flat());
      },
    }),
    plan(context, sight) {
      const unrecorded = sight.isRecorded ? ALL_RECORDED : unrecordedIn(context, sight.present);
      const selected = selectSteps(context, request, unrecorded);
      if (isNothingSelected(request, selected)) return nothingToDo(context, request);
      return draftPlan(context, request, { ...sight, selected, unrecorded });
    },
    isWorthDoing({ edits, conflicts, base }, bestEffort) {
      if (base === NO_BASE) return false;
      // [R123] best effort that can do nothing is a refusal too
      return conflicts.length === 0 || (bestEffort && edits.length > 0);
    },
    finish: (context, plan) => finishOf(context, request, plan),
  };
}

function nothingToDo(context: Context, request: StepRequest): PlanDraft {
  const warnings = request.kind === "undo" ? nothingToUndoWarnings(context, request.thread) : [];
  return { ...emptyPlan(request), warnings };
}

/** The steps of a request, and what they were selected by. */
interface Selection {
  readonly selected: SelectedSteps;
  readonly unrecorded: Unrecorded;
}

function draftPlan(
  context: Context,
  request: StepRequest,
  { present, put, parsers, selected, unrecorded }: Sight & Selection,
): PlanDraft {
  const direction: Direction = request.kind === "redo" ? "forwards" : "backwards";
  const planner = new StepPlanner({
    objects: present.objects,
    present: present.snapshot,
    put,
    includeShared: request.includeShared,
    modeOf: directoryModes(context, selected.steps, direction),
    decisions: request.decisions,
    parsers: request.mergeAnyway === true ? undefined : parsers,
  });
  const { chosen } = selected;
  const isChosen = ({ path }: { path: BytePath }) => chosen === undefined || chosen.includes(path);
  // an undo of which everything was chosen is an undo like any other
  const isWhole = request.kind === "undo" && selected.changes.flat().every(isChosen);
  const paths = isWhole ? undefined : request.paths;
  const meanwhile = changedOutside(context, selected).filter((path) => isChosen({ path }));
  const background = request.kind === "undo" ? backgroundWork(context, selected, meanwhile) : [];
  const left = meanwhile.filter((path) => !background.some(({ paths: those }) => those.includes(path)));
  const later = request.includeBackground === true ? backgroundChanges(context, selected, background) : [];
  for (const delta of [later, ...inPieces(selected.changes, direction)])
    planner.add(delta.filter(isChosen), direction);
  const { edits, merged, gaps, ...result } = planner.result();
  const { kept, conflicts } = spareIgnored(result, present.recordedRules);
  return {
    ...emptyPlan(request),
    paths: paths ?? null,
    description: describe({ ...request, paths }, selected.steps),
    base: present.snapshot,
    edits,
    merged,
    kept,
    conflicts: explainConflicts(context, conflicts, {
      direction,
      except: { steps: selected.steps.map(({ id }) => id) },
      unrecorded,
    }).map((conflict) => withSharers(context, conflict, { request, selected })),
    meanwhile: left,
    paused: changedWhilePaused(context, selected, left),
    maybe: maybeOf(selected, edits),
    background: request.includeBackground === true ? [] : background,
    gaps,
    doubts: direction === "backwards" ? lateDoubts(context, selected.steps).filter(isChosen) : [],
    warnings: [
      ...planWarnings(context, {
        present,
        target: request.kind === "undo" ? beforeFirst(context, selected.steps) : undefined,
        edits,
      }),
      ...(request.kind === "undo" ? undoWarnings(context, selected.steps) : []),
    ],
    git: { target: beforeFirst(context, selected.steps)?.git ?? null, now: present.git },
    steps: selected.steps.map(summaryOf),
  };
}

/** The modes that directories had before the first of these steps, or after the last one: a private one comes back private. */
function directoryModes({ store }: Context, steps: readonly Step[], direction: Direction) {
  return (directory: BytePath): number | undefined => {
    const seqs = steps.flatMap(({ before, after }) => (direction === "backwards" ? before : after) ?? []);
    const seq = direction === "backwards" ? Math.min(...seqs) : Math.max(...seqs);
    const checkpoint = seqs.length === 0 ? undefined : checkpointAt(store.db, seq);
    const { entry } = checkpoint === undefined ? {} : lookUp(store.objects, checkpoint.snapshot, directory);
    return entry?.kind === "directory" ? entry.mode : undefined;
  };
}

/** Each path once. */
function lateDoubts({ store }: Context, steps: readonly Step[]): Doubt[] {
  const doubts = steps.flatMap((step) => lateDoubtsOf(store.db, step));
  return [...new Map(doubts.map((doubt) => [doubt.path, doubt])).values()];
}

/** What git was like before the first of these steps: a turn may have committed. */
function beforeFirst({ store }: Context, steps: readonly Step[]): Checkpoint | undefined {
  const seqs = steps.flatMap(({ before }) => before ?? []);
  return seqs.length === 0 ? undefined : checkpointAt(store.db, Math.min(...seqs));
}

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

function describe(
  { kind, target, paths }: Pick<StepRequest, "kind" | "target"> & { paths: StepRequest["paths"] | undefined },
  steps: readonly Step[],
): string {
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

/** The thread that all of them belong to, if there is one. */
function threadOf(steps: readonly StepSummary[]): ThreadId | null {
  const [first, ...others] = new Set(steps.map(({ thread }) => thread));
  return others.length === 0 ? (first ?? null) : null;
}

/**
 * [R232] A step of which only a part goes back stays where it is: taking out the part is a step of its own. [R280] So is
 * one with decisions about conflicts: its own undo brings back what was there, where a redo would bring the step's.
 */
function finishOf({ system }: Context, request: StepRequest, plan: Plan): Finish {
  // a merge that was taken as it is leaves the step whole
  const isDecided = request.decisions?.some(({ take }) => take !== "merged") === true;
  const isPart = plan.paths !== null || plan.hunks !== null || isDecided;
  const kind = isPart ? "revert" : request.kind;
  return {
    kind,
    description: plan.description,
    thread: plan.thread ?? threadOf(plan.steps),
    target: null,
    step: kind === "revert" ? { id: system.newId(), kind } : null,
    // [R95] a source that is taken out whole can be merged again
    ...(!isPart && plan.conflicts.length === 0 && request.target?.kind === "merge"
      ? { takesOut: request.target.seq }
      : {}),
    moved: kind === "revert" ? [] : plan.steps.map(({ id }) => id),
  };
}

/** [R124] Edits of paths that a tool may not have changed although it ran. */
function maybeOf({ changes }: SelectedSteps, edits: readonly Edit[]): Plan["maybe"] {
  const touched = new Set(edits.map(({ path }) => path));
  const tools = new Map<BytePath, string>();
  for (const { path, during } of changes.flat())
    if (during !== null && during !== undefined && touched.has(path)) tools.set(path, during);
  return [...tools].map(([path, tool]) => ({ path, tool }));
}
