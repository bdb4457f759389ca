/**
 * Calls that end without a word. What they did is captured as soon as that is known, so that what changes later is not
 * taken for theirs.
 */
import { wasInterrupted } from "../history/attribution.ts";
import { isCallOver, resumedCommands } from "../history/liveness.ts";
import { closeCall, openCalls, takeUpCall, type ToolCall } from "../history/tool-calls.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Context } from "./context.ts";
import { momentOf } from "./moment.ts";
import { takeCheckpoint, type Taken } from "./take-checkpoint.ts";
import { isTrigger } from "./turns.ts";

/** [R128] The checkpoint after a call whose agent or command is gone; undefined where there is none. */
export function captureCutOff(context: Context): Taken | undefined {
  const { db } = context.store;
  if (!isTrigger(context, "tool")) return undefined;
  const moment = momentOf(context);
  const resumed = resumedCommands(db, moment);
  // what is seen to run counts until it is seen to have ended
  if (resumed.length > 0) db.transaction(() => resumed.forEach((call) => takeUpCall(db, call)));
  const call = openCalls(db).find((each) => isCallOver(db, each, moment));
  // recording it gives up what is over
  return call === undefined ? undefined : takeCheckpoint(context, afterCall(call));
}

/** [R129] The agent itself says when it was interrupted: what was changed later is not its doing. */
export function endInterrupted(context: Context, thread: ThreadId, at: number): Taken | undefined {
  const { store, system } = context;
  const calls = openCalls(store.db).filter((call) => wasInterrupted(call, { thread, at }));
  const [first] = calls;
  if (first === undefined) return undefined;
  return takeCheckpoint(context, {
    ...afterCall(first),
    moment: { interrupted: { thread, at } },
    within: () => calls.forEach((call) => closeCall(store.db, call, system.now())),
  });
}

function afterCall({ thread, tool, id }: ToolCall) {
  return {
    request: { kind: "tool" as const, phase: "after" as const, thread, tool, toolUseId: id },
    description: `After ${tool}, which was cut off`,
  };
}
