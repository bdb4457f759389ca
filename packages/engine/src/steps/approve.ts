/** Approval: the present state becomes the approved one, and the session ends. */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { closeSession, countSessionCheckpoints, readOpenSession } from "../history/sessions.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import type { SessionName } from "../model/session.ts";

/** What an approval did. */
export interface Approved {
  readonly checkpoint: Checkpoint;
  readonly session: SessionName;
  readonly newSession: SessionName;
  readonly checkpointsApproved: number;
}

/** Makes the present state the approved one. What no checkpoint has yet gets one in the session first. */
export function approveThread(context: Context, thread: ThreadId, message: string | undefined): Approved {
  const { store, system } = context;
  withCapture(context, {}, (capture) => {
    if (capture.present.snapshot !== headCheckpoint(store.db)?.snapshot)
      capture.record({ request: { kind: "safety", thread }, description: "Auto-commit before approval" });
  });
  return withCapture(context, {}, (capture) => {
    const { checkpoint } = capture.record({
      request: { kind: "approve", thread },
      description: message ?? "Approved session",
      operation: "approve",
    });
    const now = system.now();
    const open = readOpenSession(store.db, thread);
    const checkpointsApproved = countSessionCheckpoints(store.db, thread, open);
    const names = closeSession(store.db, thread, { approved: checkpoint.seq, message: message ?? null, now });
    const data = { ...names, checkpoint: checkpoint.id };
    appendEvent(store.db, { type: "session_approved", thread, at: now, data });
    return { checkpoint, ...names, checkpointsApproved };
  });
}
