/**
 * Carries out a plan whose safety checkpoint is durable: preflight, stage, journal, apply, record.
 * The order is what makes it safe: nothing is touched before the new content is staged and synced and the journal
 * names every path; success is recorded in one transaction after the files are in place.
 */
import type { Context } from "../capture/context.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import { readDelta } from "../history/changes.ts";
import { writeJournal, type Finish, type JournalEntry } from "../history/journal.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { Displaced, Edit, Plan, RestoreProgress } from "../model/plan.ts";
import { decodeRules } from "../model/rules.ts";
import { ignoredAmong, spareIgnored } from "../rules/spare-ignored.ts";
import { applyEdits, HalfDone, type Applied } from "./apply.ts";
import { endStage, type Ended } from "./end-stage.ts";
import { leftHalfDone, stopsOnInterrupt } from "./interrupt.ts";
import { noteNames } from "./names-left.ts";
import { preflight, refuseClashes } from "./preflight.ts";
import { recordHeld } from "./record-merge.ts";
import { abandonJournal, recordResult, withFilesInPlace } from "./record-result.ts";
import { NOTHING_DONE, type CarriedOut } from "./report.ts";
import { withSavedContent } from "./resave-content.ts";
import { tellStarted, type TellProgress } from "./restore-events.ts";
import { numberEdits, Stage } from "./stage.ts";

/** A plan that is to be carried out. */
export interface CarryOut {
  readonly plan: Plan;
  readonly safety: Checkpoint;
  readonly finish: Finish;
  readonly bestEffort: boolean;
  readonly tell: TellProgress;
}

/** Changes the files as planned, or leaves everything as it was. */
export function carryOut(context: Context, work: CarryOut): CarriedOut {
  const { safety, bestEffort, finish } = work;
  const rules = decodeRules(context.store.objects.read(safety.rules), safety.rules);
  const saved = withSavedContent(context, work.plan);
  const plan = { ...saved, ...spareIgnored(saved, rules) };
  const { id, edits } = plan;
  if (plan.conflicts.length > 0 && !bestEffort) return { ...NOTHING_DONE, plan };
  const startedAt = context.system.now();
  const entry: JournalEntry = { id, safety: safety.seq, edits, finish, startedAt, settled: false };
  if (edits.length === 0) return recordWithoutEdits(context, plan, entry);
  preflight(context.workingCopy.root, edits, bestEffort);
  const tell = (at: RestoreProgress) => work.tell(at, finish.thread);
  const stage = prepare(context, entry, tell);
  const spared = ignoredAmong(edits, rules);
  const applied = applyOrLeave(context, stage, { entry, bestEffort, spared, tell });
  const isTakenBack = applied.failure !== undefined || (applied.conflicts.length > 0 && !bestEffort);
  const stayed = isTakenBack ? [] : stepsInTheWay(context, { plan, finish }, applied);
  const recorded = isTakenBack
    ? abandonJournal(context, entry)
    : withFilesInPlace(() => recordResult(context, without(entry, stayed), applied.done));
  const ended = endStage(context, entry, stage, {
    progress: (done, total) => tell({ phase: "clearing", done, total }),
  });
  const displaced = [...leftInSafety(applied, safety), ...ended.displaced];
  if (applied.failure !== undefined) throw explainFailure(applied.failure, { ...ended, displaced });
  return {
    plan,
    applied,
    displaced,
    notices: [...ended.notices, ...ended.busy],
    newCheckpoint: recorded?.checkpoint.id ?? null,
    stayed,
    movedMore: movesMore(finish),
  };
}

/** The files are as wanted already; steps that were to be moved still are, and so is the conversation. */
function recordWithoutEdits(context: Context, plan: Plan, entry: JournalEntry): CarriedOut {
  const { moved, scope, branch, merge } = entry.finish;
  if (merge?.parts.length === 0) {
    context.store.db.transaction(() => recordHeld(context, merge));
    return { ...NOTHING_DONE, plan };
  }
  const isNothing = scope === undefined && branch === undefined && merge === undefined;
  if (moved.length === 0 && isNothing) return { ...NOTHING_DONE, plan };
  const { checkpoint } = recordResult(context, entry, []);
  return { ...NOTHING_DONE, plan, newCheckpoint: checkpoint.id, movedMore: movesMore(entry.finish) };
}

/** Whether something goes back, comes in, or goes to another branch, also where no file changes. */
function movesMore({ scope, branch, merge }: Finish): boolean {
  return scope !== undefined || branch !== undefined || merge !== undefined;
}

/** Makes and fills the stage and writes the journal; nothing is changed yet. */
function prepare(context: Context, entry: JournalEntry, tell: (at: RestoreProgress) => void): Stage {
  const { db, objects } = context.store;
  let stage: Stage | undefined;
  try {
    stage = Stage.create(context, entry.id);
    refuseClashes(stage, entry.edits);
    const { stopIfAsked } = stopsOnInterrupt(context, entry);
    stage.fill(numberEdits(entry.edits), objects, (done, total) => {
      stopIfAsked?.(0);
      tell({ phase: "staging", done, total });
    });
    noteNames(context, stage, entry.edits);
    // [R4] from here on the next command knows what to finish
    db.transaction(() => {
      assertStillThere(context, entry.edits);
      writeJournal(db, entry);
      tellStarted(context, entry);
    });
    return stage;
  } catch (error) {
    if (stage !== undefined) discard(stage);
    const root = displayAbsolute(context.workingCopy.root);
    throw explainSystemError(error, {
      what: `Files cannot be staged in ${root}`,
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

/** [R25] From the journal on `gc` spares what is restored; just before, it may have freed it together with its checkpoint. */
function assertStillThere({ store }: Context, edits: readonly Edit[]): void {
  for (const { to } of edits) {
    if ((to?.kind !== "file" && to?.kind !== "symlink") || store.objects.has(to.hash)) continue;
    throw new EngineError(
      "OBJECT_MISSING",
      "The checkpoint was dropped before it could be restored. Nothing was changed.",
      { object: to.hash, checkpoints: [] },
    );
  }
}

interface Applying {
  readonly entry: JournalEntry;
  readonly bestEffort: boolean;
  readonly spared: ReadonlySet<BytePath>;
  tell(at: RestoreProgress): void;
}

/** An error while taking back leaves stage and journal to recovery. */
function applyOrLeave(context: Context, stage: Stage, { entry, tell, ...how }: Applying): Applied {
  const total = entry.edits.length;
  try {
    return applyEdits(context.workingCopy.root, stage, numberEdits(entry.edits), {
      ...how,
      ...stopsOnInterrupt(context, entry),
      progress: (done) => tell({ phase: "changing", done, total }),
    });
  } catch (error) {
    stage[Symbol.dispose]();
    if (error instanceof HalfDone) throw leftHalfDone(context, error);
    throw error;
  }
}

/** [R123] Steps of which best effort did nothing and left something: they stay where they are. */
function stepsInTheWay(
  { store }: Context,
  { plan, finish }: Pick<CarryOut, "plan" | "finish">,
  applied: Applied,
): string[] {
  const left = new Set([...plan.conflicts, ...applied.conflicts, ...applied.skipped].map(({ path }) => path));
  if (left.size === 0) return [];
  const done = new Set(applied.done.map(({ path }) => path));
  return finish.moved.filter((step) => {
    const paths = readDelta(store.db, step).map(({ path }) => path);
    return paths.some((path) => left.has(path)) && !paths.some((path) => done.has(path));
  });
}

function without(entry: JournalEntry, stayed: readonly string[]): JournalEntry {
  const moved = entry.finish.moved.filter((step) => !stayed.includes(step));
  return { ...entry, finish: { ...entry.finish, moved } };
}

/** What stood at a path that could not be put back is in the safety checkpoint. */
function leftInSafety({ left }: Applied, safety: Checkpoint): Displaced[] {
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
