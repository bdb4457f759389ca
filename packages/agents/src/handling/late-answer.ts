/**
 * The states `leaving` and `waiting` of an event's journey (`events/event-journey.ts`): the event is not carried out by its
 * deadline. The agent goes on, the event is noted for the process that carries it out, and the user is warned.
 */
import type { AgentAdapter } from "../adapters/adapter.ts";
import { isAgentId, loadAgent, recogniseAgent } from "../adapters/find-adapter.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { parsePayload, type Payload } from "../events/payload.ts";
import { NEUTRAL_ANSWER } from "../hooks/answer-form.ts";
import { OverduePlace, type OverdueEvent, type SentEvent } from "../state/overdue-events.ts";
import { eventName, logTrouble, notCaptured } from "../state/trouble-log.ts";
import { beganAt } from "../events/event-journey.ts";
import { noteLost } from "./lost-event.ts";

/** How long late hooks of this event's turn have waited already. Worth asking only where events are overdue. */
export async function waitedInTurn(home: string, sent: SentEvent): Promise<number> {
  const place = new OverduePlace(home, sent);
  if ((await parse(sent)).event?.kind === "prompt") place.newTurn();
  return place.waited();
}

/** The hook has its answer: a note that work close to its deadline may have left is cleared away. */
export function clearNote(
  home: string,
  { agent, cwd, id }: Pick<OverdueEvent, "agent" | "cwd" | "id">,
): void {
  new OverduePlace(home, { agent, cwd }).answered(id);
}

/** What became of an event whose hook had to leave, and what the hook prints. */
export interface Leaving {
  /** `noted`: another process finishes it. `just done`: it is finished. `command`: its user waits for its output. */
  readonly outcome: "noted" | "just done" | "command";
  readonly text: string;
}

const LATE =
  "Belay: the checkpoint of this step takes long and will be late. Changes made meanwhile are marked in it.";

/** Leaves an event behind; `problem` is why its hook does not wait, unless its time is up. */
export async function leaveEvent(
  home: string,
  { event: sent, waitedMs, problem }: { event: OverdueEvent; waitedMs: number; problem: string | undefined },
): Promise<Leaving> {
  const { adapter, payload, event } = await parse(sent);
  if (adapter === undefined) return { outcome: "just done", text: NEUTRAL_ANSWER };
  if (event?.kind === "command") return { outcome: "command", text: adapter.answer(payload, {}) };
  const trouble = problem ?? `not captured after ${(waitedMs / 1000).toFixed(1)} s: the agent continued`;
  const place = new OverduePlace(home, sent);
  try {
    place.addWait(waitedMs);
    if (!place.leave(sent)) return { outcome: "just done", text: adapter.answer(payload, {}) };
  } catch (error) {
    // without a note no later event makes up for it; the process at it may still finish
    const reason = `${trouble} (${(error as Error).message})`;
    if (event !== undefined)
      noteLost(home, {
        adapter,
        event,
        cwd: sent.cwd,
        at: beganAt(sent.id) ?? Date.now(),
        problem: reason,
      });
    return { outcome: "noted", text: adapter.answer(payload, { warning: notCaptured(trouble) }) };
  }
  logTrouble(home, { agent: adapter.id, event: eventName(payload), problem: trouble }, Date.now());
  const warning = problem === undefined ? LATE : notCaptured(problem);
  return { outcome: "noted", text: adapter.answer(payload, { warning }) };
}

interface Parsed {
  readonly payload: Payload;
  readonly adapter?: AgentAdapter;
  readonly event?: AgentEvent | undefined;
}

async function parse({ agent, input, environment }: SentEvent): Promise<Parsed> {
  const payload: Payload = parsePayload(input) ?? {};
  if (!isAgentId(agent)) return { payload };
  const adapter = await loadAgent(recogniseAgent(agent, payload, environment));
  try {
    return { payload, adapter, event: adapter.parse(payload) };
  } catch {
    // the process that carries it out reports what is wrong with it
    return { payload, adapter };
  }
}
