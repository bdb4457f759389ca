/**
 * Which events of a conversation were claimed, so that each is carried out once. The claims are lines of a file that only
 * grows: to create a file for each event takes up to a millisecond, to append a line takes microseconds. Lines that two
 * processes append at the same time stand in one order for both, so both agree on whose claim came first. Keys are hashed.
 */
import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { digest } from "../events/payload.ts";
import { isRunning } from "./is-running.ts";
import { makePrivateDirectory } from "./private-directory.ts";

/** The right to carry out an event. */
export interface Claim {
  /** When the event first arrived; null where its key tells it apart from all others. */
  readonly arrivedAt: number | null;
  /** The event is carried out; or it failed, and may be claimed again. */
  close(isDone: boolean): void;
}

/** An event that is delivered twice comes within seconds. */
const KEPT_MS = 10 * 60 * 1000;
/** Every claim reads the file. This much holds some thousand events. */
const MOST_BYTES = 256 * 1024;
/** Two settings files deliver the same event within moments; people and models take longer to repeat one. */
const REPEATED_MS = 2000;

/** The claims of one conversation. */
export class EventClaims {
  readonly #file: string;
  /** The claims before those. Kept until the next change, so that no claim is forgotten too soon. */
  readonly #before: string;

  constructor(directory: string) {
    this.#file = join(directory, "seen");
    this.#before = join(directory, "seen-before");
  }

  /**
   * The right to carry out the event with this key; null when another process has it, or had it and is done. With `arrivedAt`
   * the key does not tell two equal events apart: one that arrives two seconds later is a second event.
   */
  claim(key: string, arrivedAt?: number): Claim | null {
    if (arrivedAt === undefined) return this.#take(digest(key), null, this.#ownerOf(digest(key)));
    for (let occurrence = 0; ; occurrence += 1) {
      const name = digest(`${key}#${occurrence}`);
      const owner = this.#ownerOf(name);
      const first = owner?.arrivedAt ?? arrivedAt;
      if (Math.abs(arrivedAt - first) < REPEATED_MS) return this.#take(name, first, owner);
    }
  }

  wasClaimed(key: string): boolean {
    return this.#ownerOf(digest(key)) !== undefined;
  }

  /** Forgets old claims. */
  dropOld(now: number): void {
    const first = linesOf(readText(this.#file)).next().value;
    const since = first === undefined ? undefined : timeOf(first[2] ?? "");
    if (since !== undefined && since < now - KEPT_MS) this.#beginFile();
  }

  #take(name: string, arrivedAt: number | null, owner: Owner | undefined): Claim | null {
    if (owner !== undefined && (owner.isDone || isRunning(processOf(owner.token)))) return null;
    const token = newToken();
    this.#append(`${name} claim ${token} ${arrivedAt ?? NONE} ${owner?.token ?? NONE}`);
    if (this.#ownerOf(name)?.token !== token) return null;
    return { arrivedAt, close: (isDone) => this.#append(`${name} ${isDone ? "done" : "failed"} ${token}`) };
  }

  /** A line that a full disk cut off is not continued by the next one. */
  #append(line: string): void {
    const text = `\n${line}\n`;
    try {
      appendFileSync(this.#file, text, { mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      makePrivateDirectory(dirname(this.#file));
      appendFileSync(this.#file, text, { mode: 0o600 });
    }
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MOST_BYTES) this.#beginFile();
  }

  /** The next claim begins a new file. */
  #beginFile(): void {
    try {
      renameSync(this.#file, this.#before);
    } catch (error) {
      // another process did
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  /** Replays the lines of one event. */
  #ownerOf(name: string): Owner | undefined {
    let owner: Owner | undefined;
    // this file first: one that another process sets aside meanwhile is read then
    const newer = readText(this.#file);
    const older = readText(this.#before);
    for (const [, what, token = "", arrivedAt, over] of linesOf(older + newer, name)) {
      const isFree = owner === undefined || (!owner.isDone && over === owner.token);
      // a line that a full disk cut off claims nothing
      if (what === "claim" && over && isFree)
        owner = { token, arrivedAt: arrivedAt === NONE ? null : Number(arrivedAt), isDone: false };
      else if (what === "done" && owner?.token === token) owner = { ...owner, isDone: true };
      else if (what === "failed" && owner?.token === token) owner = undefined;
    }
    return owner;
  }
}

interface Owner {
  readonly token: string;
  readonly arrivedAt: number | null;
  readonly isDone: boolean;
}

const NONE = "-";

let claims = 0;

/** `<process>-<time>-<number>` */
function newToken(): string {
  return `${process.pid}-${Date.now()}-${(claims += 1)}`;
}

function processOf(token: string): number {
  return Number(token.split("-")[0]);
}

function timeOf(token: string): number | undefined {
  const time = Number(token.split("-")[1]);
  return Number.isFinite(time) ? time : undefined;
}

/** The words of each line, or of those that begin with a name. */
function* linesOf(text: string, name = ""): Generator<string[]> {
  const start = `\n${name}`;
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + 1)) {
    const end = text.indexOf("\n", at + 1);
    const words = text.slice(at + 1, end === -1 ? undefined : end).split(" ");
    if (words.length >= 3) yield words;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
