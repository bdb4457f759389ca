/**
 * Which steps an undo, redo or revert moves, newest first, and the changes that each made. A step at work now may have
 * made changes that no checkpoint has yet: they are selected as they will be recorded.
 */
import type { Context } from "../capture/context.ts";
import type { Present } from "../capture/look.ts";
import { needsPiece } from "../history/attribution.ts";
import { readCheckpointChanges, readDelta, readWindows, type Change } from "../history/changes.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import {
  cancelsOut,
  continued,
  findStep,
  listSteps,
  openSteps,
  stepOfCheckpoint,
  type Step,
} from "../history/step-rows.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { ChosenHunks, Decision } from "../model/plan.ts";
import { pathNotIn } from "../restore/path-not-in.ts";
import { ChosenPaths, isPattern } from "../rules/chosen-paths.ts";
import type { Database } from "../store/database.ts";
import { changesOfStep, changesOutside, unrecordedIn, type Unrecorded } from "../capture/unrecorded.ts";

/** Which steps to move, and how. */
export interface StepRequest {
  readonly kind: "undo" | "redo" | "revert";
  readonly count: number;
  readonly thread: ThreadId | undefined;
  /** Move also changes that several steps may have made. */
  readonly includeShared: boolean;
  /** Take back also what commands wrote that the steps left in the background. */
  readonly includeBackground?: boolean;
  /** What to revert; only for `revert`. */
  readonly target?: Checkpoint;
  /** The id of the turn to revert, where it was named: its checkpoint may belong to the turn before it too. */
  readonly turn?: string;
  readonly paths?: readonly BytePath[];
  readonly hunks?: readonly ChosenHunks[];
  readonly decisions?: readonly Decision[] | undefined;
  /** Take merges that do not parse as well. */
  readonly mergeAnyway?: boolean;
}

/** The steps that move, newest first, with the changes of each. */
export interface SelectedSteps {
  readonly steps: readonly Step[];
  readonly changes: readonly (readonly Change[])[];
  /** Changes without a tool that no checkpoint has yet. */
  readonly outside: readonly Change[];
  /** Ids of the steps that are at work together now. */
  readonly windows: readonly string[];
  /** Ids of those that changed something since the newest checkpoint. */
  readonly changing: readonly string[];
  /** The paths to which the move is limited; undefined = all that changed. */
  readonly chosen: ChosenPaths | undefined;
}

/** True where an undo or redo finds no step, or a revert no change: that is fine, and changes nothing. */
export function isNothingSelected({ kind }: StepRequest, { steps, changes }: SelectedSteps): boolean {
  return kind === "revert" ? changes.every((delta) => delta.length === 0) : steps.length === 0;
}

/** True where no look at the files is needed to know that: a turn that is still open may have changed something. */
export function isNothingListed({ store }: Context, { kind, thread }: StepRequest): boolean {
  if (kind === "revert") return false;
  if (kind === "undo" && openSteps(store.db).some((step) => thread === undefined || step.thread === thread))
    return false;
  return listSteps(store.db, listOf(kind), { thread, limit: 1 }).length === 0;
}

/** The step that an undo would take; null when there is none or it can no longer be moved. */
export function stepToUndo(context: Context, present: Present): Step | null {
  const [last] = lastSteps(context, { kind: "undo", count: 1 }, unrecordedIn(context, present));
  return last === undefined || last.step.pruned ? null : last.step;
}

/** The steps of a request; throws where one of them, or one of the paths, cannot be what was meant. */
export function selectSteps(context: Context, request: StepRequest, unrecorded: Unrecorded): SelectedSteps {
  const { db } = context.store;
  const now = {
    outside: changesOutside(unrecorded),
    windows: unrecorded.windows,
    changing: stepsAtWork(db, unrecorded, undefined).map(({ step }) => step.id),
  };
  if (request.kind === "revert") {
    return withChoice(request, { ...selectReverted(context, request.target!, request.turn), ...now });
  }
  const list = listOf(request.kind);
  const moved = lastSteps(context, request, unrecorded);
  const steps = moved.map(({ step }) => step);
  refusePruned(context, request.kind, steps);
  refuseSwitch(steps);
  if (moved.length > 0 && moved.length < request.count) throw stepsMissing(request.count, moved.length);
  const changes = moved.map(({ step, isNew }) => {
    const recorded = isNew ? [] : ownDelta(db, step, { list, steps });
    // until it is recorded, a new piece has the id of the step that it continues
    const isContinued = !isNew && moved.some((other) => other.isNew && other.step.id === step.id);
    if (list === "undone" || isContinued) return recorded;
    const isShared = sharersOf(db, list, { windows: unrecorded.windows, steps }).length > 0;
    return [...recorded, ...changesOfStep(unrecorded, step.id, isShared)];
  });
  return withChoice(request, { steps, changes, ...now });
}

/** Steps are undone from the list `applied`, and redone from the list `undone`. */
type StepList = "applied" | "undone";

function listOf(kind: StepRequest["kind"]): StepList {
  return kind === "redo" ? "undone" : "applied";
}

/** Of steps that were at work together, those that stay when the given ones move: where none stays, nothing is shared. */
export function sharersOf(
  db: Database,
  list: StepList,
  { windows, steps }: { windows: readonly string[]; steps: readonly Step[] },
): string[] {
  const states = list === "applied" ? ["applied", "open"] : ["undone"];
  return windows.filter(
    (id) => !steps.some((step) => step.id === id) && states.includes(findStep(db, id)?.state ?? ""),
  );
}

/** What a step did. A change that it shared only with steps that move too is its own. */
function ownDelta(
  db: Database,
  { id }: Step,
  { list, steps }: { list: StepList; steps: readonly Step[] },
): Change[] {
  return readDelta(db, id).map((change) => {
    if (!change.shared) return change;
    const windows = readWindows(db, change.checkpoint);
    return { ...change, shared: sharersOf(db, list, { windows, steps }).length > 0 };
  });
}

interface MovedStep {
  readonly step: Step;
  /** It continues another step, and has nothing but what no checkpoint has yet. */
  readonly isNew: boolean;
}

/** The steps that move, newest first: as they will be listed once everything is recorded. */
function lastSteps(
  { store: { db } }: Context,
  { kind, count, thread }: Pick<StepRequest, "kind" | "count"> & Partial<StepRequest>,
  unrecorded: Unrecorded,
): MovedStep[] {
  const list = listOf(kind);
  const working = list === "undone" ? [] : stepsAtWork(db, unrecorded, thread);
  const listed = listSteps(db, list, { thread, limit: count + working.length })
    .filter(({ id }) => !working.some(({ isNew, step }) => !isNew && step.id === id))
    .map((step) => ({ step, isNew: false }));
  return [...working.filter(({ cancels }) => !cancels), ...listed].slice(0, count);
}

/** Steps with changes that no checkpoint has yet, as they will be recorded: they are the newest. */
function stepsAtWork(
  db: Database,
  unrecorded: Unrecorded,
  thread: ThreadId | undefined,
): (MovedStep & { readonly cancels: boolean })[] {
  const { windows } = unrecorded;
  const working = windows.flatMap((id) => {
    const changes = changesOfStep(unrecorded, id);
    const step = changes.length === 0 ? undefined : findStep(db, id);
    if (step === undefined || (thread !== undefined && step.thread !== thread)) return [];
    if (!needsPiece(db, step))
      return [{ step, isNew: false, cancels: cancelsOut(db, step, { changes, windows }) }];
    const piece = { ...step, description: continued(step.description), pruned: false };
    return [{ step: piece, isNew: true, cancels: false }];
  });
  // rows with the same place in the log are in the order of their seq; a new piece has the newest row
  const known = working.filter(({ isNew }) => !isNew).sort((a, b) => b.step.seq - a.step.seq);
  return [...working.filter(({ isNew }) => isNew).toReversed(), ...known];
}

/** [R161] A step whose delta was dropped is refused by name; the next one is not what was meant. */
function refusePruned({ store }: Context, kind: StepRequest["kind"], steps: readonly Step[]): void {
  const at = steps.findIndex(({ pruned }) => pruned);
  if (at === -1) return;
  const { id, kind: what, description, before } = steps[at]!;
  const checkpoint = before === null ? undefined : checkpointAt(store.db, before);
  const last = { undo: "The newest change", redo: "What was undone last", revert: "This" }[kind];
  const subject =
    kind === "revert" || at === 0 ? `${last}, ${what} "${description}",` : `The ${what} "${description}"`;
  const message = `${subject} can no longer be ${PAST[kind]}: checkpoints that it needs were dropped. Nothing was changed.`;
  throw new EngineError("CONTENT_PRUNED", message, {
    step: id,
    description,
    checkpoint: checkpoint?.id ?? null,
  });
}

/** A switch is taken back by the way of a switch, and not while a turn is open. */
function refuseSwitch(steps: readonly Step[]): void {
  const at = steps.findIndex(({ kind }) => kind === "switch");
  if (at === -1) return;
  throw new EngineError(
    "STEPS_MISSING",
    `"${steps[at]!.description}" goes alone, and not while an agent is at work. Nothing was changed.`,
    { wanted: steps.length, available: at },
  );
}

const PAST: Readonly<Record<StepRequest["kind"], string>> = {
  undo: "undone",
  redo: "redone",
  revert: "reverted",
};

function stepsMissing(wanted: number, available: number): EngineError<"STEPS_MISSING"> {
  return new EngineError(
    "STEPS_MISSING",
    `There ${available === 1 ? "is only 1 step" : `are only ${available} steps`}, not ${wanted}. Nothing was changed.`,
    { wanted, available },
  );
}

/** [R199] Adds the chosen paths. One that the steps did not change is a typing error. */
function withChoice(request: StepRequest, selected: Omit<SelectedSteps, "chosen">): SelectedSteps {
  const { paths, target } = request;
  const changed = selected.changes.flat().map(({ path }) => path);
  if (paths === undefined || changed.length === 0) return { ...selected, chosen: undefined };
  const known = new Set(changed.flatMap((path) => [path, ...ancestorPaths(path)]));
  const chosen = new ChosenPaths(paths, (path) => known.has(path));
  const [missing] = chosen.missing(changed);
  if (missing === undefined) return { ...selected, chosen };
  const whose =
    target === undefined
      ? selected.steps.map(({ kind, description }) => `${kind} "${description}"`).join(" or ")
      : `checkpoint ${target.seq}`;
  throw pathNotIn(
    target,
    missing,
    `${isPattern(missing) ? "matches none of" : "is not among"} the changes of ${whose}`,
  );
}

/** The whole step if the checkpoint belongs to one, else what the checkpoint itself changed. */
function selectReverted(
  context: Context,
  target: Checkpoint,
  turn: string | undefined,
): Pick<SelectedSteps, "steps" | "changes"> {
  const { db } = context.store;
  // [R95] a merge has a checkpoint for each source, which is taken out by itself
  const isSource = turn === undefined && target.kind === "merge";
  const step = isSource
    ? undefined
    : turn === undefined
      ? stepOfCheckpoint(db, target.seq)
      : findStep(db, turn);
  if (step === undefined) {
    const changes = readCheckpointChanges(db, target.seq).map((change) => ({ ...change, shared: false }));
    return { steps: [], changes: [changes] };
  }
  refusePruned(context, "revert", [step]);
  return { steps: [step], changes: [ownDelta(db, step, { list: "applied", steps: [step] })] };
}
