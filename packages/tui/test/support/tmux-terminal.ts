/** A real terminal: tmux with a shell in it, of a chosen size. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "vitest";

/** Why terminals cannot be tested here; undefined where they can. */
export const NO_TMUX =
  spawnSync("tmux", ["-V"]).status === 0
    ? undefined
    : "tmux is not installed: keys in a real terminal are not tested";

/** A shell in a terminal. */
export class TmuxTerminal implements AsyncDisposable {
  readonly #socket = `belay-${randomBytes(6).toString("hex")}`;

  constructor(
    columns: number,
    rows: number,
    { directory, env }: { directory: string; env: Readonly<Record<string, string>> },
  ) {
    const shell = ["env", "-i", ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const size = ["-x", String(columns), "-y", String(rows)];
    this.#tmux("-f", "/dev/null", "new-session", "-d", ...size, "-c", directory, ...shell, "sh", "-i");
  }

  #tmux(...words: string[]): string {
    return execFileSync("tmux", ["-L", this.#socket, ...words], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    });
  }

  /** What the window shows, without space at the ends of lines. */
  get text(): string {
    return this.#tmux("capture-pane", "-p").replaceAll(/ +$/gm, "");
  }

  /** Types text. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `j`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      this.#tmux("send-keys", key);
      await pause(60);
    }
  }

  async shows(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.text, { interval: 40 }).toMatch(text);
  }

  resize(columns: number, rows: number): void {
    this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Pastes text, as a terminal does that knows pasted text. */
  paste(text: string): void {
    this.#tmux("set-buffer", text);
    this.#tmux("paste-buffer", "-p");
  }

  /** Runs a command line of the shell and waits for its end. */
  async run(line: string): Promise<string> {
    const end = `end-${randomBytes(4).toString("hex")}`;
    this.type(`${line}; echo ${end.slice(0, 4)}''${end.slice(4)}\n`);
    await this.shows(end);
    return this.text;
  }

  /** The process that the shell runs in the foreground. */
  childOf(): number {
    const shell = this.#tmux("display-message", "-p", "#{pane_pid}").trim();
    return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").split(" ")[0]);
  }

  /** The screen and the modes of the terminal. */
  get flags(): string {
    return this.#tmux(
      "display-message",
      "-p",
      "alternate #{alternate_on} cursor #{cursor_flag} #{cursor_x},#{cursor_y} mouse #{mouse_any_flag} keypad #{keypad_flag}",
    ).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
