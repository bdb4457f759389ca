/** [R99] Loops of fixes: the checkpoint before each attempt is recorded in the transaction that records the attempt. */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { findFix, insertAttempt, insertFix, setFixState } from "../history/fixes.ts";
import { appendOperation } from "../history/operations.ts";
import { resolveState } from "../history/references.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
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

function tell({ store, system }: Context, { type, ...data }: Extract<EventDetail, { fix: string }>): void {
  appendEvent(store.db, { type, thread: null, at: system.now(), data });
}
