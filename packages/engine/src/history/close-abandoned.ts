/** Closes the turns and calls of agents that are gone, with the capture that finds them gone, and of threads that are deleted. */
import type { Database } from "../store/database.ts";
import type { ThreadId } from "../model/ids.ts";
import type { AttributionMoment } from "./attribution.ts";
import { isCallOver, isTurnOver } from "./liveness.ts";
import { closeStep, openSteps, type Step } from "./step-rows.ts";
import { dropEnds, endOfCall } from "./reported-ends.ts";
import { closeCall, giveUpCall, openCalls } from "./tool-calls.ts";

/**
 * [R121] What an agent that is gone did is in this capture; what comes later is not its doing. Its turn ends where
 * the agent was last heard of, so that the turn's checkpoints are those it made.
 */
export function closeAbandoned(db: Database, moment: AttributionMoment): void {
  const { now, ends } = moment;
  for (const call of openCalls(db)) {
    if (call.id === moment.ended?.id) continue;
    const reported = endOfCall(call, ends);
    if (reported !== undefined) closeCall(db, call, reported.at);
    else if (isCallOver(db, call, moment)) giveUpCall(db, call, now);
  }
  for (const step of openSteps(db))
    if (isTurnOver(db, step, moment)) closeStep(db, step.id, { after: endOf(db, step), now });
  if (ends.length > 0) dropEnds(db);
}

/** [R2430] What a deleted thread has open ends as if its agent were gone. An agent that is still there goes on in a turn of its own. */
export function closeDeleted(db: Database, thread: ThreadId, now: number): void {
  for (const call of openCalls(db)) if (call.thread === thread) giveUpCall(db, call, now);
  for (const step of openSteps(db))
    if (step.thread === thread) closeStep(db, step.id, { after: endOf(db, step), now });
}

/** The last checkpoint of the step's thread, or that of its last change. */
function endOf(db: Database, { id, thread, before }: Step): number {
  const row = db.get(
    `SELECT max(coalesce((SELECT max(c.seq) FROM checkpoint c JOIN step s ON s.id = ?2 AND s.branch = c.branch
         WHERE c.thread = ?1), 0),
       coalesce((SELECT max(checkpoint) FROM change WHERE step = ?2), 0)) AS seq`,
    thread,
    id,
  );
  return Math.max(Number(row?.["seq"] ?? 0), before ?? 0);
}
