/**
 * Calls that end without an event. What they did is captured as soon as that is known, so that later changes
 * are not attributed to them.
 */
import { isAgentGone, isCallOver, lastHeard, resumedCommands } from "../history/liveness.ts";
import type { Recorded } from "../history/record.ts";
import { endsOfInterruption, type Interruption } from "../history/reported-ends.ts";
import { openCalls, reopenCall, type ToolCall } from "../history/tool-calls.ts";
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import { withCapture } from "../capture/with-capture.ts";
import { assumeEnds, keepingEnds } from "./lost-ends.ts";
import { isTrigger } from "./turns.ts";

/** The agent may report the end of a command this long after it. */
const TELLING_MS = 1500;

/** Looks repeatedly for calls whose agent or command is gone. */
export class CutOffWatch {
  /** Calls that look cut off, keyed by their last event, and since when they do. */
  #suspects = new Map<string, number>();

  /**
   * [R128] The checkpoint after a call that still looks cut off as it did at an earlier look; undefined when
   * there is none.
   */
  capture(context: Context): Recorded | undefined {
    if (!isTrigger(context, "tool")) return undefined;
    const { db } = context.store;
    const [moment, now] = [momentOf(context), context.system.elapsed()];
    const resumed = resumedCommands(db, moment);
    // a running command counts until it is seen to have ended
    if (resumed.length > 0) db.transaction(() => resumed.forEach((call) => reopenCall(db, call)));
    const over = openCalls(db)
      .filter((call) => isCallOver(db, call, moment))
      .map((call) => ({ call, name: `${call.seq} ${lastHeard(db, call.thread)}` }));
    this.#suspects = new Map(over.map(({ name }) => [name, this.#suspects.get(name) ?? now]));
    const cutOff = over.find(({ name }) => now - this.#suspects.get(name)! >= TELLING_MS);
    if (cutOff === undefined) return undefined;
    const { call } = cutOff;
    // a command that waits for permission does not run either, and sends no event that says so
    const what = isAgentGone(db, call.thread, moment) ? CUT_OFF : ": not running, no end reported";
    // recording it gives up what is over
    return withCapture(context, {}, (capture) => capture.record(afterCall(call, what)));
  }
}

/** [R129] The agent itself reports when it was interrupted: later changes are not its own. */
export function endInterrupted(context: Context, { thread, at }: Interruption): Recorded | undefined {
  const calls = openCalls(context.store.db);
  const ends = endsOfInterruption({ thread, at }, calls);
  const first = calls.find(({ id }) => ends.some(({ of }) => of.kind === "call" && of.id === id));
  if (first === undefined) return undefined;
  assumeEnds(context, ends);
  return keepingEnds(context, ends, () =>
    // recording it closes what has ended
    withCapture(context, {}, (capture) => capture.record(afterCall(first, CUT_OFF))),
  );
}

/** [R129] Takes interruptions into account from now on. */
export function assumeInterrupted(context: Context, interruptions: readonly Interruption[]): void {
  const calls = openCalls(context.store.db);
  assumeEnds(
    context,
    interruptions.flatMap((each) => endsOfInterruption(each, calls)),
  );
}

const CUT_OFF = ", which was cut off";

function afterCall({ thread, tool, id }: ToolCall, what: string) {
  return {
    request: { kind: "tool" as const, phase: "after" as const, thread, tool, toolUseId: id },
    description: `After ${tool}${what}`,
  };
}
