/**
 * Finishes what a killed process left. The next command of any kind captures first, then completes the journalled
 * restore, or takes it back when it cannot be completed. If a journalled path is neither as it was nor as it was to
 * be, another program wrote there: the tree stays as it is and the paths are named.
 * Idempotent: a crash in here is recovered by the same steps.
 */
import { walkTree } from "../diff/compare-trees.ts";
import { below } from "../fs/absolute-path.ts";
import { isErrno, statNode } from "../fs/file-stat.ts";
import { isSystemError } from "../fs/system-error.ts";
import { listJournal, readJournal, removeJournal, type JournalEntry } from "../history/journal.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Displaced, Edit } from "../model/plan.ts";
import { applyEdits, HalfDone, type Applied } from "./apply.ts";
import type { Context } from "../capture/context.ts";
import { clearStage, endStage, notCleared, type Ended } from "./end-stage.ts";
import { putAsidesBack, type FoundEdit } from "./found-edits.ts";
import { describeWriters, hasWriters } from "./stage-writers.ts";
import { leftHalfDone } from "./interrupt.ts";
import { putNamesBack } from "./names-left.ts";
import { isOutsideUnderWay, recoverOutside } from "./outside-under-way.ts";
import { abandonJournal, recordResult, withFilesInPlace } from "./record-result.ts";
import { withRestoreLease } from "./restore-lease.ts";
import { STAGE_PREFIX } from "../rules/hard-excludes.ts";
import { isRootThere } from "../scan/root.ts";
import { findStages, Stage, type NumberedEdit } from "./stage.ts";
import { withCapture } from "../capture/with-capture.ts";

/** Recovers if there is anything to recover; returns sentences for the user. */
export function recover(context: Context): string[] {
  if (!isRootThere(context.workingCopy.root)) return [];
  const journal = readJournal(context.store.db);
  // [N1] nothing can be finished, and the user must not take the tree for whole
  const leftAsItIs = () =>
    journal
      .filter(isUnsettled)
      .map(
        ({ finish }) =>
          `An interrupted ${finish.kind} is left as it is, because the store cannot be written: ${finish.description}.`,
      );
  if (context.store.db.readOnly) return leftAsItIs();
  const isNothingLeft = journal.length === 0 && findStages(context.workingCopy.root).length === 0;
  if (isNothingLeft && !isOutsideUnderWay(context.store.db)) return [];
  try {
    return withRestoreLease(context, () => recoverAll(context));
  } catch (error) {
    // the restore is still running, or another process is recovering it
    if (isEngineError(error, "RESTORE_RUNNING")) return [];
    // some media refuse only when they are written to
    if (isEngineError(error, "STORE_READ_ONLY")) return leftAsItIs();
    // stage and journal are still there
    if (isSystemError(error)) throw leftHalfDone(context, new HalfDone("not recovered", { cause: error }));
    throw error;
  }
}

/** Whether recovery would find anything to do now; a stage that a process still writes to has to wait. Costs nearly nothing. */
export function isAnythingLeft(context: Context): boolean {
  if (isOutsideUnderWay(context.store.db)) return true;
  return listJournal(context.store.db).some(({ id, settled }) => {
    if (!settled) return true;
    try {
      using stage = Stage.find(context, id);
      return stage === undefined || !hasWriters(stage);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return false;
    }
  });
}

/** [R190] Why staging directories of operations that are over still stand in the root, in sentences. */
export function whyStagesStay(context: Context): string[] {
  const settled = readJournal(context.store.db).filter((entry) => entry.settled);
  return settled.flatMap((entry) => {
    try {
      using stage = Stage.find(context, entry.id);
      return stage === undefined ? [] : describeWriters(entry, stage);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return [notCleared(`${STAGE_PREFIX}${entry.id}`, error)];
    }
  });
}

/** The paths of which a stage still holds something, because a process can write to it. */
export function pathsInStages(context: Context): BytePath[] {
  const settled = listJournal(context.store.db).filter((entry) => entry.settled);
  if (settled.length === 0) return [];
  const found = readJournal(context.store.db).flatMap(({ id, edits }) => {
    try {
      using stage = Stage.find(context, id);
      return stage?.nodes().flatMap(({ index }) => edits[index]?.path ?? []) ?? [];
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return [];
    }
  });
  return [...new Set(found)].sort();
}

const isUnsettled = ({ settled }: JournalEntry) => !settled;

/** Reads the journal again under the lease: another process may have recovered in the meantime. */
function recoverAll(context: Context): string[] {
  const { db } = context.store;
  const notices = readJournal(db).flatMap((entry) =>
    entry.settled ? endLeft(context, entry) : recoverEntry(context, entry),
  );
  const known = new Set<string>(readJournal(db).map(({ id }) => id));
  const unknown = findStages(context.workingCopy.root).filter((operation) => !known.has(operation));
  const discarded = unknown.flatMap((operation) => discardLeft(context, operation));
  return [...notices, ...discarded, ...recoverOutside(context)];
}

/** The result is recorded; only the stage was not ended, or a process still wrote to a file in it. */
function endLeft(context: Context, entry: JournalEntry): string[] {
  try {
    const stage = Stage.find(context, entry.id);
    // the user was told already that a process still writes to it
    if (stage !== undefined)
      return tell(entry, { ...endStage(context, entry, stage, { patienceMs: 0 }), busy: [] });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return [notCleared(`${STAGE_PREFIX}${entry.id}`, error)];
  }
  context.store.db.fleetingTransaction(() => removeJournal(context.store.db, entry.id));
  return [];
}

/** [R111] Killed before its journal was written, a stage holds copies only. One without our mark is not touched. */
function discardLeft(context: Context, operation: string): string[] {
  const back = own(() => putNamesBack(context, operation));
  if (back !== undefined) return back;
  own(() => {
    using stage = Stage.find(context, operation);
    stage?.discard();
  });
  const name = `${STAGE_PREFIX}${operation}`;
  if (statNode(below(context.workingCopy.root, name)) === undefined) return [];
  return [
    `${name} is not, or not only, what Belay put there. It was left alone: look at it, and delete it if you do not need it.`,
  ];
}

/** A directory that another user made can neither be read nor removed. */
function own<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

function recoverEntry(context: Context, journalled: JournalEntry): string[] {
  const { fills } = journalled.finish;
  const entry =
    fills === undefined ? journalled : { ...journalled, edits: editsToFill(context.store, fills) };
  const stage = Stage.find(context, entry.id);
  try {
    return recoverFrom(context, entry, stage);
  } finally {
    stage?.[Symbol.dispose]();
  }
}

/** What makes an empty directory a snapshot. */
function editsToFill({ objects }: Context["store"], snapshot: ObjectHash): Edit[] {
  const nodes = [...walkTree(objects, snapshot)].filter(({ entry }) => entry.kind !== "gap");
  return nodes.map(({ path, entry }) => ({ path, from: undefined, to: entry }));
}

function recoverFrom(context: Context, entry: JournalEntry, found: Stage | undefined): string[] {
  const paths = entry.edits.map(({ path }) => path);
  const { checkpoint } = withCapture(context, { unlimited: new Set(paths) }, (capture) =>
    capture.record({
      request: { kind: "safety" },
      description: `Interrupted: ${entry.finish.description}`,
      operation: "recover",
      madeBy: { step: null },
      doubts: paths.map((path) => ({ path, reason: "mid-restore" })),
    }),
  );
  const edits = putAsidesBack(context.workingCopy.root, found, entry);
  const told = found === undefined ? [] : tell(entry, clearStage(context, entry, found));
  const strangers = edits.filter(({ state }) => state === "other").map(({ path }) => path);
  const stage = strangers.length > 0 ? found : (found ?? createAgain(context, entry));
  if (stage === undefined || strangers.length > 0) {
    abandonJournal(context, entry);
    if (found !== undefined) told.push(...tell(entry, endStage(context, entry, found, { patienceMs: 0 })));
    throw blocked(entry, strangers.length > 0 ? strangers : paths, told);
  }
  const recovery: Recovery = { context, entry, stage, told, safety: checkpoint.id };
  const said = finishOrTakeBack(recovery, edits);
  const ended = endStage(context, entry, stage, { patienceMs: 0 });
  return [said, ...told, ...tell(entry, ended)];
}

/** undefined when something that is not ours has the name. */
function createAgain(context: Context, { id }: JournalEntry): Stage | undefined {
  try {
    return Stage.create(context, id);
  } catch (error) {
    if (isErrno(error, "EEXIST")) return undefined;
    throw error;
  }
}

/** One interrupted operation under way to its end. */
interface Recovery {
  readonly context: Context;
  readonly entry: JournalEntry;
  readonly stage: Stage;
  /** Sentences for the user; grows. */
  readonly told: string[];
  /** The checkpoint of what recovery found. */
  readonly safety: CheckpointId;
}

function finishOrTakeBack(recovery: Recovery, found: readonly FoundEdit[]): string {
  const { context, entry } = recovery;
  const left = found
    .filter(({ state }) => state !== "after")
    .map((edit) => ({ ...edit, from: edit.present }));
  const applied = tryApply(recovery, left);
  if (applied === undefined) return takeBack(recovery, found);
  const done = new Set(applied.done.map(({ path }) => path));
  withFilesInPlace(() =>
    recordResult(
      context,
      entry,
      found.filter(({ state, path }) => state === "after" || done.has(path)),
    ),
  );
  return `An interrupted ${entry.finish.kind} was finished: ${entry.finish.description}.`;
}

function tellDisplaced({ finish }: JournalEntry, displaced: readonly Displaced[]): string[] {
  return displaced.map(
    ({ path, checkpoint }) =>
      `Another program wrote to ${displayPath(path)} during the ${finish.kind}; checkpoint ${checkpoint} holds what it wrote.`,
  );
}

function tell(entry: JournalEntry, { displaced, notices, busy }: Ended): string[] {
  return [...tellDisplaced(entry, displaced), ...notices, ...busy];
}

/** What was carried out, or undefined when it could not be and everything is as it was found. */
function tryApply(recovery: Recovery, edits: readonly NumberedEdit[]): Applied | undefined {
  const { context, entry, stage, told, safety } = recovery;
  let applied: Applied;
  try {
    stage.fill(edits, context.store.objects);
    applied = applyEdits(context.workingCopy.root, stage, edits, { bestEffort: false });
  } catch (error) {
    // what could not be taken back either is left, stage and journal, to the next recovery
    if (error instanceof HalfDone) throw leftHalfDone(context, error);
    if (!(error instanceof EngineError) && !isSystemError(error)) throw error;
    applied = { done: [], conflicts: [], kept: [], skipped: [], left: [], failure: error };
  }
  const tried = [...entry.edits];
  for (const edit of edits) tried[edit.index] = edit;
  const left = applied.left.map((path) => ({ path, checkpoint: safety }));
  told.push(
    ...tellDisplaced(entry, left),
    ...tell(entry, clearStage(context, { ...entry, edits: tried }, stage, 0)),
  );
  return applied.failure === undefined && applied.conflicts.length === 0 ? applied : undefined;
}

function takeBack(recovery: Recovery, found: readonly FoundEdit[]): string {
  const { context, entry, told } = recovery;
  const touched = found.filter(({ state }) => state !== "before");
  const backwards = touched.map(({ path, index, from, present }) => ({
    path,
    index,
    from: present,
    to: from,
  }));
  if (tryApply(recovery, backwards) === undefined)
    throw blocked(
      entry,
      entry.edits.map(({ path }) => path),
      told,
    );
  withFilesInPlace(() => abandonJournal(context, entry));
  return `An interrupted ${entry.finish.kind} could not be finished and was taken back: ${entry.finish.description}.`;
}

function blocked(
  entry: JournalEntry,
  paths: readonly BytePath[],
  told: readonly string[],
): EngineError<"RECOVERY_BLOCKED"> {
  const also = told.map((line) => ` ${line}`);
  return new EngineError(
    "RECOVERY_BLOCKED",
    `An interrupted ${entry.finish.kind} was found, and other programs changed ${paths.length} of its paths since. ` +
      `Your files are left exactly as they are and are saved in a checkpoint.${also.join("")}`,
    { operation: entry.id, paths: paths.map(displayPath), before: entry.safety },
  );
}
