/** A window of a chosen size with screens in it: what it shows, and keys for it. */
import { render } from "ink-testing-library";
import type { ReactElement } from "react";
import { expect } from "vitest";
import type { Place } from "../../src/data/connection.ts";
import { Source, SourceProvider } from "../../src/data/source.tsx";
import { FrameView } from "../../src/frame/frame.tsx";
import type { ColourDepth } from "../../src/terminal/colours.ts";
import { ASCII, UNICODE } from "../../src/terminal/signs.ts";
import { displayWidth } from "../../src/text/display-width.ts";

/** How the window is. */
export interface WindowOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly ascii?: boolean;
  readonly depth?: ColourDepth;
  readonly place?: Place;
}

/** What terminals send for named keys. */
export const KEYS = {
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  enter: "\r",
  esc: "\u001b",
  tab: "\t",
  pageUp: "\u001b[5~",
  pageDown: "\u001b[6~",
  backspace: "\u007f",
} as const;

/** An open window. */
export class Window implements AsyncDisposable {
  readonly written: string[] = [];
  exit: number | undefined;
  readonly #app: ReturnType<typeof render>;
  readonly #source: Source;

  static async open(first: ReactElement, options: WindowOptions = {}): Promise<Window> {
    const window = new Window(first, options);
    // a key that comes before the screens listen is lost
    await expect.poll(() => window.#app.stdin.listenerCount("readable")).toBeGreaterThan(0);
    await window.resize(options.columns ?? 80, options.rows ?? 24);
    return window;
  }

  private constructor(first: ReactElement, options: WindowOptions) {
    const { ascii = false, depth = "none" } = options;
    this.#source = new Source(options.place ?? NOWHERE);
    this.#app = render(
      <SourceProvider value={this.#source}>
        <FrameView
          signs={ascii ? ASCII : UNICODE}
          depth={depth}
          first={first}
          quit={(exit) => (this.exit = exit)}
          write={(sequence) => void this.written.push(sequence)}
        />
      </SourceProvider>,
    );
  }

  async resize(columns: number, rows: number): Promise<void> {
    Object.defineProperty(this.#app.stdout, "columns", { configurable: true, value: columns });
    Object.defineProperty(this.#app.stdout, "rows", { configurable: true, value: rows });
    this.#app.stdout.emit("resize");
    await this.#settled();
  }

  /** What the terminal gets, with colours. */
  get raw(): string {
    return this.#app.lastFrame() ?? "";
  }

  /** The lines without colours and without the space at their ends; none is wider than the window. */
  get lines(): string[] {
    // oxlint-disable-next-line no-control-regex -- colours
    const lines = this.raw.split("\n").map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ""));
    const { columns, rows } = this.#app.stdout as unknown as { columns: number; rows: number };
    for (const line of lines) expect(displayWidth(line), line).toBeLessThanOrEqual(columns);
    expect(lines.length).toBeLessThanOrEqual(rows);
    return lines.map((line) => line.trimEnd());
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** Presses keys one after the other, as a person does. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      this.#app.stdin.write(key);
      await this.#settled();
    }
  }

  /** Moves the pointer down until the window shows something. */
  async pointTo(text: RegExp): Promise<void> {
    for (let rows = 0; rows < MOST_ROWS && !text.test(this.text); rows += 1) await this.press(KEYS.down);
    expect(this.text).toMatch(text);
  }

  /** Waits until the window shows something. */
  async shows(text: string | RegExp): Promise<string> {
    await expect.poll(() => this.text, { interval: 10 }).toMatch(text);
    return this.text;
  }

  /**
   * Waits until what was sent is taken and drawn. Ink holds a lone escape back for a moment: it may be the beginning of a
   * longer key. A busy machine may run this timer late, and then before what was to be drawn: that has its turn first.
   */
  async #settled(): Promise<void> {
    await new Promise((done) => setTimeout(done, HELD_BACK_MS));
    for (let quiet = 0, frames = -1; quiet < QUIET_TURNS; quiet += 1) {
      if (frames !== this.#app.frames.length) quiet = 0;
      frames = this.#app.frames.length;
      await new Promise((done) => setImmediate(done));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#app.unmount();
    this.#app.cleanup();
    await this.#source.stop();
  }
}

const HELD_BACK_MS = 30;
/** Turns of the event loop without a new frame. */
const QUIET_TURNS = 10;
/** More than any list of a test has. */
const MOST_ROWS = 50;

/** For screens that ask no one. */
const NOWHERE: Place = {
  workspace: "none",
  name: "none",
  connect: () => Promise.reject(new Error("this window has no workspace")),
  clock: Date.now,
  expectsResident: false,
};
