/** Undo, redo and revert: steps taken out of, or put back into, the present. */
import { checkpointAt, newestCheckpoint } from "../history/checkpoints.ts";
import type { Finish } from "../history/journal.ts";
import { StepPlanner, type Direction } from "../history/plan-steps.ts";
import { attributeChanges } from "../history/attribution.ts";
import { approvedStretches } from "../history/sessions.ts";
import { readCheckpointChanges, readDelta, type Change } from "../history/changes.ts";
import { listSteps, openSteps, stepOfCheckpoint, type Step } from "../history/steps.ts";
import { isAtOrBelow, pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Outcome, type Plan, type StepSummary } from "../model/plan.ts";
import { giveBack } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { carryOut, newOperation, withoutEffect, withRestoreLease } from "./carry-out.ts";
import { asSeen, type Context } from "./context.ts";
import { lookNow } from "./left-behind.ts";
import { Overlay } from "./overlay.ts";
import { planWarnings } from "./plan-warnings.ts";
import { provenChanges } from "./proven-changes.ts";
import { hiddenPaths } from "./see-for.ts";
import { listPaths, nameOf, stale } from "./restore.ts";
import { assertRootThere } from "./root.ts";
import { takeCheckpoint, type Taken } from "./take-checkpoint.ts";
import { closeOpenTurns } from "./turns.ts";
import type { LookRequest, Present } from "./look.ts";

export interface StepRequest {
  readonly kind: "undo" | "redo" | "revert";
  readonly count: number;
  readonly thread: ThreadId | undefined;
  readonly includeShared: boolean;
  /** What to revert; only for `revert`. */
  readonly target?: Checkpoint;
  readonly paths?: readonly BytePath[];
}

/** What is to be moved, newest first, with the changes that each makes. */
interface Deltas {
  readonly steps: readonly Step[];
  readonly changes: readonly (readonly Change[])[];
  /** Changes of nobody's that no checkpoint has yet. */
  readonly outside: readonly BytePath[];
}

/** The plan without recording anything; null when there is nothing to undo or redo. */
export function lookAndPlanSteps(context: Context, request: StepRequest): Plan | null {
  if (isNothingToDo(context, request)) return null;
  assertRootThere(context.worktree.root);
  let present = lookNow(context);
  const deltas = selectDeltas(context, request, unrecorded(context, present));
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
        bestEffort,
        startedMs,
      });
    } finally {
      giveBack(() => writer.abandon());
    }
  });
}

/** Undo and redo of nothing is fine and changes nothing; a turn that is still open counts as something. */
function isNothingToDo({ store }: Context, { kind, thread }: StepRequest): boolean {
  if (kind === "revert") return false;
  if (kind === "undo" && openSteps(store.db).some((step) => thread === undefined || step.thread === thread))
    return false;
  return listSteps(store.db, kind === "undo" ? "applied" : "undone", { thread, limit: 1 }).length === 0;
}

/** The safety checkpoint; what is refused (conflicts, too few steps, a stale plan) leaves none behind. */
function saveUnlessRefused(
  context: Context,
  request: StepRequest,
  { bestEffort, planned }: { bestEffort: boolean; planned?: Plan },
): { safety?: Taken; refused?: Plan } {
  let look: Partial<LookRequest> | undefined;
  for (;;) {
    let refused: Plan | undefined;
    let more: Partial<LookRequest> | undefined;
    const safety = takeSafety(context, request, {
      look,
      wanted(present) {
        const deltas = selectDeltas(context, request, unrecorded(context, present));
        more = look === undefined ? hiddenPaths(present, deltas.changes.flat()) : undefined;
        if (more !== undefined) return false;
        if (planned !== undefined && present.snapshot !== planned.base) throw stale(planned);
        const plan = planOverlaid(context, { request, present, deltas });
        if (plan.conflicts.length > 0 && !bestEffort) refused = plan;
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

/** The safety capture ends turns that nobody ended; one whose process still runs goes on as a new one. */
function takeSafety(
  context: Context,
  request: StepRequest,
  { look, wanted }: { look: Partial<LookRequest> | undefined; wanted: (present: Present) => boolean },
): Taken | undefined {
  const names = { undo: "Before undo", redo: "Before redo", revert: "Before revert" };
  return takeCheckpoint(context, {
    request: { kind: "safety" },
    description: names[request.kind],
    wanted,
    ...(look === undefined ? {} : { look }),
    ...(request.target === undefined ? {} : { keep: request.target.seq }),
    within: (recorded) => {
      if (request.kind === "undo") closeOpenTurns(context, request.thread, recorded);
    },
  });
}

/** What changed since the newest checkpoint, for a plan that is only looked at: it would be attributed as here. */
function unrecorded(context: Context, present: Present): Unrecorded {
  const { db } = context.store;
  const newest = newestCheckpoint(db);
  if (newest === undefined) return { changes: [], windows: [] };
  const changes = provenChanges(present.objects, asSeen(context, newest), present);
  return attributeChanges(db, changes, { now: context.system.now() });
}

type Unrecorded = ReturnType<typeof attributeChanges>;

/** What of it a step would be given. */
function unrecordedOf(pending: Unrecorded | undefined, step: string): Change[] {
  if (pending === undefined) return [];
  const { changes, windows } = pending;
  return changes
    .filter((each) => each.step === step || (each.attribution === "shared" && windows.includes(step)))
    .map(({ path, from, to, attribution }) => ({
      checkpoint: Number.MAX_SAFE_INTEGER,
      path,
      old: from,
      new: to,
      shared: attribution === "shared",
    }));
}

function selectDeltas(context: Context, request: StepRequest, pending: Unrecorded | undefined): Deltas {
  const { store } = context;
  const outside = (pending?.changes ?? [])
    .filter(({ attribution }) => attribution === "outside")
    .map(({ path }) => path);
  if (request.kind === "revert") return { ...revertDeltas(context, request.target!), outside };
  const listed = listSteps(store.db, request.kind === "undo" ? "applied" : "undone", {
    thread: request.thread,
    limit: request.count,
  });
  const steps =
    pending === undefined || request.kind === "redo"
      ? listed
      : withOpenTurns(context, request, listed, pending);
  refusePruned(context, request.kind, steps);
  if (steps.length < request.count) throw missing(request.count, steps.length);
  const changes = steps.map(({ id }) => [...readDelta(store.db, id), ...unrecordedOf(pending, id)]);
  return { steps, changes, outside };
}

/** A turn that is still open would be closed by the undo and be the first to go, if it changed anything. */
function withOpenTurns(
  { store }: Context,
  request: StepRequest,
  listed: readonly Step[],
  pending: Unrecorded,
): Step[] {
  const open = openSteps(store.db).filter(
    (step) => request.thread === undefined || step.thread === request.thread,
  );
  const changed = open.filter(
    ({ id, pruned }) => pruned || unrecordedOf(pending, id).length > 0 || readDelta(store.db, id).length > 0,
  );
  return [...changed.toReversed(), ...listed].slice(0, request.count);
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
function revertDeltas(context: Context, target: Checkpoint): Omit<Deltas, "outside"> {
  const { store } = context;
  const step = stepOfCheckpoint(store.db, target.seq);
  refusePruned(context, "revert", step === undefined ? [] : [step]);
  if (step !== undefined) return { steps: [step], changes: [readDelta(store.db, step.id)] };
  const changes = readCheckpointChanges(store.db, target.seq).map((change) => ({ ...change, shared: false }));
  return { steps: [], changes: [changes] };
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
  for (const delta of deltas.changes)
    planner.add(
      delta.filter(({ path }) => chosen(path)),
      direction,
    );
  const { edits, merged, kept, conflicts, gaps } = planner.result();
  return {
    ...emptyPlan(context, request),
    description: describe(request, deltas.steps),
    base: present.snapshot,
    edits,
    merged,
    kept,
    conflicts: conflicts.map((conflict) => ({
      ...conflict,
      ...ownerOf(context, conflict.path, deltas.steps),
    })),
    meanwhile: changedOutside(context, deltas, chosen),
    gaps,
    warnings: [
      ...planWarnings(present, undefined, edits),
      ...(request.kind === "undo" ? approvalWarnings(context, deltas.steps) : []),
    ],
    steps: deltas.steps.map(summaryOf),
  };
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

function summaryOf({ id, kind, thread, agent, prompt, description }: Step): StepSummary {
  return { id, kind, thread, agent, prompt, description };
}

/** Whose later change stands in the way. */
function ownerOf({ store }: Context, path: BytePath, steps: readonly Step[]): { thread?: ThreadId } {
  const row = store.db.get(
    `SELECT s.thread AS thread FROM change g JOIN step s ON s.id = g.step
       WHERE g.path = ? AND s.thread IS NOT NULL AND s.id NOT IN (SELECT value FROM json_each(?)) ORDER BY g.checkpoint DESC LIMIT 1`,
    Buffer.from(path, "latin1"),
    JSON.stringify(steps.map(({ id }) => id)),
  );
  return row === undefined ? {} : { thread: row["thread"] as ThreadId };
}

/** Changes by nobody's tool since the oldest of these steps: they stay, and the person is told. */
function changedOutside({ store }: Context, deltas: Deltas, chosen: (path: BytePath) => boolean): BytePath[] {
  const since = Math.min(...deltas.steps.map(({ before }) => before ?? Infinity));
  if (!Number.isFinite(since)) return [];
  const rows = store.db.all(
    "SELECT DISTINCT path FROM change WHERE checkpoint > ? AND attribution = 'outside'",
    since,
  );
  const recorded = rows.map((row) => pathFromBytes(row["path"] as Uint8Array));
  return [...new Set([...recorded, ...deltas.outside])].filter(chosen).sort();
}

/** Undo may go back behind an approval; what it leaves is unapproved. */
function approvalWarnings({ store }: Context, steps: readonly Step[]): string[] {
  return steps
    .filter(({ thread, after }) => {
      if (thread === null || after === null) return false;
      return approvedStretches(store.db).some(
        (each) => each.thread === thread && each.base < after && after <= each.approved,
      );
    })
    .map(({ description }) => `"${description}" was approved; without it the state is unapproved`);
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
