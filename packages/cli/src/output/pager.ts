/**
 * Long output goes through a pager, as git's does: one that fits the window is printed as it is. Warnings go the same
 * way, so that they do not write over the pager's screen.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { displayWidth } from "@belay/tui/text";

/** Output on its way to a terminal, perhaps that of another process. */
export interface SentText {
  readonly to: "stdout" | "stderr";
  readonly text: string;
}

/** The pager of `BELAY_PAGER`, else of `PAGER`, else `less`; undefined where the user wants none. */
export function pagerCommand(environment: NodeJS.ProcessEnv): string | undefined {
  const { BELAY_PAGER, PAGER, TERM } = environment;
  const command = (BELAY_PAGER ?? PAGER ?? (TERM === "dumb" ? "" : DEFAULT)).trim();
  return command === "" || command === "cat" ? undefined : command;
}

const DEFAULT = "less";
/** For a `less` that the user has not set up: end if it fits, keep colours, leave the text on the screen. */
const LESS = "FRX";
/** The shell's codes for a program that it cannot start. */
const NOT_STARTED = new Set([126, 127]);
const INTERRUPTED = 130;

/** Where the text goes without a pager, and how much of it fits. */
export interface Window {
  readonly rows: number;
  readonly columns: number;
  readonly write: (text: SentText) => void;
}

/** Keeps what is sent until it is more than the window shows; from then on a pager has it. */
export class Pager {
  readonly #command: string;
  readonly #window: Window;
  readonly #texts: SentText[] = [];
  #lines = 0;
  #running: { readonly child: ChildProcess; readonly ended: Promise<PagerEnd> } | undefined;

  constructor(command: string, window: Window) {
    this.#command = command;
    this.#window = window;
  }

  send(sent: SentText): void {
    this.#texts.push(sent);
    if (this.#running !== undefined) this.#running.child.stdin?.write(sent.text);
    else if (this.#isMoreThanFits(sent.text)) this.#start();
  }

  /** Resolves when the user has left the pager; with an exit code if an interrupt ended it. */
  async end(): Promise<number | undefined> {
    if (this.#running === undefined) {
      this.#writeDirectly();
      return undefined;
    }
    const { child, ended } = this.#running;
    child.stdin?.end();
    const { code, signal } = await ended;
    if (code !== null && NOT_STARTED.has(code)) this.#writeDirectly();
    return signal === "SIGINT" || code === INTERRUPTED ? INTERRUPTED : undefined;
  }

  /** One line stays free for the pager's own prompt, or for the shell's. */
  #isMoreThanFits(text: string): boolean {
    const { rows, columns } = this.#window;
    for (const line of text.replace(/\n$/, "").split("\n"))
      this.#lines += Math.max(1, Math.ceil(displayWidth(line) / columns));
    return this.#lines > rows - 1;
  }

  #start(): void {
    const child = spawn(this.#command, {
      shell: this.#command !== DEFAULT,
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...process.env, LESS: process.env["LESS"] ?? LESS, LV: process.env["LV"] ?? "-c" },
    });
    // the user may leave before everything is read
    child.stdin?.on("error", () => undefined);
    this.#running = { child, ended: endOf(child) };
    for (const { text } of this.#texts) child.stdin?.write(text);
  }

  #writeDirectly(): void {
    for (const text of this.#texts.splice(0)) this.#window.write(text);
  }
}

interface PagerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Ctrl-C is the pager's while it runs: it may mean "stop searching". */
function endOf(child: ChildProcess): Promise<PagerEnd> {
  const leaveToPager = () => undefined;
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on("SIGINT", leaveToPager);
  process.on("SIGTERM", passOn);
  return new Promise<PagerEnd>((resolve) => {
    child.once("error", () => resolve({ code: 127, signal: null }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  }).finally(() => {
    process.off("SIGINT", leaveToPager);
    process.off("SIGTERM", passOn);
  });
}
