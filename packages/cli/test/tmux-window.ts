/** A window of a real terminal program, to press keys in. */
import { spawnSync } from "node:child_process";

/** Whether there is one. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
if (!hasTmux)
  console.log(
    "No tmux is installed: keys in a real terminal are not tested. `apt-get install tmux` brings it.",
  );

/** A window with a program in it, 80 × 24 unless said otherwise. */
export class TmuxWindow implements Disposable {
  readonly #socket = `belay-test-${process.pid}-${Math.random()}`;

  constructor(
    program: readonly string[],
    options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
    { columns = 80, rows = 24 }: { readonly columns?: number; readonly rows?: number } = {},
  ) {
    const size = ["-x", String(columns), "-y", String(rows)];
    const session = ["-u", "-f", "/dev/null", "new-session", "-d", ...size, ...program];
    this.#tmux(session, options);
  }

  /** Presses keys by tmux's names for them; other words are typed letter by letter. */
  type(...keys: string[]): void {
    this.#tmux(["send-keys", ...keys]);
  }

  /** What the window shows. `joined`: lines that the terminal had to break are one again. */
  screen({ joined = false } = {}): string {
    return this.#tmux(["capture-pane", "-p", ...(joined ? ["-J"] : [])]).trimEnd();
  }

  #tmux(
    args: readonly string[],
    options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ): string {
    return spawnSync("tmux", ["-L", this.#socket, ...args], { ...options, encoding: "utf8" }).stdout;
  }

  [Symbol.dispose](): void {
    this.#tmux(["kill-server"]);
  }
}
