/** [R99] Loops of fixes: the checkpoint before each attempt is recorded in the transaction that records the attempt. */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import {
  findFix,
  insertAttempt,
  insertFix,
  INTERRUPTED,
  killedFixes,
  setFixInterrupted,
  setFixState,
} from "../history/fix-rows.ts";
import { appendOperation } from "../history/operations.ts";
import { resolveState } from "../history/references.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { isEngineError } from "../model/errors.ts";
import type { EventDetail } from "../model/event.ts";
import type { Fix, FixIssue, FixRequest, FixUpdate } from "../model/fix.ts";
import type { OperationId } from "../model/ids.ts";

/** Begins a loop: the present is captured unless the work that is reviewed has a checkpoint before it. */
export function beginFix(context: Context, request: FixRequest): Fix {
  const { store, system } = context;
  const { db } = store;
  const id = system.newId();
  const add = (before: number) => {
    insertFix(db, { ...request, id, before, owner: system.owner, now: system.now() });
    tell(context, { type: "fix_started", fix: id });
  };
  if (request.before !== undefined) {
    const { seq } = resolveState(context, request.before);
    db.transaction(() => add(seq));
  } else
    withCapture(context, {}, (capture) => {
      const description = "Before auto-fix";
      add(capture.record({ request: { kind: "auto-fix", phase: "before" }, description }).checkpoint.seq);
    });
  return findFix(db, id, system.isAlive);
}

/** [M55] Takes the checkpoint before an attempt and records the attempt. */
export function beginAttempt(
  context: Context,
  fix: string,
  attempt: { number: number; ofSeverity: number; severity: string; issues: readonly FixIssue[] },
): Checkpoint {
  const { db } = context.store;
  const { number, ofSeverity, severity, issues } = attempt;
  return withCapture(context, {}, (capture) => {
    const { checkpoint } = capture.record({
      request: { kind: "auto-fix", phase: "before" },
      description: `Auto-fix attempt ${ofSeverity} (${severity})`,
      operation: "fix",
    });
    insertAttempt(db, { fix, number, severity, checkpoint: checkpoint.seq, issues });
    tell(context, { type: "fix_attempt", fix, number, severity, checkpoint: checkpoint.id });
    return checkpointAt(db, checkpoint.seq) ?? checkpoint;
  });
}

/** Records that a loop needs a decision, or is over. */
export function updateFix(context: Context, id: string, update: FixUpdate): Fix {
  const { store, system } = context;
  const { db } = store;
  db.transaction(() => {
    const now = system.now();
    setFixState(db, id, { ...update, owner: system.owner, now });
    const { state, reason = null } = update;
    const detail = { fix: id, state };
    appendOperation(db, { id: system.newId() as OperationId, kind: "fix", at: now, detail });
    if (state === "escalated") tell(context, { type: "fix_escalated", fix: id, reason });
    else if (state !== "running") tell(context, { type: "fix_finished", fix: id, state });
  });
  return findFix(db, id, system.isAlive);
}

/** [R1750] Records that loops whose process was killed wait for a decision, and tells it; says whether there were any. */
export function noticeKilledFixes(context: Context): boolean {
  const { store, system } = context;
  const { db } = store;
  if (db.readOnly || killedFixes(db, system.isAlive).length === 0) return false;
  try {
    return db.transaction(() => interruptKilled(context));
  } catch (error) {
    // on a full disk they are told as interrupted all the same, and recorded later
    if (!isEngineError(error, "DISK_FULL")) throw error;
    return false;
  }
}

/** Inside a transaction: another process may have noticed them meanwhile. */
function interruptKilled(context: Context): boolean {
  const { store, system } = context;
  const killed = killedFixes(store.db, system.isAlive);
  for (const fix of killed) {
    setFixInterrupted(store.db, fix);
    const detail = { fix, state: "escalated" };
    appendOperation(store.db, { id: system.newId() as OperationId, kind: "fix", at: system.now(), detail });
    tell(context, { type: "fix_escalated", fix, reason: INTERRUPTED });
  }
  return killed.length > 0;
}

function tell({ store, system }: Context, { type, ...data }: Extract<EventDetail, { fix: string }>): void {
  appendEvent(store.db, { type, thread: null, at: system.now(), data });
}
