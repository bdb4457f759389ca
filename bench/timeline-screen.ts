/** How long `belay timeline` takes on a history that was made before: until its first rows show, and from a key to the screen. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { median, ms, type Row } from "./measure.ts";

const BELAY = join(import.meta.dirname, "../packages/cli/bin/belay");
const KEYS = 30;
const FIRST_ROWS_MS = 250;
const KEY_MS = 30;
/** Until the resident process has the workspace open. */
const RESIDENT_MS = 3000;
/** What an earlier key drew is over by then. */
const QUIET_MS = 100;
/** A process that was asked to end has ended by then. */
const END_MS = 30_000;
/** The first rows are there by then, or never. */
const START_DEADLINE_MS = 60_000;
/** A key and the next one that takes it back may fall into one frame, which then draws nothing: it counts as this long. */
const KEY_DEADLINE_MS = 5000;

/** The rows of the report, for the history that `measureTimeline` made in this place. */
export async function measureTimelineScreen(
  place: string,
  checkpoints: number,
  rounds: number,
): Promise<Row[]> {
  const [project, home] = [join(place, "timeline"), join(place, "timeline-home")];
  const resident = spawn(BELAY, ["--home", home, "serve", "--port", "0"], { cwd: project, stdio: "ignore" });
  try {
    await pause(RESIDENT_MS);
    const [starts, keys]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const terminal = new Terminal(project, home);
      starts.push(await terminal.until("Prompt "));
      for (let key = 0; key < KEYS; key += 1) keys.push(await terminal.press(key % 2 === 0 ? "j" : "k"));
      await terminal.end();
    }
    const row = (work: string, taken: number, budget: number): Row => {
      const holds = taken <= budget;
      return {
        work,
        files: checkpoints,
        belay: ms(taken),
        git: "",
        ratio: "",
        budget: `≤ ${budget} ms`,
        holds,
      };
    };
    return [
      row("belay timeline, start to first rows", median(starts), FIRST_ROWS_MS),
      row("belay timeline, a key to the screen", median(keys), KEY_MS),
    ];
  } finally {
    await end(resident);
  }
}

/** Ends a process and waits for its end: as long as it runs, no other one serves this home. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit", { signal: AbortSignal.timeout(END_MS) });
  child.kill("SIGTERM");
  await ended;
}

/** The timeline on a terminal of its own. */
class Terminal {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #started = performance.now();
  #text = "";
  #wake: (() => void) | undefined;

  constructor(project: string, home: string) {
    const line = `stty cols 80 rows 24; ${BELAY} --home ${home} timeline`;
    this.#child = spawn("script", ["-qfc", line, "/dev/null"], {
      cwd: project,
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, TERM: "xterm-256color", LC_ALL: "C.UTF-8" },
    });
    this.#child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      this.#text += piece;
      this.#wake?.();
    });
  }

  /** Milliseconds since the start until the terminal gets a text. */
  async until(text: string): Promise<number> {
    if (!(await this.#gets(() => this.#text.includes(text), START_DEADLINE_MS)))
      throw new Error(`The timeline did not show "${text}". It showed: ${JSON.stringify(this.#text)}`);
    return performance.now() - this.#started;
  }

  /** Milliseconds from a key until the terminal gets anything. */
  async press(key: string): Promise<number> {
    await pause(QUIET_MS);
    this.#text = "";
    const pressed = performance.now();
    this.#child.stdin.write(key);
    await this.#gets(() => this.#text !== "", KEY_DEADLINE_MS);
    return performance.now() - pressed;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((done) => this.#child.once("exit", done));
    this.#child.stdin.write("q");
    const timer = setTimeout(() => this.#child.kill(), KEY_DEADLINE_MS);
    await ended;
    clearTimeout(timer);
  }

  /** Whether it was there in time. */
  async #gets(isThere: () => boolean, within: number): Promise<boolean> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake?.();
    }, within);
    while (!isThere() && !isLate) await new Promise<void>((done) => (this.#wake = done));
    clearTimeout(timer);
    return isThere();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
