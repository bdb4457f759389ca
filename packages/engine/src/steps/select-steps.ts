/** Which steps an undo, redo or revert is about, newest first, with the changes that each made. */
import { attributeChanges, needsPiece } from "../history/attribution.ts";
import { readCheckpointChanges, readDelta, readWindows, type Change } from "../history/changes.ts";
import { checkpointAt, newestCheckpoint } from "../history/checkpoints.ts";
import {
  cancelsOut,
  continued,
  findStep,
  listSteps,
  openSteps,
  stepOfCheckpoint,
  type Step,
} from "../history/steps.ts";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import { asSeen, type Context } from "../capture/context.ts";
import type { Present } from "../capture/look.ts";
import { momentOf } from "../capture/moment.ts";
import { pathNotIn } from "../restore/path-not-in.ts";
import { provenChanges } from "../capture/proven-changes.ts";

export interface StepRequest {
  readonly kind: "undo" | "redo" | "revert";
  readonly count: number;
  readonly thread: ThreadId | undefined;
  readonly includeShared: boolean;
  /** Also what commands wrote that the steps left in the background. */
  readonly includeBackground?: boolean;
  /** What to revert; only for `revert`. */
  readonly target?: Checkpoint;
  readonly paths?: readonly BytePath[];
}

/** What is to be moved, newest first, with the changes that each makes. */
export interface Deltas {
  readonly steps: readonly Step[];
  readonly changes: readonly (readonly Change[])[];
  /** Changes by no tool that no checkpoint has yet. */
  readonly outside: readonly Change[];
  /** The steps that are at work together now, and those of them that changed something since the newest checkpoint. */
  readonly windows: readonly string[];
  readonly changing: readonly string[];
}

/** Undo of a turn that is open and changed nothing is fine too, and so is revert of a row that changed nothing. */
export function isNothing({ kind }: StepRequest, { steps, changes }: Deltas): boolean {
  return kind === "revert" ? changes.every((delta) => delta.length === 0) : steps.length === 0;
}

/** The step that an undo would take back; null when there is none, or when it can no longer be moved. */
export function stepToUndo(context: Context, present: Present): Step | null {
  const request: StepRequest = { kind: "undo", count: 1, thread: undefined, includeShared: false };
  const [last] = lastSteps(context, request, unrecorded(context, present));
  return last === undefined || last.step.pruned ? null : last.step;
}

/** Undo and redo of nothing is fine and changes nothing; a turn that is still open may be something. */
export function isNothingToDo({ store }: Context, { kind, thread }: StepRequest): boolean {
  if (kind === "revert") return false;
  if (kind === "undo" && openSteps(store.db).some((step) => thread === undefined || step.thread === thread))
    return false;
  return listSteps(store.db, kind === "undo" ? "applied" : "undone", { thread, limit: 1 }).length === 0;
}

/** What changed since the newest checkpoint, for a plan that is only looked at: it would be attributed as here. */
export function unrecorded(context: Context, present: Present): Unrecorded {
  const { db } = context.store;
  const newest = newestCheckpoint(db);
  if (newest === undefined) return { changes: [], windows: [] };
  const changes = provenChanges(present.objects, asSeen(context, newest), present);
  return attributeChanges(db, changes, momentOf(context));
}

type Unrecorded = ReturnType<typeof attributeChanges>;

/** What of it a step would be given. */
function unrecordedOf(
  pending: Unrecorded | undefined,
  step: string,
  sharers: (windows: readonly string[]) => readonly string[] = (windows) => windows,
): Change[] {
  if (pending === undefined) return [];
  const { changes, windows } = pending;
  return changes
    .filter((each) => each.step === step || (each.attribution === "shared" && windows.includes(step)))
    .map(({ path, from, to, attribution, during }) => ({
      checkpoint: Number.MAX_SAFE_INTEGER,
      path,
      old: from,
      new: to,
      shared: attribution === "shared" && sharers(windows).length > 0,
      during,
    }));
}

export function selectDeltas(
  context: Context,
  request: StepRequest,
  pending: Unrecorded | undefined,
): Deltas {
  const { store } = context;
  const now = {
    outside: unrecordedOutside(pending),
    windows: pending?.windows ?? [],
    changing: pending === undefined ? [] : atWork(context, {}, pending).map(({ step }) => step.id),
  };
  if (request.kind === "revert") {
    const deltas = { ...revertDeltas(context, request.target!), ...now };
    assertPathsChanged(request, deltas);
    return deltas;
  }
  const list = request.kind === "undo" ? "applied" : "undone";
  const moved = lastSteps(context, request, pending);
  const steps = moved.map(({ step }) => step);
  refusePruned(context, request.kind, steps);
  if (moved.length > 0 && moved.length < request.count) throw missing(request.count, moved.length);
  const others = (windows: readonly string[]) => sharersOf(store.db, list, { windows, steps });
  const changes = moved.map(({ step, isNew }) => {
    const recorded = isNew
      ? []
      : readDelta(store.db, step.id).map((change) => settleShared(store.db, change, others));
    return [...recorded, ...unrecordedOf(list === "undone" ? undefined : pending, step.id, others)];
  });
  return { steps, changes, ...now };
}

function unrecordedOutside(pending: Unrecorded | undefined): Change[] {
  return (pending?.changes ?? [])
    .filter(({ attribution }) => attribution === "outside")
    .map(({ path, from, to }) => ({
      checkpoint: Number.MAX_SAFE_INTEGER,
      path,
      old: from,
      new: to,
      shared: false,
    }));
}

/** Of steps that were at work together, those that stay when the given ones are moved: where none does, nothing is shared. */
export function sharersOf(
  db: Database,
  list: "applied" | "undone",
  { windows, steps }: { windows: readonly string[]; steps: readonly Step[] },
): string[] {
  const states = list === "applied" ? ["applied", "open"] : ["undone"];
  return windows.filter(
    (id) => !steps.some((step) => step.id === id) && states.includes(findStep(db, id)?.state ?? ""),
  );
}

function settleShared(
  db: Database,
  change: Change,
  others: (windows: readonly string[]) => readonly string[],
): Change {
  return change.shared && others(readWindows(db, change.checkpoint)).length === 0
    ? { ...change, shared: false }
    : change;
}

interface Moving {
  readonly step: Step;
  /** It goes on with another one, and has nothing but what no checkpoint has yet. */
  readonly isNew: boolean;
}

/** The steps that are to be moved, newest first: as they will be listed once what is at work is recorded. */
function lastSteps(
  context: Context,
  { kind, count, thread }: StepRequest,
  pending: Unrecorded | undefined,
): Moving[] {
  const list = kind === "undo" ? "applied" : "undone";
  const fresh = pending === undefined || list === "undone" ? [] : atWork(context, { thread }, pending);
  const listed = listSteps(context.store.db, list, { thread, limit: count + fresh.length })
    .filter(({ id }) => !fresh.some((piece) => !piece.isNew && piece.step.id === id))
    .map((step) => ({ step, isNew: false }));
  return [...fresh.filter(({ cancels }) => !cancels), ...listed].slice(0, count);
}

/** Steps that made changes which no checkpoint has yet: those are the newest, and would be recorded like this. */
function atWork(
  { store: { db } }: Context,
  { thread }: Partial<StepRequest>,
  pending: Unrecorded,
): (Moving & { readonly cancels: boolean })[] {
  const fresh = pending.windows.flatMap((id) => {
    const changes = unrecordedOf(pending, id);
    const step = changes.length === 0 ? undefined : findStep(db, id);
    if (step === undefined || (thread !== undefined && step.thread !== thread)) return [];
    const isNew = needsPiece(db, step);
    const piece = isNew ? { ...step, description: continued(step.description), pruned: false } : step;
    return [
      { step: piece, isNew, cancels: !isNew && cancelsOut(db, step, { changes, windows: pending.windows }) },
    ];
  });
  // the order of rows with the same place in the log; a piece has the newest row
  const known = fresh.filter(({ isNew }) => !isNew).sort((a, b) => b.step.seq - a.step.seq);
  return [...fresh.filter(({ isNew }) => isNew).toReversed(), ...known];
}

/** [R161] A step whose delta is gone is named; another one is not what was meant. */
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

const PAST: Readonly<Record<StepRequest["kind"], string>> = {
  undo: "undone",
  redo: "redone",
  revert: "taken out",
};

function missing(wanted: number, available: number): EngineError<"STEPS_MISSING"> {
  return new EngineError(
    "STEPS_MISSING",
    `There ${available === 1 ? "is only 1 step" : `are only ${available} steps`}, not ${wanted}. Nothing was changed.`,
    { wanted, available },
  );
}

/** A step as a whole if the checkpoint belongs to one, else what the checkpoint itself changed. */
/** [R199] A path that the step did not change is a slip of the pen. */
function assertPathsChanged({ paths, target }: StepRequest, { changes }: Deltas): void {
  const changed = changes.flat();
  if (changed.length === 0) return;
  for (const path of paths ?? [])
    if (!changed.some((each) => isAtOrBelow(each.path, path)))
      throw pathNotIn(target!, path, `is not among the changes of checkpoint ${target!.seq}`);
}

function revertDeltas(context: Context, target: Checkpoint): Pick<Deltas, "steps" | "changes"> {
  const { store } = context;
  const step = stepOfCheckpoint(store.db, target.seq);
  refusePruned(context, "revert", step === undefined ? [] : [step]);
  if (step !== undefined) {
    const others = (windows: readonly string[]) => sharersOf(store.db, "applied", { windows, steps: [step] });
    const delta = readDelta(store.db, step.id).map((change) => settleShared(store.db, change, others));
    return { steps: [step], changes: [delta] };
  }
  const changes = readCheckpointChanges(store.db, target.seq).map((change) => ({ ...change, shared: false }));
  return { steps: [], changes: [changes] };
}
