/**
 * Carries out a plan whose safety checkpoint is durable: preflight, stage, journal, apply, record.
 * The order is what makes it safe: nothing is touched before the new content is staged and synced and
 * the journal names every path; success is recorded in one transaction after the files are in place.
 */
import { countChanges } from "../diff/count-changes.ts";
import type { Recorded } from "../history/record.ts";
import { settleJournal, writeJournal, type Finish, type JournalEntry } from "../history/journal.ts";
import { nextStep } from "../history/steps.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { CheckpointId, OperationId } from "../model/ids.ts";
import { decodeRules } from "../model/rules.ts";
import type { Displaced, Edit, Outcome, Plan } from "../model/plan.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { withReserve } from "../store/reserve.ts";
import { giveBack, readLeases, releaseLease, takeLease } from "../store/lease.ts";
import { applyEdits, HalfDone, type Applied, type HowToApply } from "./apply.ts";
import type { Context } from "../capture/context.ts";
import { endStage, type Ended } from "./end-stage.ts";
import { preflight, refuseClashes } from "./preflight.ts";
import { recordOnTop } from "../capture/record-on-top.ts";
import { openRestoreStep, progressTeller, settle, tellStarted } from "./settle.ts";
import { withSavedContent } from "./save-again.ts";
import { ignoredAmong, spareIgnored } from "../rules/spare-ignored.ts";
import { numberEdits, Stage } from "./stage.ts";

export interface CarryOut {
  readonly plan: Plan;
  readonly safety: Checkpoint;
  readonly finish: Finish;
  /** The paths of each step that is moved. */
  readonly pathsOf?: ReadonlyMap<string, readonly BytePath[]>;
  readonly bestEffort: boolean;
  readonly startedMs: number;
}

/** Runs `work` as the one restore of this workspace; a second one is refused with owner and age. */
export function withRestoreLease<Result>(context: Context, work: () => Result): Result {
  // [R163] going back takes the store little more than rows: on a full disk it has the reserve for them
  return withReserve(context.store, () => withLease(context, work));
}

function withLease<Result>({ store, system }: Context, work: () => Result): Result {
  const lease = store.db.fleetingTransaction(() => {
    for (const other of readLeases(store.db, "restore")) {
      if (other.owner.pid !== system.owner.pid && system.isAlive(other.owner))
        throw running(other.owner.pid, system.iso(other.since));
      releaseLease(store.db, other.id);
    }
    return takeLease(store.db, "restore", system.owner, system.now());
  });
  try {
    return work();
  } finally {
    giveBack(() => store.db.fleetingTransaction(() => releaseLease(store.db, lease)));
  }
}

function running(pid: number, since: string): EngineError<"RESTORE_RUNNING"> {
  return new EngineError(
    "RESTORE_RUNNING",
    `Another restore is running (process ${pid}, since ${since}). Nothing was changed.`,
    { pid, since },
  );
}

export function carryOut(context: Context, planned: CarryOut): Outcome {
  const rules = decodeRules(context.store.objects.read(planned.safety.rules), planned.safety.rules);
  const saved = withSavedContent(context, planned.plan);
  const work = { ...planned, plan: { ...saved, ...spareIgnored(saved, rules) } };
  const { plan, safety, bestEffort } = work;
  if (plan.conflicts.length > 0 && !bestEffort) return report(context, work, NOTHING);
  if (plan.edits.length === 0) return finishWithoutEdits(context, work);
  preflight(context.worktree.root, plan.edits, bestEffort);
  const entry: JournalEntry = {
    id: plan.id,
    safety: safety.seq,
    edits: plan.edits,
    finish: work.finish,
    startedAt: context.system.now(),
    settled: false,
  };
  const stage = prepare(context, entry);
  const spared = ignoredAmong(plan.edits, rules);
  const applied = applyOrLeave(context, stage, { entry, bestEffort, spared });
  if (isTakenBack(applied, bestEffort)) {
    abandonJournal(context, entry);
    const ended = endOrLeave(context, entry, stage);
    const displaced = [...toSafety(applied, safety), ...ended.displaced];
    if (applied.failure !== undefined) throw explainFailure(applied.failure, { ...ended, displaced });
    return report(context, work, { ...applied, ...ended, displaced });
  }
  const moved = movedBy(work, applied);
  const finished = { ...entry, finish: { ...entry.finish, moved } };
  const { checkpoint } = withFilesInPlace(() => finishJournal(context, finished, applied.done));
  const ended = endOrLeave(context, entry, stage);
  const displaced = [...toSafety(applied, safety), ...ended.displaced];
  const outcome = report(context, work, { ...applied, ...ended, displaced, newCheckpoint: checkpoint.id });
  const stayed = new Set(work.finish.moved.filter((id) => !moved.includes(id)));
  return { ...outcome, steps: outcome.steps.filter(({ id }) => !stayed.has(id)) };
}

function isTakenBack({ failure, conflicts }: Applied, bestEffort: boolean): boolean {
  return failure !== undefined || (conflicts.length > 0 && !bestEffort);
}

/** Makes and fills the stage and writes the journal; nothing is changed yet. */
function prepare(context: Context, entry: JournalEntry): Stage {
  const { db, objects } = context.store;
  let stage: Stage | undefined;
  try {
    stage = Stage.create(context, entry.id);
    refuseClashes(stage, entry.edits);
    stage.fill(numberEdits(entry.edits), objects, stopping(context, entry).stopIfAsked);
    // [R4] from here on the next command knows what to finish
    db.transaction(() => {
      assertStillThere(context, entry.edits);
      writeJournal(db, entry);
      tellStarted(context, entry);
    });
    return stage;
  } catch (error) {
    if (stage !== undefined) discard(stage);
    const root = displayAbsolute(context.worktree.root);
    throw explainSystemError(error, {
      what: `Nothing can be prepared in ${root}`,
      path: root,
      operation: "restore",
    });
  }
}

/** What cannot be cleared away now is cleared by the next command: it must not hide why nothing was done. */
function discard(stage: Stage): void {
  try {
    stage.discard();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    stage[Symbol.dispose]();
  }
}

/** What stood at a path that could not be put back is in the safety checkpoint. */
function toSafety({ left }: Applied, safety: Checkpoint): Displaced[] {
  return left.map((path) => ({ path, checkpoint: safety.id }));
}

/** [N1] Says of what the system refused what became of the files, from what became of them. */
function explainFailure(failure: unknown, { displaced, notices, busy }: Ended): unknown {
  if (!(failure instanceof EngineError)) return failure;
  const paths = displaced.map(({ path, checkpoint }) => `${displayPath(path)} (checkpoint ${checkpoint})`);
  const files =
    displaced.length === 0
      ? "Everything was put back as it was."
      : `Everything was put back as it was except what another program wrote to meanwhile; checkpoints hold the rest of ${paths.join(", ")}.`;
  const message = [failure.message, files, ...notices, ...busy].join(" ");
  return new EngineError(failure.code, message, failure.facts, failure.cause);
}

/** [R25] From the journal on `gc` spares what is restored; just before, it may have freed it together with its checkpoint. */
function assertStillThere({ store }: Context, edits: readonly Edit[]): void {
  for (const { to } of edits) {
    if ((to?.kind !== "file" && to?.kind !== "symlink") || store.objects.has(to.hash)) continue;
    throw new EngineError(
      "OBJECT_MISSING",
      "The checkpoint was dropped while it was to be restored. Nothing was changed.",
      { object: to.hash, checkpoints: [] },
    );
  }
}

/** [R123] The steps for which something was done, or nothing had to be: one that is only in the way stays where it is. */
function movedBy({ finish, pathsOf, plan }: CarryOut, applied: Applied): string[] {
  const left = new Set([...plan.conflicts, ...applied.conflicts, ...applied.skipped].map(({ path }) => path));
  if (pathsOf === undefined || left.size === 0) return [...finish.moved];
  const done = new Set(applied.done.map(({ path }) => path));
  return finish.moved.filter((id) => {
    const paths = pathsOf.get(id) ?? [];
    return paths.some((path) => done.has(path)) || !paths.some((path) => left.has(path));
  });
}

/** The files are as wanted already; steps that were to be moved still are. */
function finishWithoutEdits(context: Context, work: CarryOut): Outcome {
  const { plan, safety, finish } = work;
  if (finish.moved.length === 0 && finish.scope === undefined) return report(context, work, NOTHING);
  const startedAt = context.system.now();
  const entry = { id: plan.id, safety: safety.seq, edits: [], finish, startedAt, settled: false };
  const { checkpoint } = finishJournal(context, entry, []);
  return report(context, work, { ...NOTHING, newCheckpoint: checkpoint.id });
}

/** The outcome of a plan that is not carried out: nothing to do, or conflicts. */
export function withoutEffect(context: Context, plan: Plan, startedMs: number): Outcome {
  return report(context, { plan, safety: undefined, bestEffort: false, startedMs }, NOTHING);
}

const NOTHING: Applied = { done: [], conflicts: [], kept: [], skipped: [], left: [] };

/** An error while taking back leaves stage and journal to recovery. */
function applyOrLeave(
  context: Context,
  stage: Stage,
  { entry, ...how }: { entry: JournalEntry; bestEffort: boolean; spared: ReadonlySet<BytePath> },
): Applied {
  try {
    const more = { progress: progressTeller(context, entry), ...stopping(context, entry) };
    return applyEdits(context.worktree.root, stage, numberEdits(entry.edits), { ...how, ...more });
  } catch (error) {
    stage[Symbol.dispose]();
    if (error instanceof HalfDone) throw leftHalfDone(context, error);
    throw error;
  }
}

/** [N1] The operation is settled: that its stage cannot be ended now must not hide what became of it. */
export function endOrLeave(context: Context, entry: JournalEntry, stage: Stage, patienceMs?: number): Ended {
  try {
    return endStage(context, entry, stage, patienceMs);
  } catch (error) {
    if (!(error instanceof EngineError) && !isSystemError(error)) throw error;
    stage[Symbol.dispose]();
    return { displaced: [], notices: [notCleared(stage.name, error)], busy: [] };
  }
}

export function notCleared(stage: string, { message }: Error): string {
  return `What was replaced is still in ${stage}: ${message} The next command tries to clear it again.`;
}

/** [R114] A person may stop a long operation: it is taken back, or left to the next command if that is not wanted either. */
function stopping(
  { interrupt }: Context,
  { edits }: JournalEntry,
): Pick<HowToApply, "stopIfAsked" | "stopTakingBack"> {
  if (interrupt === undefined) return {};
  const total = edits.length;
  return {
    stopIfAsked(done) {
      if (interrupt.count() === 0) return;
      interrupt.takingBack(done, total);
      const how = done === 0 ? "before anything was changed" : `after ${done} of ${total} files`;
      throw interrupted(`Interrupted ${how}.`, { done, total });
    },
    stopTakingBack() {
      if (interrupt.count() > 1) throw interrupted("Interrupted again.", { done: total, total });
    },
  };
}

function interrupted(message: string, facts: { done: number; total: number }): EngineError<"INTERRUPTED"> {
  return new EngineError("INTERRUPTED", message, facts);
}

/** [N1] Neither done nor put back: says so. */
export function leftHalfDone({ worktree }: Context, { cause }: HalfDone): EngineError {
  const path = displayAbsolute(worktree.root);
  if (isEngineError(cause, "INTERRUPTED")) {
    const message = `Interrupted while it was being taken back: some files of ${path} are changed and some not. The next command sees to them first.`;
    return interrupted(message, cause.facts);
  }
  const message = `Some files of ${path} were changed and some not, and they could not be put back. The next command tries again.`;
  return new EngineError("FILE_SYSTEM", message, { path, operation: "restore" }, cause);
}

/** [N1] A store that fails when the files are in place must not say that nothing was changed. The journal stays. */
export function withFilesInPlace<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const message =
      "Your files were changed as planned, but the store could not record it. The next command tries that again.";
    throw new EngineError(error.code, message, error.facts, error);
  }
}

/** Everything is as before: the journal has nothing left to say. */
export function abandonJournal({ store }: Context, entry: JournalEntry): void {
  store.db.transaction(() => settleJournal(store.db, entry.id));
}

/** Records what was carried out on top of the newest state and settles the journal, in one transaction. */
export function finishJournal(context: Context, entry: JournalEntry, done: readonly Edit[]): Recorded {
  const { store, system } = context;
  const { finish } = entry;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  return writer.commit(() => {
    openRestoreStep(context, entry);
    const recorded = recordOnTop(context, writer, {
      request: {
        kind: finish.kind === "reset" ? "reset" : "restore",
        ...(finish.thread === null ? {} : { thread: finish.thread }),
      },
      description: finish.description,
      operation: finish.kind,
      edits: done,
      madeBy: { step: finish.step?.id ?? finish.within ?? null, moved: finish.moved },
    });
    settle(context, entry, recorded, done);
    settleJournal(store.db, entry.id);
    return recorded;
  });
}

type Reported = Pick<CarryOut, "plan" | "bestEffort" | "startedMs"> & {
  readonly safety: Checkpoint | undefined;
  readonly finish?: Finish;
};

/** What was carried out and what came to light at the end of it. */
interface CarriedOut extends Applied, Partial<Ended> {
  readonly newCheckpoint?: CheckpointId;
}

function report(context: Context, work: Reported, result: CarriedOut): Outcome {
  const { plan, bestEffort, safety } = work;
  const { db } = context.store;
  const conflicts = [...plan.conflicts, ...result.conflicts];
  const { displaced = [] } = result;
  const notices = [...(result.notices ?? []), ...(result.busy ?? [])];
  const { added, modified, deleted } = countChanges(result.done);
  return {
    outcome: outcomeOf({
      conflicts: conflicts.length,
      skipped: result.skipped.length,
      displaced: displaced.length,
      // a conversation that went back is something done
      edits: plan.edits.length + (work.finish?.scope === undefined ? 0 : 1),
      bestEffort,
    }),
    plan,
    restoredTo: plan.checkpoint,
    safetyCheckpoint: safety?.id ?? null,
    newCheckpoint: result.newCheckpoint ?? null,
    created: added,
    modified,
    deleted,
    merged: plan.merged,
    kept: [...plan.kept, ...result.kept],
    skipped: result.skipped,
    conflicts,
    displaced,
    steps: plan.steps,
    // what is refused leaves no checkpoint: what was to be undone may be in none yet
    canUndo: nextStep(db, "applied") !== null || (safety === undefined && isUndoOfSteps(plan)),
    canRedo: nextStep(db, "undone") !== null,
    durationMs: context.system.elapsed() - work.startedMs,
    ...(notices.length === 0 ? {} : { notices }),
  };
}

function isUndoOfSteps({ kind, steps }: Plan): boolean {
  return kind === "undo" && steps.length > 0;
}

function outcomeOf(facts: {
  conflicts: number;
  skipped: number;
  displaced: number;
  edits: number;
  bestEffort: boolean;
}): Outcome["outcome"] {
  if (facts.conflicts > 0 && !facts.bestEffort) return "conflicts";
  if (facts.displaced > 0) return "displaced";
  if (facts.conflicts + facts.skipped > 0) return "partial";
  return facts.edits === 0 ? "unchanged" : "applied";
}

/** The id of a new operation. */
export function newOperation({ system }: Context): OperationId {
  return system.newId() as OperationId;
}
