/**
 * Going back: restore, undo, redo, revert, reset and the abort of an edit are this one sequence, and differ only in
 * their `WayBack`. `planBack` looks and plans; it records nothing. `goBack` takes the lease, looks, plans, records one
 * safety checkpoint, carries the plan out and reports. What is refused (conflicts, nothing to do, a plan that no
 * longer holds) leaves no checkpoint behind. Only where another process records a step just after the safety checkpoint
 * does that one stay: it may hold the changes of steps at work.
 */
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import type { Look, Present } from "../capture/look.ts";
import type { ReadProgress } from "../capture/parallel-read.ts";
import { withCapture } from "../capture/with-capture.ts";
import { lookUp } from "../diff/compare-trees.ts";
import type { Finish } from "../history/journal.ts";
import type { Parsers } from "../merge/parsers.ts";
import { sameNode } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { OperationId, ThreadId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ApplyOptions, ChosenHunks, Outcome, Plan } from "../model/plan.ts";
import { spareBelow } from "../rules/spare-ignored.ts";
import { assertRootThere, ensureRoot, isRootGone } from "../scan/root.ts";
import { MadeContent } from "../store/made-content.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { releaseQuietly } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { chooseHunks } from "./choose-hunks.ts";
import { carryOut } from "./carry-out.ts";
import { NOTHING_DONE, report } from "./report.ts";
import { progressTeller } from "./restore-events.ts";
import { withRestoreLease } from "./restore-lease.ts";

/** A plan as a way back makes it; `goBack` and `planBack` give it its id. */
export type PlanDraft = Omit<Plan, "id">;

/** The state of the files that a plan is made on. */
export interface Sight {
  readonly present: Present;
  /** Whether the newest checkpoint is this very state. */
  readonly isRecorded: boolean;
  /** Takes the content that a merge made and returns its name. */
  put(bytes: Buffer): ObjectHash;
  /** Asked about what merges made; left out where the plan is only counted. */
  readonly parsers?: Parsers;
}

/** How one kind of going back differs from the others. */
export interface WayBack<Result extends Outcome = Outcome> {
  /** How its safety checkpoint is recorded. */
  readonly safety: { readonly thread?: ThreadId; readonly description: string };
  /** Of these files only the given hunks go back. */
  readonly hunks?: readonly ChosenHunks[] | undefined;
  /** The plan where no look at the files is needed: there is nothing to go back to. */
  planWithoutLook?(context: Context): PlanDraft | undefined;
  /** The plan where the root is missing; only a way with this one makes the root again. */
  planWithoutRoot?(context: Context): PlanDraft;
  /** What a look must include for the plan to be made on it. */
  look?(context: Context): Look;
  plan(context: Context, sight: Sight): PlanDraft;
  /** False where the plan changes nothing, or too little of what was asked for. */
  isWorthDoing(plan: Plan, bestEffort: boolean): boolean;
  /** What to record when the files are in place. */
  finish(context: Context, plan: Plan): Finish;
  /** What else ends with it, whether or not anything had to be carried out, and what more there is to report. */
  end?(context: Context, outcome: Outcome): Result;
}

/** A plan, and the content that it leads from and to. */
export interface Preview {
  readonly plan: Plan;
  /** undefined where the plan was made without a look. */
  readonly seen: Seen | undefined;
}

/** What a plan was made on. */
export interface Seen {
  /** undefined where even the root is missing. */
  readonly present: Present | undefined;
  /** The store, the disk as it was, and what merges made. */
  readonly objects: ObjectSource;
}

/** What would happen, without recording anything. */
export function planBack(context: Context, way: WayBack): Preview {
  const { root } = context.workingCopy;
  const id = newOperation(context);
  const nothing = way.planWithoutLook?.(context);
  if (nothing !== undefined) return { plan: { ...nothing, id }, seen: undefined };
  const bare = isRootGone(root) ? way.planWithoutRoot?.(context) : undefined;
  if (bare !== undefined) {
    const objects = new MadeContent(context.store.objects);
    return { plan: { ...withHunks(way, bare, objects), id }, seen: { present: undefined, objects } };
  }
  assertRootThere(root);
  const present = lookNow(context, way.look?.(context));
  const objects = new MadeContent(present.objects);
  return { plan: { ...planOn(context, way, { present, objects }), id }, seen: { present, objects } };
}

/** How to go back. */
export interface GoBackOptions extends ApplyOptions {
  /** The plan that was shown: what is carried out is this or nothing. */
  readonly planned?: Plan | undefined;
}

/** Goes back in one go. */
export function goBack<Result extends Outcome>(
  context: Context,
  way: WayBack<Result>,
  options: GoBackOptions = {},
): Result {
  const { bestEffort = false, planned, by } = options;
  const startedMs = context.system.elapsed();
  const id = planned?.id ?? newOperation(context);
  const asShown = (draft: PlanDraft) => assertAsShown({ ...draft, id }, planned);
  const refuse = (plan: Plan) => report(context, { ...NOTHING_DONE, plan, bestEffort: false, startedMs });
  const known = way.planWithoutLook?.(context);
  const end = (outcome: Outcome) => way.end?.(context, outcome) ?? (outcome as Result);
  if (known !== undefined) return end(refuse(asShown(known)));
  return withRestoreLease(context, () => {
    if (way.planWithoutRoot !== undefined) ensureRoot(context.workingCopy.root);
    const tell = progressTeller(context, id);
    const progress: ReadProgress = ({ done, total }) =>
      tell({ phase: "saving", done, total }, planned?.thread ?? null);
    const saved = withCapture(context, { ...way.look?.(context), progress }, (capture) => {
      const { present } = capture;
      assertSameFiles(present, planned);
      const plan = asShown(planOn(context, way, { present, objects: new MadeContent(present.objects) }));
      if (!way.isWorthDoing(plan, bestEffort)) return { plan };
      const { thread, description } = way.safety;
      const request = { kind: "safety" as const, ...(thread === undefined ? {} : { thread }) };
      return { present, safety: capture.record({ request, description }).checkpoint };
    });
    if (saved.safety === undefined) return end(refuse(saved.plan));
    const { present, safety } = saved;
    return withPlanOn(context, way, present, (draft) => {
      const plan = { ...draft, id };
      // another process may have recorded a step since: what was shown is carried out, or nothing
      if (planned !== undefined && !isSameChange(plan, planned)) throw stale(planned, OTHERWISE_KNOWN);
      const finish = { ...way.finish(context, plan), ...(by !== undefined && { by }) };
      const done = carryOut(context, { plan, safety, bestEffort, finish, tell });
      return end(report(context, { ...done, safety, bestEffort, startedMs }));
    });
  });
}

/**
 * The plan of a way back. What a kept ignored path stands in the way of is kept with it. Before a checkpoint has the
 * state, what merges make is only named.
 */
function planOn(
  context: Context,
  way: WayBack,
  { present, objects, keep }: { present: Present; objects: MadeContent; keep?: (bytes: Buffer) => void },
): PlanDraft {
  const put = (bytes: Buffer) => {
    keep?.(bytes);
    return objects.put(bytes);
  };
  const draft = spareBelow(
    way.plan(context, { present, isRecorded: keep !== undefined, put, parsers: context.parsers }),
    (path) => lookUp(present.objects, present.snapshot, path).entry?.kind === "directory",
  );
  return withHunks(way, draft, objects, put);
}

function withHunks(
  { hunks }: WayBack,
  draft: PlanDraft,
  objects: MadeContent,
  put = (bytes: Buffer) => objects.put(bytes),
): PlanDraft {
  return hunks === undefined ? draft : chooseHunks(draft, hunks, { objects, put });
}

/**
 * The plan that is carried out is made on the recorded state: only now the steps at work have their changes, and what
 * merges make must be in the store for as long as it takes.
 */
function withPlanOn<Result>(
  context: Context,
  way: WayBack,
  present: Present,
  work: (draft: PlanDraft) => Result,
): Result {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  try {
    const objects = new MadeContent(present.objects);
    const draft = planOn(context, way, { present, objects, keep: (bytes) => void writer.put(bytes) });
    writer.flush();
    return work(draft);
  } finally {
    releaseQuietly(() => writer.abandon());
  }
}

/** On other files than a plan was shown for, it may not even be possible to make it: the reason is that they changed. */
function assertSameFiles({ snapshot }: Present, shown: Plan | undefined): void {
  if (shown === undefined || shown.base === NO_BASE || shown.base === snapshot) return;
  throw stale(shown, FILES_CHANGED);
}

/** The base of a plan that needs no files to know that there is nothing to do. */
export const NO_BASE = "" as ObjectHash;

const FILES_CHANGED = "The files changed since this plan was made";

/** [R196] Who made a change may be known better now than when the plan was shown, even if no file has changed. */
function assertAsShown(plan: Plan, shown: Plan | undefined): Plan {
  if (shown === undefined) return plan;
  if (plan.base !== shown.base) throw stale(shown, FILES_CHANGED);
  const areSteps = areEqual(plan.steps, shown.steps, (a, b) => a.id === b.id);
  if (!areSteps || !isSameChange(plan, shown)) throw stale(shown, OTHERWISE_KNOWN);
  return plan;
}

const OTHERWISE_KNOWN = "What this plan would take back has changed since it was made";

function isSameChange(plan: Plan, shown: Plan): boolean {
  return haveSameEdits(plan, shown) && haveSameOutside(plan, shown);
}

function haveSameEdits(plan: Plan, shown: Plan): boolean {
  return areEqual(plan.edits, shown.edits, (a, b) => a.path === b.path && sameNode(a.to, b.to));
}

/** What is not written may be anything by now. */
function haveSameOutside(plan: Plan, shown: Plan): boolean {
  if (!shown.writesOutside) return true;
  return areEqual(
    plan.outside,
    shown.outside,
    (a, b) => a.path === b.path && a.type === b.type && sameNode(a.from, b.from),
  );
}

function areEqual<Item>(
  some: readonly Item[],
  others: readonly Item[],
  isEqual: (a: Item, b: Item) => boolean,
): boolean {
  return some.length === others.length && some.every((item, index) => isEqual(item, others[index]!));
}

function stale(plan: Plan, reason: string): EngineError<"PLAN_STALE"> {
  return new EngineError("PLAN_STALE", `${reason}. Nothing was changed; make a new plan.`, { plan: plan.id });
}

function newOperation({ system }: Context): OperationId {
  return system.newId() as OperationId;
}
