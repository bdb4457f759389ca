/**
 * Events that took longer than an agent may wait (`events/event-journey.ts`). The hook leaves a note that holds the whole
 * event, and ends. The process that carries the event out removes the note when it is done; if that process died, the next
 * event from the same place carries out the noted one first. A hook that leaves and work that ends may meet: both try to
 * create the note, and the second of them removes it.
 * The directory exists only while something is overdue: a hook pays one look for it.
 */
import { linkSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DEADLINES } from "../events/event-journey.ts";
import { digest, isObject, parsePayload, textOf } from "../events/payload.ts";
import { isRunning } from "./is-running.ts";
import { makePrivateDirectory } from "./private-directory.ts";

/** An event as the agent wrote it to its hook. */
export interface SentEvent {
  readonly agent: string;
  readonly input: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** An event whose hook left before it was carried out. */
export interface OverdueEvent extends SentEvent {
  readonly id: string;
  /** When the agent went on. */
  readonly deadline: number;
  /** The process that carries it out; null where it is not known. */
  readonly worker: number | null;
}

const POLL_MS = 20;

/** Events that this process is carrying out, overdue or not. */
const atWork = new Set<string>();

/** The notes of one place: an agent's hooks in one directory. */
export class OverduePlace {
  readonly #parent: string;
  readonly #directory: string;

  constructor(home: string, { agent, cwd }: Pick<SentEvent, "agent" | "cwd">) {
    this.#parent = overdueDirectory(home);
    this.#directory = join(this.#parent, digest(agent, cwd));
  }

  /** How long late hooks of this turn have waited. */
  waited(): number {
    return Number(readText(join(this.#directory, WAITED))) || 0;
  }

  /** Adds the wait of a hook that leaves. */
  addWait(ms: number): void {
    const waited = this.waited() + ms;
    makePrivateDirectory(this.#directory);
    writeFileSync(join(this.#directory, WAITED), String(Math.round(waited)), { mode: 0o600 });
  }

  /** Forgets the waits of the turn before. */
  newTurn(): void {
    rmSync(join(this.#directory, WAITED), { force: true });
    this.#tidy();
  }

  /** The hook leaves; false when the work ended at the same moment. */
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

  /** The work is done; close to its deadline, its hook may be leaving. */
  finished(id: string, sinceDeadlineMs: number): void {
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

  /** Call when the hook got its answer after all, or ended long ago. */
  answered(id: string): void {
    rmSync(this.#note(id), { force: true });
    this.#tidy();
  }

  /** Runs `work` as the work on an event: no later event takes it for abandoned. */
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
   * Abandoned events of this place that are older than one, oldest first. Waits for those that another living process is
   * carrying out.
   */
  async *leftBehind(before: string | undefined): AsyncGenerator<OverdueEvent> {
    const isEarlier = (name: string) => isNote(name) && (before === undefined || name < before);
    for (const name of namesIn(this.#directory).filter(isEarlier).toSorted()) {
      const path = join(this.#directory, name);
      const until = Date.now() + DEADLINES.EARLIER_MS;
      for (let event = readEvent(path); event !== undefined; event = readEvent(path)) {
        const isElsewhere = event.worker !== null && event.worker !== process.pid && isRunning(event.worker);
        if (isElsewhere && Date.now() < until) {
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

/** There only while an event is overdue, or a turn has hooks that waited. */
function overdueDirectory(home: string): string {
  return join(home, "agents", "overdue");
}

/** Every event whose hook left and that is not carried out yet. */
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

/** Undefined also for the empty note of work whose hook never came to remove it. */
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

/** True for exactly one of the processes that try. */
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
