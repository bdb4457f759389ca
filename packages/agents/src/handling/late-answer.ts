/**
 * The other half of a hook: what it does when the event is not carried out by its deadline. The agent is let go on, the
 * event is left behind for whoever carries it out, and the user is told.
 */
import type { AgentEvent } from "../events/agent-event.ts";
import { isAgentId, loadAgent, recogniseAgent } from "../adapters/find-adapter.ts";
import { OverduePlace, type OverdueEvent, type SentEvent } from "../state/overdue-events.ts";
import { parsePayload, type Payload } from "../events/payload.ts";
import { eventName, logTrouble, notCaptured } from "../state/trouble-log.ts";
import { noteUncaptured } from "../state/uncaptured-work.ts";

/** Slash commands are asked for by somebody who waits for what they print. */
const COMMAND_MS = 60_000;

/** How long hooks of this event's turn have waited in vain. Asked only where something was overdue. */
export async function waitedBy(home: string, sent: SentEvent): Promise<number> {
  const place = new OverduePlace(home, sent);
  if ((await parse(sent)).event?.kind === "prompt") place.newTurn();
  return place.waited();
}

/** An answer came just before the deadline: whoever gave it may have thought the hook gone. */
export function answeredAfterAll(
  home: string,
  { agent, cwd, id }: Pick<OverdueEvent, "agent" | "cwd" | "id">,
): void {
  new OverduePlace(home, { agent, cwd }).answered(id);
}

export interface Leaving {
  readonly event: OverdueEvent;
  readonly waitedMs: number;
  /** What the hook had been waiting for. */
  readonly work: Promise<string>;
  /** Why it does not wait any longer; undefined: its time is up. */
  readonly problem: string | undefined;
}

const LATE =
  "Belay: the checkpoint of this step takes long and will come late. What changes meanwhile is marked in it.";

/** What the hook prints after its deadline. */
export async function letGo(
  home: string,
  { event: sent, waitedMs, work, problem }: Leaving,
): Promise<string> {
  const { adapter, payload, event } = await parse(sent);
  if (adapter === undefined) return "{}";
  if (event?.kind === "command") return within(COMMAND_MS, work, adapter.answer(payload, {}));
  const place = new OverduePlace(home, sent);
  const trouble = problem ?? `not captured after ${(waitedMs / 1000).toFixed(1)} s: the agent went on`;
  try {
    place.addWait(waitedMs);
    if (!place.leave(sent)) return adapter.answer(payload, {});
  } catch (error) {
    // not even a note can be left: whoever is at the event may still do it, and nobody would make up for it
    const reason = `${trouble} (${(error as Error).message})`;
    if (event !== undefined)
      noteUncaptured(home, { agent: adapter.id, event, cwd: sent.cwd, now: Date.now(), problem: reason });
    return adapter.answer(payload, { warning: notCaptured(trouble) });
  }
  logTrouble(home, { agent: adapter.id, event: eventName(payload), problem: trouble }, Date.now());
  return adapter.answer(payload, { warning: problem === undefined ? LATE : notCaptured(problem) });
}

async function parse({ agent, input, environment }: SentEvent) {
  const payload: Payload = parsePayload(input) ?? {};
  if (!isAgentId(agent)) return { payload };
  const adapter = await loadAgent(recogniseAgent(agent, payload, environment));
  let event: AgentEvent | undefined;
  try {
    event = adapter.parse(payload);
  } catch {
    // whoever carries it out will say what is wrong with it
  }
  return { adapter, payload, event };
}

async function within(ms: number, work: Promise<string>, otherwise: string): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), ms);
  });
  try {
    return await Promise.race([work, late]);
  } catch {
    return otherwise;
  } finally {
    clearTimeout(timer);
  }
}
