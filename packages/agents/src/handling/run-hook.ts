/**
 * One event carried out, with its answer. Whatever happens, the agent goes on: the answer never blocks it and nothing is
 * thrown. What went wrong goes to the host, to a log that `belay doctor` reads, and to the user where the agent has a place
 * for it. The hook's own process decides how long the agent waits (`events/event-journey.ts`); it may be gone by then.
 */
import type { AgentHost, Deadline } from "./agent-host.ts";
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { Reply } from "../events/agent-event.ts";
import { isAgentId, loadAgent, recogniseAgent } from "../adapters/find-adapter.ts";
import { CLIENT_VARIABLE, parseClient } from "../hooks/client-process.ts";
import { shorten } from "../events/describe.ts";
import { beganAt, DEADLINES } from "../events/event-journey.ts";
import { handleEvent } from "./handle-event.ts";
import { noteLost } from "./lost-event.ts";
import { OverduePlace, type OverdueEvent } from "../state/overdue-events.ts";
import { parsePayload, PAYLOAD_LIMIT, salvagePayload, type Payload } from "../events/payload.ts";
import { eventName, logTrouble, notCaptured } from "../state/trouble-log.ts";
import { forgetUncaptured, listUncaptured, setUncapturedAside } from "../state/uncaptured-work.ts";

/** One event, and what it is carried out with. */
export interface HookCall<Thread> {
  /** The agent named in the command line. */
  readonly agent: string;
  readonly input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly host: AgentHost<Thread>;
  readonly home: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly now?: () => number;
  /** The event's name, and when its hook stops waiting. */
  readonly wait?: { readonly id: string; readonly deadline: number };
  /** When work on it is given up, whether or not its hook still waits. */
  readonly deadlineMs?: number;
}

/** How much of the end of an event that is too large is kept. */
const END_KEPT = 64 << 10;

/** Carries out an event and says what its hook prints. Never throws. */
export async function runHook<Thread>(call: HookCall<Thread>): Promise<string> {
  const place = new OverduePlace(call.home, call);
  const { wait, now = Date.now } = call;
  return place.during(wait?.id, async () => {
    await makeUp(call, place);
    await recordUncaptured(call);
    const answer = await answerCall(call, wait && { at: wait.deadline, reason: "late" });
    setUncapturedAside(call.home);
    if (wait !== undefined) noteFinished(place, wait.id, now() - wait.deadline);
    return answer;
  });
}

/** A note that cannot be written only means that the event may be carried out twice, which counts once. */
function noteFinished(place: OverduePlace, id: string, sinceDeadlineMs: number): void {
  try {
    place.finished(id, sinceDeadlineMs);
  } catch {
    // the disk is full
  }
}

/** Puts what could not be captured into the timeline, before what comes after it; what still cannot stays. */
async function recordUncaptured<Thread>({ home, host }: HookCall<Thread>): Promise<void> {
  if (host.uncaptured === undefined) return;
  for (const work of listUncaptured(home)) {
    try {
      await host.uncaptured(work);
      forgetUncaptured(home, work);
    } catch {
      // the same reason as before, most likely: the event itself will say so
    }
  }
}

/** Carries out events that earlier hooks of this place left behind and whose process died. */
async function makeUp<Thread>(call: HookCall<Thread>, place: OverduePlace): Promise<void> {
  for await (const left of place.leftBehind(call.wait?.id))
    await place.during(left.id, () => makeUpFor(call, left));
}

async function makeUpFor<Thread>(call: HookCall<Thread>, left: OverdueEvent): Promise<void> {
  const { agent, cwd, environment, input, deadline } = left;
  const event = { agent, cwd, environment, input: [Buffer.from(input, "utf8")] };
  const wait = { id: left.id, deadline };
  await answerCall({ ...call, ...event, wait }, { at: deadline, reason: "missed" });
}

async function answerCall<Thread>(call: HookCall<Thread>, deadline: Deadline | undefined): Promise<string> {
  let adapter: AgentAdapter | undefined;
  let payload: Payload = {};
  try {
    if (!isAgentId(call.agent)) throw new Error("unknown agent");
    payload = await readPayload(call.input);
    adapter = await loadAgent(recogniseAgent(call.agent, payload, call.environment));
    const work = answerEvent(call, { adapter, payload, deadline });
    return adapter.answer(payload, await withDeadline(work, call.deadlineMs ?? DEADLINES.GIVEN_UP_MS));
  } catch (error) {
    const problem = shorten(error instanceof Error ? error.message : String(error), 300);
    if (isAgentId(call.agent)) adapter ??= await loadAgent(call.agent);
    await rememberUncaptured(call, { adapter, payload, problem });
    if (adapter !== undefined) call.host.captureFailed?.({ agent: adapter.id, cwd: call.cwd });
    await reportTrouble(call, { agent: adapter?.id ?? call.agent, event: eventName(payload), problem });
    return adapter?.answer(payload, { warning: notCaptured(problem) }) ?? "{}";
  }
}

async function answerEvent<Thread>(
  { agent, host, home, cwd, environment, wait, now = Date.now }: HookCall<Thread>,
  { adapter, payload, deadline }: { adapter: AgentAdapter; payload: Payload; deadline: Deadline | undefined },
): Promise<Reply> {
  const event = adapter.parse(payload);
  // A newer version of the agent may send events of a new kind: not trouble.
  if (event === undefined) return {};
  const client = parseClient(environment[CLIENT_VARIABLE]);
  const arrivedAt = beganAt(wait?.id ?? "") ?? now();
  const reply = await handleEvent({ host, adapter, home, cwd, now, arrivedAt, deadline, client }, event);
  if (event.kind === "turn-end") new OverduePlace(home, { agent, cwd }).newTurn();
  return reply;
}

/** In the place set aside for it, and in the timeline if the store can be written although nothing can be captured. */
async function rememberUncaptured<Thread>(
  call: HookCall<Thread>,
  { adapter, payload, problem }: { adapter: AgentAdapter | undefined; payload: Payload; problem: string },
): Promise<void> {
  const { home, cwd, wait, now = Date.now } = call;
  try {
    const event = adapter?.parse(payload);
    if (adapter === undefined || event === undefined) return;
    noteLost(home, { adapter, event, cwd, at: beganAt(wait?.id ?? "") ?? now(), problem });
    await withDeadline(recordUncaptured(call), 1000);
  } catch {
    // the log has what the adapter could not read; the rest is tried again with the next event
  }
}

async function readPayload(input: HookCall<unknown>["input"]): Promise<Payload> {
  const parts: Buffer[] = [];
  let size = 0;
  let rest = Buffer.alloc(0);
  for await (const part of input) {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    const room = Math.max(0, PAYLOAD_LIMIT - size);
    size += bytes.length;
    parts.push(bytes.subarray(0, room));
    // Read to the end, keeping only the end: an agent that cannot write its event might wait forever.
    rest = Buffer.concat([rest, bytes.subarray(room)]).subarray(-END_KEPT);
  }
  const text = Buffer.concat(parts).toString("utf8");
  const payload = size > PAYLOAD_LIMIT ? salvagePayload(text, rest.toString("utf8")) : parsePayload(text);
  if (payload === undefined) throw new Error(`the event is not a JSON object (${size} bytes)`);
  return payload;
}

async function withDeadline<Result>(work: Promise<Result>, deadlineMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs / 1000} s`)), deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The host may be what is broken: the log is written first and by other means. */
async function reportTrouble<Thread>(
  { home, host, now = Date.now }: HookCall<Thread>,
  trouble: { agent: string; event: string; problem: string },
): Promise<void> {
  logTrouble(home, trouble, now());
  try {
    await withDeadline(host.trouble(trouble), 1000);
  } catch {
    // The user still gets the warning in the answer.
  }
}
