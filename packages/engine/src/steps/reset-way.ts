/** The way back of a reset: pending changes are taken out, and the session is abandoned. */
import type { Context } from "../capture/context.ts";
import { appendEvent } from "../history/events.ts";
import { closeSession, readOpenSession } from "../history/sessions.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Plan } from "../model/plan.ts";
import type { ResetOutcome } from "../model/session.ts";
import type { WayBack } from "../restore/go-back.ts";
import { approvedState, findPending, type ResetRequest } from "./pending.ts";

/** Takes out what a thread changed since its approved state; if nothing is pending, only the session ends. */
export function resetWay(request: ResetRequest): WayBack<ResetOutcome> {
  const { thread } = request;
  return {
    safety: { thread, description: "Auto-save before reset (can be restored if needed)" },
    look: (context) => ({ since: approvedState(context, thread) }),
    plan: (context, sight) => findPending(context, request, sight).plan,
    isWorthDoing: (plan, bestEffort) =>
      isAnythingPending(plan) && (plan.conflicts.length === 0 || bestEffort),
    finish: ({ system }, { description }) => ({
      kind: "reset",
      description,
      thread,
      target: null,
      step: { id: system.newId(), kind: "reset" },
      moved: [],
    }),
    end(context, outcome) {
      const { plan, safetyCheckpoint, newCheckpoint } = outcome;
      const isNothing = safetyCheckpoint === null && !isAnythingPending(plan);
      if (isNothing) giveUpSession(context, thread);
      const { name } = readOpenSession(context.store.db, thread);
      return {
        ...outcome,
        resetTo: plan.checkpoint,
        newSession: isNothing || newCheckpoint !== null ? name : null,
      };
    },
  };
}

function isAnythingPending({ edits, conflicts, gaps }: Plan): boolean {
  return edits.length + conflicts.length + gaps.length > 0;
}

/** Nothing is pending: the files are the approved state already. */
function giveUpSession({ store, system }: Context, thread: ThreadId): void {
  const now = system.now();
  store.db.transaction(() => {
    const names = closeSession(store.db, thread, { approved: null, message: null, now });
    appendEvent(store.db, { type: "session_reset", thread, at: now, data: { ...names, checkpoint: null } });
  });
}
