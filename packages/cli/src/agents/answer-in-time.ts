/**
 * The second half of an event's journey (`event-journey.ts` of the agents' package): the states that `belay hook` walks
 * through. It waits for the event to be carried out, but not longer than an agent may be held up. Every hook loads this file;
 * what only a late one needs is loaded then.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  beganAt,
  DEADLINES,
  eventId,
  hookDeadline,
  MOST_EVENT_BYTES,
  travel,
} from "@belay/agents/event-journey";
import type { HookWorker } from "./hook-worker.ts";
import type { HookEvent } from "./run-hook-alone.ts";

/** What the hook prints, and whether the event is still being carried out. */
export interface Answer {
  readonly text: string;
  /** True when the work continues without the hook, which must end without waiting for it. */
  readonly isLeft: boolean;
}

/** Has an event carried out, or leaves it behind at the deadline. */
export async function answerInTime(home: string, event: Omit<HookEvent, "wait">): Promise<Answer> {
  const deadline = hookDeadline({
    began: performance.timeOrigin,
    now: Date.now(),
    allowed: Number(process.env["BELAY_WAIT_MS"]),
    waited: existsSync(join(home, "agents", "overdue")) ? await waitedInTurn(home, event) : 0,
  });
  const trip = new Trip(home, { ...event, wait: { id: nameOfEvent(), deadline } });
  const end = await travel("delivering", trip);
  if (end === "answered" && Date.now() > deadline - DEADLINES.CLOSE_MS) await trip.clearNote();
  return { text: trip.text, isLeft: end === "left" || trip.isUnfinished };
}

/** `belay-hook` may have delivered the event already, under this name. */
function nameOfEvent(): string {
  const given = process.env["BELAY_EVENT"] ?? "";
  return beganAt(given) === undefined ? eventId(Date.now(), process.pid) : given;
}

/** One event on its way: each method is a state, and says what happened in it. */
class Trip {
  readonly #home: string;
  readonly #event: HookEvent;
  readonly #asked: Promise<string | undefined>;
  /** The answer of the process that carries the event out, whichever it is. */
  readonly #work: Promise<string>;
  #worker: HookWorker | undefined;
  #problem: string | undefined;
  /** What to print. */
  text = "";
  /** True when the work was still going on when the hook stopped waiting. */
  isUnfinished = false;

  constructor(home: string, event: HookEvent) {
    this.#home = home;
    this.#event = event;
    this.#asked = askResidentHook(home, event);
    this.#work = this.#asked.then((answer) => answer ?? this.#startWorker());
    this.#work.catch(() => undefined);
  }

  async delivering(): Promise<"answer" | "no resident" | "late"> {
    const heard = await beforeDeadline(this.#asked, this.#event.wait.deadline);
    if (heard === LATE) return "late";
    return heard === undefined ? "no resident" : this.#answered(heard);
  }

  async working(): Promise<"answer" | "failed" | "late"> {
    try {
      const heard = await beforeDeadline(this.#work, this.#event.wait.deadline);
      return heard === LATE ? "late" : this.#answered(heard);
    } catch (error) {
      this.#problem = (error as Error).message;
      return "failed";
    }
  }

  async leaving(): Promise<"just done" | "command" | "noted"> {
    this.isUnfinished = true;
    const { leaveEvent } = await import("@belay/agents/late-answer");
    const { RunDirectory } = await import("@belay/server/resident");
    const worker =
      this.#worker === undefined ? (new RunDirectory(this.#home).read()?.pid ?? null) : this.#worker.pid;
    const { agent, cwd, environment, wait, input } = this.#event;
    const { outcome, text } = await leaveEvent(this.#home, {
      event: { ...wait, agent, cwd, environment, input: input.toString("utf8"), worker },
      waitedMs: Date.now() - performance.timeOrigin,
      problem: this.#problem,
    });
    this.text = text;
    return outcome;
  }

  async waiting(): Promise<"answer" | "late"> {
    try {
      const heard = await beforeDeadline(this.#work, Date.now() + DEADLINES.COMMAND_MS);
      return heard === LATE ? "late" : this.#answered(heard);
    } catch {
      return "late";
    }
  }

  /** Work that ended close to the deadline may have presumed the hook gone. */
  async clearNote(): Promise<void> {
    const { clearNote } = await import("@belay/agents/late-answer");
    clearNote(this.#home, { ...this.#event, ...this.#event.wait });
  }

  #answered(text: string): "answer" {
    this.text = text;
    return "answer";
  }

  async #startWorker(): Promise<string> {
    const { startHookWorker } = await import("./hook-worker.ts");
    this.#worker = startHookWorker(this.#home, this.#event);
    return this.#worker.answer;
  }
}

async function askResidentHook(home: string, event: HookEvent): Promise<string | undefined> {
  const { agent, input, cwd, environment, wait } = event;
  if (input.length > MOST_EVENT_BYTES) return undefined;
  const { askResident } = await import("../resident/ask-resident.ts");
  const body = JSON.stringify({ input: input.toString("utf8"), cwd, environment, wait });
  const path = `/api/hooks/${encodeURIComponent(agent)}`;
  const said = await askResident(home, (client) => client.send({ method: "POST", path, body }), {
    start: true,
    directory: cwd,
  });
  return (said as { answer?: string } | undefined)?.answer;
}

const LATE = Symbol("late");

async function beforeDeadline<Value>(work: Promise<Value>, deadline: number): Promise<Value | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function waitedInTurn(home: string, event: Omit<HookEvent, "wait">): Promise<number> {
  const late = await import("@belay/agents/late-answer");
  return late.waitedInTurn(home, { ...event, input: event.input.toString("utf8") });
}
