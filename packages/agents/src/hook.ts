/**
 * `belay hook <agent>`: one event from stdin, one answer to stdout. Whatever happens, the agent goes on: the
 * answer never blocks, the exit code is always 0, and there is a deadline. What went wrong is told to the host,
 * written to a log that `belay doctor` reads, and shown to the user where the agent has a place for it.
 */
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AgentHost } from "./agent-host.ts";
import type { AgentAdapter, Reply } from "./agent-event.ts";
import { isAgentId, loadAgent, recogniseAgent } from "./agents.ts";
import { shorten } from "./describe.ts";
import { handleEvent } from "./handle-event.ts";
import { parsePayload, PAYLOAD_LIMIT, salvagePayload, textOf, type Payload } from "./payload.ts";

export { AGENT_IDS, type AgentId } from "./agent-event.ts";
export type { AgentHost } from "./agent-host.ts";

export interface HookCall<Thread> {
  /** The agent named in the command line. */
  readonly agent: string;
  readonly input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly host: AgentHost<Thread>;
  readonly home: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly now?: () => number;
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 10_000;
const LOG_LIMIT = 256 << 10;
/** How much of the end of an event that is too large is looked at. */
const END_KEPT = 64 << 10;

/** What to print. Never throws. */
export async function runHook<Thread>(call: HookCall<Thread>): Promise<string> {
  let adapter: AgentAdapter | undefined;
  let payload: Payload = {};
  try {
    if (!isAgentId(call.agent)) throw new Error("Belay knows no agent of this name");
    payload = await readPayload(call.input);
    adapter = await loadAgent(recogniseAgent(call.agent, payload, call.environment));
    const reply = await withDeadline(answerEvent(call, adapter, payload), call.deadlineMs ?? DEADLINE_MS);
    return adapter.answer(payload, reply);
  } catch (error) {
    const problem = shorten(error instanceof Error ? error.message : String(error), 300);
    if (isAgentId(call.agent)) adapter ??= await loadAgent(call.agent);
    await reportTrouble(call, { agent: adapter?.id ?? call.agent, event: eventName(payload), problem });
    const warning = `Belay: this step may not be captured (${problem}). \`belay doctor\` says more.`;
    return adapter?.answer(payload, { warning }) ?? "{}";
  }
}

async function answerEvent<Thread>(
  { host, home, cwd, now = Date.now }: HookCall<Thread>,
  adapter: AgentAdapter,
  payload: Payload,
): Promise<Reply> {
  const event = adapter.parse(payload);
  // A newer version of the agent may send events that nobody knew of: not trouble.
  return event === undefined ? {} : handleEvent({ host, adapter, home, cwd, now }, event);
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
    // Read to the end, keeping only the end: an agent that cannot write its event might wait for ever.
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
  try {
    mkdirSync(join(home, "agents"), { recursive: true, mode: 0o700 });
    const log = join(home, "agents", "trouble.log");
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT) renameSync(log, `${log}.old`);
    appendFileSync(log, `${JSON.stringify({ at: new Date(now()).toISOString(), ...trouble })}\n`, {
      mode: 0o600,
    });
  } catch {
    // The user still gets the warning in the answer.
  }
  try {
    await withDeadline(host.trouble(trouble), 1000);
  } catch {
    // As above.
  }
}

function eventName(payload: Payload): string {
  return shorten(textOf(payload, "hook_event_name", "hookName", "belay_event", "type") ?? "unknown", 60);
}
