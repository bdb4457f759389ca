/**
 * A hook waits for its event to be carried out, and not a moment longer than an agent may be held up: then it leaves the
 * event to whoever is at it and lets the agent go on. Every hook starts with this file: what only a
 * late one needs is loaded then.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HookWorker } from "./hook-worker.ts";
import type { HookEvent } from "./run-hook.ts";

/** How long a hook may hold its agent up. `BELAY_WAIT_MS` is for those who would rather wait. */
const WAIT_MS = Number(process.env["BELAY_WAIT_MS"]) || 1000;
/** For what comes before this code runs, and for leaving. */
const OWN_MS = 150;
/** Enough for an ordinary event, also after one that took long. */
const LEAST_WAIT_MS = 250;
/** From here on whoever carries the event out may think that its hook has gone. */
const CLOSE_MS = 200;
/** More than this goes the slow way: the resident process takes bodies of a mebibyte. */
const MOST_BYTES = 800_000;

export interface Answer {
  readonly text: string;
  /** Somebody is still at it: this process must not wait for that. */
  readonly isLeft: boolean;
}

export async function answerInTime(home: string, event: Omit<HookEvent, "wait">): Promise<Answer> {
  const waited = existsSync(join(home, "agents", "overdue")) ? await waitedInTurn(home, event) : 0;
  const deadline = Math.max(
    performance.timeOrigin + WAIT_MS - OWN_MS - waited,
    Date.now() + Math.min(WAIT_MS, LEAST_WAIT_MS),
  );
  const sent: HookEvent = { ...event, wait: { id: eventId(), deadline } };
  const working = begin(home, sent);
  const text = await beforeDeadline(working.answer, deadline);
  if (typeof text !== "string") return leave(home, sent, { working, problem: text.problem });
  if (Date.now() > deadline - CLOSE_MS) {
    const { answeredAfterAll } = await import("@belay/agents/late-answer");
    answeredAfterAll(home, { ...sent, ...sent.wait });
  }
  return { text, isLeft: false };
}

/** The hook's script may have delivered the event already, under this name. */
function eventId(): string {
  const given = process.env["BELAY_EVENT"];
  return given !== undefined && /^\d{13}-\d+$/.test(given) ? given : `${Date.now()}-${process.pid}`;
}

interface Working {
  worker: HookWorker | undefined;
  readonly answer: Promise<string>;
}

function begin(home: string, event: HookEvent): Working {
  const working: Omit<Working, "answer"> = { worker: undefined };
  const work = async () => {
    const answer = await askResidentHook(home, event);
    if (answer !== undefined) return answer;
    const { startHookWorker } = await import("./hook-worker.ts");
    working.worker = startHookWorker(home, event);
    return working.worker.answer;
  };
  return Object.assign(working, { answer: work() });
}

async function askResidentHook(home: string, event: HookEvent): Promise<string | undefined> {
  const { agent, input, cwd, environment, wait } = event;
  if (input.length > MOST_BYTES) return undefined;
  const { askResident } = await import("../resident/ask-resident.ts");
  const body = JSON.stringify({ input: input.toString("utf8"), cwd, environment, wait });
  const path = `/api/hooks/${encodeURIComponent(agent)}`;
  const said = await askResident(home, (client) => client.send({ method: "POST", path, body }), {
    start: true,
    directory: cwd,
  });
  return (said as { answer?: string } | undefined)?.answer;
}

/** The answer, or why there is none. */
async function beforeDeadline(
  work: Promise<string>,
  deadline: number,
): Promise<string | { problem: string | undefined }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ problem: undefined }>((resolve) => {
    timer = setTimeout(() => resolve({ problem: undefined }), deadline - Date.now());
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    return { problem: (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

async function leave(
  home: string,
  event: HookEvent,
  { working, problem }: { working: Working; problem: string | undefined },
): Promise<Answer> {
  const { letGo } = await import("@belay/agents/late-answer");
  const { RunDirectory } = await import("@belay/server/resident");
  const worker =
    working.worker === undefined ? (new RunDirectory(home).read()?.pid ?? null) : working.worker.pid;
  const { agent, cwd, environment, wait } = event;
  const text = await letGo(home, {
    event: { ...wait, agent, cwd, environment, input: event.input.toString("utf8"), worker },
    waitedMs: Date.now() - performance.timeOrigin,
    work: working.answer,
    problem,
  });
  return { text, isLeft: true };
}

/** What earlier hooks of the same turn have waited in vain. */
async function waitedInTurn(home: string, event: Omit<HookEvent, "wait">): Promise<number> {
  const { waitedBy } = await import("@belay/agents/late-answer");
  return waitedBy(home, { ...event, input: event.input.toString("utf8") });
}
