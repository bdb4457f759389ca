/** What a restore, reset, undo or redo means for steps, conversations and sessions: recorded with the checkpoint after it. */
import { appendEvent } from "../history/events.ts";
import type { JournalEntry } from "../history/journal.ts";
import type { Recorded } from "../history/record.ts";
import { closeSession } from "../history/sessions.ts";
import {
  closeStep,
  continueStep,
  findStep,
  moveStep,
  noteChange,
  openStep,
  type Step,
} from "../history/steps.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import type { Context } from "../capture/context.ts";
import { giveUpCallsOf, moveCalls } from "../history/tool-calls.ts";

/** Undo and redo move steps; everything else becomes one. */
export function openRestoreStep({ store, system }: Context, { finish, safety }: JournalEntry): void {
  if (finish.step === null) return;
  const target =
    finish.target === null
      ? undefined
      : store.db.get("SELECT seq FROM checkpoint WHERE id = ?", finish.target);
  openStep(store.db, {
    id: finish.step.id,
    kind: finish.step.kind,
    thread: finish.thread,
    description: finish.description,
    prompt: null,
    owner: null,
    before: safety,
    ...(target === undefined ? {} : { target: Number(target["seq"]) }),
    ...(finish.scope === undefined ? {} : { scope: finish.scope }),
    now: system.now(),
  });
}

/** Call inside the transaction that records the checkpoint. */
export function settle(
  context: Context,
  entry: JournalEntry,
  recorded: Recorded,
  done: readonly Edit[],
): void {
  settleSteps(context, entry, recorded);
  markRolledBack(context.store.db, entry);
  if (entry.finish.kind === "reset") settleSession(context, entry, recorded);
  tellFinished(context, entry, recorded, done);
}

function settleSteps(
  context: Context,
  { finish, safety }: JournalEntry,
  { checkpoint, operationSeq }: Recorded,
): void {
  const { store, system } = context;
  if (finish.step !== null) {
    // a conversation that went back is something done, also where no file changed
    if (finish.scope !== undefined) noteChange(store.db, finish.step.id, operationSeq);
    closeStep(store.db, finish.step.id, { after: checkpoint.seq, now: system.now() });
  }
  for (const id of finish.kind === "undo" ? finish.moved : []) {
    const step = findStep(store.db, id);
    if (step !== undefined) endUndone(context, step, safety);
  }
  const to = finish.kind === "undo" ? "undone" : "applied";
  finish.moved.forEach((id, index) => moveStep(store.db, id, to, operationSeq + index / 1e6));
}

/** Ends a turn that is being undone; one whose process still runs goes on as a new one. */
function endUndone({ store, system }: Context, step: Step, after: number): void {
  if (step.state !== "open") return;
  const now = system.now();
  // its own tools are taken to be interrupted with it, unless their end is told after all; its agents may go on
  if (step.thread !== null) giveUpCallsOf(store.db, step.thread, now);
  if (step.owner === null || !system.isAlive(step.owner)) return closeStep(store.db, step.id, { after, now });
  const next = system.newId();
  continueStep(store.db, step, { id: next, before: after, now });
  moveCalls(store.db, step.id, next);
}

/** A reset gives the session up; the next one starts from the same approved state. */
function settleSession({ store, system }: Context, { finish }: JournalEntry, { checkpoint }: Recorded): void {
  const { db } = store;
  const now = system.now();
  const names = closeSession(db, finish.thread!, { approved: null, message: null, now });
  const data = { ...names, checkpoint: checkpoint.id };
  appendEvent(db, { type: "session_reset", thread: finish.thread, at: now, data });
}

/** What was said and taken in turns whose effect is gone is marked; taking that back removes the mark. */
function markRolledBack(db: Database, { finish }: JournalEntry): void {
  for (const id of finish.moved) {
    for (const table of ["checkpoint", "message"])
      db.run(`UPDATE ${table} SET rolled_back_by = NULL WHERE rolled_back_by = ?`, id);
    mark(db, id, finish.kind === "redo" ? RESTORED : TURN);
  }
  if (finish.kind === "restore" && finish.step !== null) mark(db, finish.step.id, RESTORED);
}

interface Marked {
  readonly checkpoint: string;
  readonly message: string;
}

/** A turn's own; each condition selects nothing for the other kind of step. */
const TURN: Marked = {
  checkpoint:
    "s.kind = 'turn' AND s.thread = checkpoint.thread AND checkpoint.seq BETWEEN s.before AND s.after",
  message: "s.kind = 'turn' AND message.step = s.id",
};

/** Those that a restore went back over; messages only if the conversation was to go back. */
const RESTORED: Marked = {
  checkpoint: `s.target IS NOT NULL AND s.scope <> 'conversation' AND checkpoint.thread IS NOT NULL
    AND checkpoint.seq > s.target AND checkpoint.seq < s.before`,
  message: `s.target IS NOT NULL AND s.scope <> 'files' AND message.since >= s.target AND message.since < s.before
    AND message.thread = coalesce(s.thread, (SELECT thread FROM checkpoint WHERE seq = s.target), message.thread)`,
};

function mark(db: Database, id: string, which: Marked): void {
  for (const table of ["checkpoint", "message"] as const)
    db.run(
      `UPDATE ${table} SET rolled_back_by = ?1 WHERE rolled_back_by IS NULL
         AND EXISTS (SELECT 1 FROM step s WHERE s.id = ?1 AND ${which[table]})`,
      id,
    );
}

export function tellStarted({ store, system }: Context, { id, finish, edits }: JournalEntry): void {
  const data = { operation: id, kind: finish.kind, description: finish.description, files: edits.length };
  appendEvent(store.db, { type: "restore_started", thread: finish.thread, at: system.now(), data });
}

/** Between two words about how far a restore is. */
const PROGRESS_MS = 500;

/** A long restore tells how far it is. That it cannot be told does not stop it. */
export function progressTeller(
  { store, system }: Context,
  { id, finish, edits }: JournalEntry,
): (done: number) => void {
  let toldMs = system.elapsed();
  return (done) => {
    if (system.elapsed() - toldMs < PROGRESS_MS) return;
    const data = { operation: id, done, total: edits.length };
    const event = { type: "restore_progress" as const, thread: finish.thread, at: system.now(), data };
    try {
      store.db.fleetingTransaction(() => appendEvent(store.db, event));
    } catch {
      // what matters of a store that fails now is said when the restore is recorded
    }
    toldMs = system.elapsed();
  };
}

function tellFinished(
  { store, system }: Context,
  { id, finish }: JournalEntry,
  { checkpoint }: Recorded,
  done: readonly Edit[],
): void {
  const about = { thread: finish.thread, at: system.now() };
  const { kind, description, moved: steps } = finish;
  const data = { operation: id, kind, description, files: done.length };
  appendEvent(store.db, { ...about, type: "restore_finished", data });
  if (kind === "undo" || kind === "redo")
    appendEvent(store.db, { ...about, type: kind, data: { steps, checkpoint: checkpoint.id } });
}
