/** [R2300] An end for which no checkpoint can be taken is kept all the same: what comes after it is not the agent's. */
import type { Context } from "../capture/context.ts";
import { endOfCall, endOfTurn, keepEnds, sameEnd, type ReportedEnd } from "../history/reported-ends.ts";
import { openSteps } from "../history/step-rows.ts";
import { openCalls } from "../history/tool-calls.ts";
import { EngineError } from "../model/errors.ts";
import type { Deadline } from "../model/deadline.ts";

/** Runs work that captures an end; if it fails, the end is kept with the moment at which the agent reported it. */
export function endingWith<Result>(
  context: Context,
  { deadline, ...end }: Omit<ReportedEnd, "at"> & { readonly deadline?: Deadline | undefined },
  work: () => Result,
): Result {
  const at = Math.min(context.system.now(), deadline?.at ?? Infinity);
  return keepingEnds(context, [{ ...end, at }], work);
}

/** Runs work that captures ends; if it fails, they are kept. */
export function keepingEnds<Result>(
  context: Context,
  ends: readonly ReportedEnd[],
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    noteEnds(context, ends);
    throw error;
  }
}

/** Keeps the ends of calls and turns that are open here, in this process if they cannot be written. */
export function noteEnds(context: Context, ends: readonly ReportedEnd[]): void {
  const { db } = context.store;
  try {
    assumeEnds(context, ends);
    if (context.ended.length === 0) return;
    db.transaction(() => keepEnds(db, context.ended));
    context.ended.splice(0);
  } catch (error) {
    // the store is full, newer, damaged or cannot be written: the caller's own error says it
    if (!(error instanceof EngineError)) throw error;
  }
}

/** Takes ends of what is open here into account from now on, in this process; the next checkpoint closes what has ended. */
export function assumeEnds({ store: { db }, ended }: Context, ends: readonly ReportedEnd[]): void {
  const [calls, turns] = [openCalls(db), openSteps(db)];
  const isOpen = (end: ReportedEnd) =>
    calls.some((call) => endOfCall(call, [end]) !== undefined) ||
    turns.some((turn) => endOfTurn(turn, [end]) !== undefined);
  const all = [...ended, ...ends].filter(isOpen);
  ended.splice(
    0,
    ended.length,
    ...all.filter((end, at) => all.findIndex((each) => sameEnd(each, end)) === at),
  );
}
