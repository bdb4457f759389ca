/**
 * Carries out a plan whose safety checkpoint is durable: preflight, stage, journal, apply, record.
 * The order is what makes it safe: nothing is touched before the new content is staged and synced and
 * the journal names every path; success is recorded in one transaction after the files are in place.
 */
import { compareTrees } from "../diff/compare-trees.ts";
import { countChanges } from "../diff/count-changes.ts";
import { editTree } from "../diff/edit-tree.ts";
import { recordCheckpoint, type Recorded } from "../history/record.ts";
import { removeJournal, writeJournal, type Finish, type JournalEntry } from "../history/journal.ts";
import { nextStep } from "../history/steps.ts";
import { newestCheckpoint, readGaps } from "../history/checkpoints.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId, OperationId } from "../model/ids.ts";
import type { Edit, Outcome, Plan } from "../model/plan.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { withReserve } from "../store/reserve.ts";
import { giveBack, readLeases, releaseLease, takeLease } from "../store/lease.ts";
import { applyEdits, HalfDone, type Applied } from "./apply.ts";
import type { Context } from "./context.ts";
import { momentOf } from "./moment.ts";
import { preflight, refuseClashes } from "./preflight.ts";
import { openRestoreStep, progressTeller, settle, tellStarted } from "./settle.ts";
import { withSavedContent } from "./save-again.ts";
import { numberEdits, Stage } from "./stage.ts";

export interface CarryOut {
  readonly plan: Plan;
  readonly safety: Checkpoint;
  readonly finish: Finish;
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
  const work = { ...planned, plan: withSavedContent(context, planned.plan) };
  const { plan, safety, bestEffort } = work;
  if (plan.conflicts.length > 0 && !bestEffort) return report(context, work, NOTHING, null);
  if (plan.edits.length === 0) return finishWithoutEdits(context, work);
  const { root } = context.worktree;
  preflight(root, plan.edits, bestEffort);
  const stage = new Stage(root, plan.id);
  const entry: JournalEntry = {
    id: plan.id,
    safety: safety.seq,
    edits: plan.edits,
    finish: work.finish,
    startedAt: context.system.now(),
  };
  try {
    stage.create();
    refuseClashes(stage, plan.edits);
    stage.fill(numberEdits(plan.edits), context.store.objects);
    // [R4] from here on the next command knows what to finish
    context.store.db.transaction(() => {
      assertStillThere(context, plan.edits);
      writeJournal(context.store.db, entry);
      tellStarted(context, entry);
    });
  } catch (error) {
    clearAway(stage);
    throw explainSystemError(error, {
      what: `Nothing can be prepared in ${displayAbsolute(root)}`,
      path: displayAbsolute(root),
      operation: "restore",
    });
  }
  const applied = applyOrTakeBack(context, stage, entry, bestEffort);
  if (applied.conflicts.length > 0 && !bestEffort) {
    abandonJournal(context, entry);
    clearAway(stage);
    return report(context, work, applied, null);
  }
  return withFilesInPlace(() => {
    const { checkpoint } = finishJournal(context, entry, applied.done);
    clearAway(stage);
    return report(context, work, applied, checkpoint.id);
  });
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

/** The files are as wanted already; steps that were to be moved still are. */
function finishWithoutEdits(context: Context, work: CarryOut): Outcome {
  const { plan, safety, finish } = work;
  if (finish.moved.length === 0 && finish.scope === undefined) return report(context, work, NOTHING, null);
  const entry = { id: plan.id, safety: safety.seq, edits: [], finish, startedAt: context.system.now() };
  const { checkpoint } = finishJournal(context, entry, []);
  return report(context, work, NOTHING, checkpoint.id);
}

/** The outcome of a plan that is not carried out: nothing to do, or conflicts. */
export function withoutEffect(context: Context, plan: Plan, startedMs: number): Outcome {
  return report(context, { plan, safety: undefined, bestEffort: false, startedMs }, NOTHING, null);
}

const NOTHING: Applied = { done: [], conflicts: [], kept: [], skipped: [] };

/** An error inside `applyEdits` has already been taken back; one while taking back leaves the journal for recovery. */
function applyOrTakeBack(context: Context, stage: Stage, entry: JournalEntry, bestEffort: boolean): Applied {
  try {
    const how = { bestEffort, progress: progressTeller(context, entry) };
    return applyEdits(context.worktree.root, stage, numberEdits(entry.edits), how);
  } catch (error) {
    // the journal stays, and with it the stage
    if (error instanceof HalfDone) throw leftHalfDone(context, error);
    abandonJournal(context, entry);
    clearAway(stage);
    throw error;
  }
}

/** What cannot be cleared away now is cleared by the next command: it must not hide what became of the operation. */
function clearAway(stage: Stage): void {
  try {
    stage.remove();
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** [N1] Neither done nor put back: says so. */
export function leftHalfDone({ worktree }: Context, { cause }: HalfDone): EngineError<"FILE_SYSTEM"> {
  const path = displayAbsolute(worktree.root);
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
  store.db.transaction(() => removeJournal(store.db, entry.id));
}

/** Records what was carried out on top of the newest state and closes the journal, in one transaction. */
export function finishJournal(context: Context, entry: JournalEntry, done: readonly Edit[]): Recorded {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  return writer.commit(() => {
    // another process may have captured what others did since the safety checkpoint: that is not to be forgotten
    const base = newestCheckpoint(store.db)!;
    const snapshot = editTree({ source: store.objects, sink: createStoreSink(writer) }, base.snapshot, done);
    writer.storeNow();
    const { finish } = entry;
    const changed = new Set(done.map(({ path }) => path));
    openRestoreStep(context, entry);
    const recorded = recordCheckpoint(store.db, {
      request: {
        kind: finish.kind === "reset" ? "reset" : "restore",
        ...(finish.thread === null ? {} : { thread: finish.thread }),
      },
      description: finish.description,
      facts: {
        ...base,
        ...countFiles(base, compareTrees(store.objects, base.snapshot, snapshot)),
        snapshot,
        gaps: readGaps(store.db, base.seq).filter(({ path }) => !changed.has(path)),
        doubts: [],
      },
      moment: momentOf(context),
      newId: system.newId,
      operation: finish.kind,
      since: { base, changes: done },
      madeBy: { step: finish.step?.id ?? finish.within ?? null, moved: finish.moved },
    });
    settle(context, entry, recorded, done);
    removeJournal(store.db, entry.id);
    return recorded;
  });
}

function countFiles(base: Checkpoint, done: readonly Edit[]): { files: number; bytes: number } {
  let { files, bytes } = base;
  for (const { from, to } of done) {
    if (from?.kind === "file" || from?.kind === "symlink") [files, bytes] = [files - 1, bytes - from.size];
    if (to?.kind === "file" || to?.kind === "symlink") [files, bytes] = [files + 1, bytes + to.size];
  }
  return { files, bytes };
}

type Reported = Pick<CarryOut, "plan" | "bestEffort" | "startedMs"> & {
  readonly safety: Checkpoint | undefined;
  readonly finish?: Finish;
};

function report(
  context: Context,
  work: Reported,
  applied: Applied,
  newCheckpoint: CheckpointId | null,
): Outcome {
  const { plan, bestEffort, safety } = work;
  const { db } = context.store;
  const conflicts = [...plan.conflicts, ...applied.conflicts];
  const { added, modified, deleted } = countChanges(applied.done);
  return {
    outcome: outcomeOf({
      conflicts: conflicts.length,
      skipped: applied.skipped.length,
      // a conversation that went back is something done
      edits: plan.edits.length + (work.finish?.scope === undefined ? 0 : 1),
      bestEffort,
    }),
    plan,
    restoredTo: plan.checkpoint,
    safetyCheckpoint: safety?.id ?? null,
    newCheckpoint,
    created: added,
    modified,
    deleted,
    merged: plan.merged,
    kept: [...plan.kept, ...applied.kept],
    skipped: applied.skipped,
    conflicts,
    steps: plan.steps,
    canUndo: nextStep(db, "applied") !== null,
    canRedo: nextStep(db, "undone") !== null,
    durationMs: context.system.elapsed() - work.startedMs,
  };
}

function outcomeOf(facts: {
  conflicts: number;
  skipped: number;
  edits: number;
  bestEffort: boolean;
}): Outcome["outcome"] {
  if (facts.conflicts > 0 && !facts.bestEffort) return "conflicts";
  if (facts.conflicts + facts.skipped > 0) return "partial";
  return facts.edits === 0 ? "unchanged" : "applied";
}

/** The id of a new operation. */
export function newOperation({ system }: Context): OperationId {
  return system.newId() as OperationId;
}
