/**
 * Records what going back did, in one transaction: the checkpoint after it, and what it means for steps, conversations
 * and sessions. Recovery records an interrupted operation with the same code.
 */
import type { Context } from "../capture/context.ts";
import { recordOnTop } from "../capture/record-on-top.ts";
import { putOnBranch } from "../history/branches.ts";
import { seqOf } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { settleJournal, type JournalEntry } from "../history/journal.ts";
import { markRolledBack } from "../history/mark-rolled-back.ts";
import { moveSources, noteTakenOut } from "../history/merge-rows.ts";
import type { Recorded } from "../history/record.ts";
import { closeSession } from "../history/sessions.ts";
import {
  closeStep,
  continueStep,
  findStep,
  moveStep,
  noteChange,
  openStep,
  openSteps,
  type Step,
} from "../history/step-rows.ts";
import { giveUpCallsOf, moveCalls } from "../history/tool-calls.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointKind } from "../model/checkpoint.ts";
import type { Edit } from "../model/plan.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { recordMerge } from "./record-merge.ts";
import { tellFinished } from "./restore-events.ts";

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
export function abandonJournal({ store }: Context, entry: JournalEntry): undefined {
  store.db.transaction(() => settleJournal(store.db, entry.id));
}

/** Records what was carried out on top of the newest state and settles the journal, in one transaction. */
export function recordResult(context: Context, entry: JournalEntry, done: readonly Edit[]): Recorded {
  const { store, system } = context;
  const { finish } = entry;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  return writer.commit(() => {
    const open = finish.branch === undefined ? [] : openSteps(store.db);
    if (finish.branch === undefined) openOwnStep(context, entry);
    const recorded =
      finish.merge === undefined ? recordBack() : recordMerge(context, writer, { entry, done });
    for (const step of open) goOn(context, step, recorded.checkpoint.seq);
    endSteps(context, entry, recorded);
    markRolledBack(store.db, finish);
    if (finish.kind === "reset") endSession(context, entry, recorded);
    tellFinished(context, entry, recorded, done);
    settleJournal(store.db, entry.id);
    return recorded;
  });

  function recordBack(): Recorded {
    return recordOnTop(context, writer, {
      request: {
        kind: checkpointKind(finish),
        ...(finish.thread === null ? {} : { thread: finish.thread }),
      },
      description: finish.description,
      operation: finish.kind === "switch" ? "branch" : finish.kind,
      ...(finish.by !== undefined && { by: finish.by }),
      edits: done,
      madeBy: { step: finish.step?.id ?? finish.within ?? null, moved: finish.moved },
      moveOn: finish.branch && (() => goToBranch(context, entry)),
    });
  }
}

function checkpointKind({ kind, branch }: JournalEntry["finish"]): CheckpointKind {
  if (branch !== undefined) return "switch";
  return kind === "reset" ? "reset" : "restore";
}

/** A switch is a step of the branch that it leads to. */
function goToBranch(context: Context, entry: JournalEntry): void {
  putOnBranch(context.store.db, entry.finish.branch!.to);
  openOwnStep(context, entry);
}

/** Undo and redo move steps; everything else becomes one. */
function openOwnStep({ store, system }: Context, { finish, safety }: JournalEntry): void {
  if (finish.step === null) return;
  const target = finish.target === null ? undefined : seqOf(store.db, finish.target);
  openStep(store.db, {
    id: finish.step.id,
    kind: finish.step.kind,
    thread: finish.thread,
    description: finish.description,
    prompt: null,
    owner: null,
    before: safety,
    ...(target === undefined ? {} : { target }),
    ...(finish.scope === undefined ? {} : { scope: finish.scope }),
    fromBranch: finish.branch?.from ?? null,
    now: system.now(),
  });
}

function endSteps(
  context: Context,
  { finish, safety }: JournalEntry,
  { checkpoint, operationSeq }: Recorded,
): void {
  const { store, system } = context;
  if (finish.step !== null) {
    // a conversation that went back, or another branch, is something done, also where no file changed
    if (finish.scope !== undefined || finish.branch !== undefined)
      noteChange(store.db, finish.step.id, operationSeq);
    closeStep(store.db, finish.step.id, { after: checkpoint.seq, now: system.now() });
  }
  for (const id of finish.kind === "undo" ? finish.moved : []) {
    const step = findStep(store.db, id);
    if (step !== undefined) endUndone(context, step, safety);
  }
  const to = finish.kind === "undo" ? "undone" : "applied";
  const now = system.now();
  finish.moved.forEach((id, index) => {
    moveStep(store.db, id, to, operationSeq + index / 1e6);
    moveSources(store.db, id, { to, now });
  });
  if (finish.takesOut !== undefined && finish.step !== null)
    noteTakenOut(store.db, finish.takesOut, { step: finish.step.id, now });
}

/** Ends a turn that is being undone; one whose process still runs goes on as a new one. */
function endUndone(context: Context, step: Step, after: number): void {
  const { store, system } = context;
  if (step.state !== "open") return;
  const now = system.now();
  // its own tools count as interrupted with it, unless an event reports their end after all; its agents may go on
  if (step.thread !== null) giveUpCallsOf(store.db, step.thread, now);
  if (step.owner === null || !system.isAlive(step.owner)) return closeStep(store.db, step.id, { after, now });
  goOn(context, step, after);
}

/** What an open turn does from here on is a step of its own. */
function goOn({ store, system }: Context, step: Step, before: number): void {
  const next = system.newId();
  continueStep(store.db, step, { id: next, before, now: system.now() });
  moveCalls(store.db, step.id, next);
}

/** A reset gives the session up; the next one starts from the same approved state. */
function endSession({ store, system }: Context, { finish }: JournalEntry, { checkpoint }: Recorded): void {
  const { db } = store;
  const now = system.now();
  const names = closeSession(db, finish.thread!, { approved: null, message: null, now });
  const data = { ...names, checkpoint: checkpoint.id };
  appendEvent(db, { type: "session_reset", thread: finish.thread, at: now, data });
}
