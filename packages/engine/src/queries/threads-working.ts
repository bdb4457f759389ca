/** Which agents are at work right now? */
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import { isTurnOver } from "../history/liveness.ts";
import { openSteps } from "../history/step-rows.ts";
import type { ThreadId } from "../model/ids.ts";

/** [R1700] The threads with an open turn whose agent is still there: a turn that a killed agent left open is none. */
export function threadsWorking(context: Context): ThreadId[] {
  const { db } = context.store;
  const moment = momentOf(context);
  const open = openSteps(db).filter((step) => !isTurnOver(db, step, moment));
  return [...new Set(open.flatMap(({ thread }) => thread ?? []))];
}
