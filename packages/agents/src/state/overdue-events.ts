/**
 * Events that took longer than an agent may wait. Its hook leaves a note with the whole event and goes; whoever carries
 * the event out takes the note away when it is done. A note whose process died over it is made up for with the
 * next event from the same place. One name decides between a hook that leaves and work that ends in the same
 * moment: both try to make the note, and the second takes it away.
 * The directory is there only while something is overdue: a hook pays one look for it.
 */
import { linkSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DEADLINES } from "../events/event-journey.ts";
import { digest, isObject, parsePayload, textOf } from "../events/payload.ts";
import { isRunning } from "./is-running.ts";
import { makePrivateDirectory } from "./private-directory.ts";

/** An event as a hook was given it. */
export interface SentEvent {
  readonly agent: string;
  readonly input: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface OverdueEvent extends SentEvent {
  readonly id: string;
  /** When the agent was let go on. */
  readonly deadline: number;
  /** The process that was asked to carry it out. */
  readonly worker: number | null;
}

const POLL_MS = 20;

/** Events that this process is at, overdue or not. */
const atWork = new Set<string>();

/** The notes of one place: an agent's hooks in one directory. */
export class OverduePlace {
  readonly #parent: string;
  readonly #directory: string;

  constructor(home: string, { agent, cwd }: Pick<SentEvent, "agent" | "cwd">) {
    this.#parent = overdueDirectory(home);
    this.#directory = join(this.#parent, digest(agent, cwd));
  }

  /** How long hooks of this turn have waited in vain. */
  waited(): number {
    return Number(readText(join(this.#directory, WAITED))) || 0;
  }

  addWait(ms: number): void {
    const waited = this.waited() + ms;
    makePrivateDirectory(this.#directory);
    writeFileSync(join(this.#directory, WAITED), String(Math.round(waited)), { mode: 0o600 });
  }

  newTurn(): void {
    rmSync(join(this.#directory, WAITED), { force: true });
    this.#tidy();
  }

  /** The hook goes; false when the event was carried out in the same moment. */
  leave(event: OverdueEvent): boolean {
    makePrivateDirectory(this.#directory);
    const draft = join(this.#directory, `${event.id}.draft`);
    writeFileSync(draft, JSON.stringify(event), { mode: 0o600 });
    try {
      linkSync(draft, this.#note(event.id));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      rmSync(this.#note(event.id), { force: true });
      return false;
    } finally {
      rmSync(draft, { force: true });
      this.#tidy();
    }
  }

  /** The work is done; at its deadline its hook may just be leaving. */
  settle(id: string, sinceDeadlineMs: number): void {
    if (sinceDeadlineMs < -DEADLINES.LEAVING_MS) return;
    if (sinceDeadlineMs > DEADLINES.LEFT_MS) return this.answered(id);
    makePrivateDirectory(this.#directory);
    try {
      writeFileSync(this.#note(id), "", { flag: "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      rmSync(this.#note(id), { force: true });
      this.#tidy();
    }
  }

  /** The hook had its answer after all, or left long ago. */
  answered(id: string): void {
    rmSync(this.#note(id), { force: true });
    this.#tidy();
  }

  /** Runs `work` as the work on an event: others wait for it, and nobody takes it for left behind. */
  async during<Result>(id: string | undefined, work: () => Promise<Result>): Promise<Result> {
    if (id === undefined) return work();
    atWork.add(id);
    try {
      return await work();
    } finally {
      atWork.delete(id);
    }
  }

  /**
   * Events of this place, older than one, that nobody is at any more, oldest first; waits for those that another
   * process is at.
   */
  async *leftBehind(before: string | undefined): AsyncGenerator<OverdueEvent> {
    const isEarlier = (name: string) => isNote(name) && (before === undefined || name < before);
    for (const name of namesIn(this.#directory).filter(isEarlier).toSorted()) {
      const path = join(this.#directory, name);
      const until = Date.now() + DEADLINES.EARLIER_MS;
      for (let event = readEvent(path); event !== undefined; event = readEvent(path)) {
        const isOthers = event.worker !== null && event.worker !== process.pid && isRunning(event.worker);
        if (isOthers && Date.now() < until) {
          await pause(POLL_MS);
          continue;
        }
        if (atWork.has(event.id) || !take(path)) break;
        this.#tidy();
        yield event;
      }
    }
  }

  #note(id: string): string {
    return join(this.#directory, `${id}.json`);
  }

  #tidy(): void {
    for (const directory of [this.#directory, this.#parent]) {
      try {
        rmdirSync(directory);
      } catch {
        // not empty, or not there
      }
    }
  }
}

/** There only while something is overdue, or a turn has waited in vain. */
function overdueDirectory(home: string): string {
  return join(home, "agents", "overdue");
}

/** Every event that was left and is not carried out yet. */
export function listOverdue(home: string): OverdueEvent[] {
  const parent = overdueDirectory(home);
  return namesIn(parent)
    .flatMap((place) => namesIn(join(parent, place)).map((name) => join(parent, place, name)))
    .filter(isNote)
    .flatMap((path) => readEvent(path) ?? [])
    .toSorted((a, b) => a.deadline - b.deadline);
}

const WAITED = "waited";

function isNote(name: string): boolean {
  return name.endsWith(".json");
}

/** Undefined also for the empty note of work whose hook never came back. */
function readEvent(path: string): OverdueEvent | undefined {
  const note = parsePayload(readText(path) ?? "");
  const id = note === undefined ? null : textOf(note, "id");
  if (note === undefined || id === null) {
    dropIfStale(path);
    return undefined;
  }
  const { environment, worker, deadline, input } = note;
  return {
    id,
    agent: textOf(note, "agent") ?? "",
    cwd: textOf(note, "cwd") ?? "",
    input: typeof input === "string" ? input : "",
    environment: isObject(environment) ? (environment as NodeJS.ProcessEnv) : {},
    deadline: typeof deadline === "number" ? deadline : 0,
    worker: typeof worker === "number" ? worker : null,
  };
}

const STALE_MS = 10_000;

function dropIfStale(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && Date.now() - stat.mtimeMs > STALE_MS) rmSync(path, { force: true });
}

/** True for one of those who try. */
function take(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
