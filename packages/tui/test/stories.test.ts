/** The stories of going back, by keys in a real terminal: afterwards the files are what the screen said. */
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTmux, TmuxWindow } from "../../cli/test/tmux-window.ts";

const BELAY = join(import.meta.dirname, "../../cli/bin/belay.js");
const LINES = Array.from({ length: 30 }, (_, number) => `line ${number}\n`).join("");
const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 36 },
  { columns: 60, rows: 16 },
] as const;

/** A terminal takes its time on a busy machine. */
const PATIENCE_MS = 120_000;

/** A project on which two agents worked, and a terminal on its timeline. */
class Terminal implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "belay-story-")));
  readonly project = join(this.base, "project");
  #window: TmuxWindow | undefined;

  constructor() {
    this.write("a.txt", LINES);
    this.write("old.txt", "old\n");
    this.belay("init", "--no-agents", "--yes");
    this.run(
      "claude-code",
      "sed -i 's/line 2$/two/; s/line 27$/twenty-seven/' a.txt; rm old.txt; echo new > new.txt",
    );
    this.run("codex", "mkdir docs; echo api > docs/api.md");
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.project, path)), { recursive: true });
    writeFileSync(join(this.project, path), content);
  }

  run(agent: string, script: string): void {
    this.belay("run", "--agent", agent, "--", "sh", "-c", script);
  }

  belay(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BELAY, ...this.#line(...args)], {
      encoding: "utf8",
      env: this.#env,
    });
    if (status !== 0) throw new Error(`belay ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** All files with their text. */
  tree(): Record<string, string> {
    const names = readdirSync(this.project, { recursive: true, encoding: "utf8" }).sort();
    const files = names.filter((name) => statSync(join(this.project, name)).isFile());
    return Object.fromEntries(files.map((name) => [name, readFileSync(join(this.project, name), "utf8")]));
  }

  /** Opens the timeline; when it ends, its exit code is on the screen. */
  async open(size: (typeof SIZES)[number]): Promise<void> {
    this.#window?.[Symbol.dispose]();
    const command = ["timeline"]
      .flatMap((word) => this.#line(word))
      .map((word) => `'${word}'`)
      .join(" ");
    const program = `'${process.execPath}' '${BELAY}' ${command}; echo "ended with $?"; sleep 60`;
    this.#window = new TmuxWindow(["sh", "-c", program], { cwd: this.base, env: this.#env }, size);
    await this.shows("navigate");
  }

  /** Presses keys, each when the one before was drawn, then waits for the screen to show something. */
  async press(keys: readonly string[], text: string | RegExp): Promise<string> {
    for (const key of keys) {
      this.#window!.type(key);
      await new Promise((done) => setTimeout(done, 150));
    }
    return this.shows(text);
  }

  async shows(text: string | RegExp): Promise<string> {
    await expect.poll(() => this.#window!.screen(), { interval: 50 }).toMatch(text);
    return this.#window!.screen();
  }

  verified(): void {
    this.belay("verify", "--full");
  }

  #line(...args: string[]): string[] {
    return ["--home", join(this.base, "home"), "-C", this.project, ...args];
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, BELAY_RESIDENT: "off", LANG: "C.UTF-8", TERM: "xterm-256color" };
  }

  [Symbol.dispose](): void {
    this.#window?.[Symbol.dispose]();
    rmSync(this.base, { recursive: true, force: true });
  }
}

describe.skipIf(!hasTmux)("by keys in a real terminal", () => {
  test(
    "[S2] [S3] [S4] [L05] undo, redo and undo only this, at 80 × 24",
    async () => {
      using terminal = new Terminal();
      await terminal.open(SIZES[0]);
      const before = terminal.tree();
      await terminal.press(["u"], /Undo the last turn of codex, \d\d:\d\d:\d\d\?/);
      expect(terminal.tree()).toEqual(before);
      await terminal.press(["y"], "✓ Undone: turn of codex");
      const { "docs/api.md": api, ...without } = before;
      expect(terminal.tree()).toEqual(without);
      await terminal.press(["r"], "y redo 1 file");
      await terminal.press(["y"], "✓ Redone");
      expect(terminal.tree()).toEqual(before);
      // the turn of claude-code is the second row
      await terminal.press(["j"], /› .* sh -c 'sed/);
      await terminal.press(["R"], "Undo only this turn of claude-code");
      await terminal.press(["y"], "✓ Undone");
      expect(terminal.tree()).toEqual({ "a.txt": LINES, "old.txt": "old\n", "docs/api.md": api });
      await terminal.press(["u"], "y undo 3 files");
      await terminal.press(["y"], "✓ Undone");
      expect(terminal.tree()).toEqual(before);
      terminal.verified();
    },
    PATIENCE_MS,
  );

  test(
    "[S5] [S6] [S14] restore a state with its conversation, one file, one hunk, at 120 × 36",
    async () => {
      using terminal = new Terminal();
      await terminal.open(SIZES[1]);
      const before = terminal.tree();
      await terminal.press(["j"], /› .* sh -c 'sed/);
      await terminal.press(["Enter"], "y restore 3 files");
      // Enter moves or unfolds, nothing else
      await terminal.press(["Enter", "Enter", "b"], "(b) both");
      expect(terminal.tree()).toEqual(before);
      await terminal.shows("y restore 3 files");
      const said = await terminal.press(["y"], "✓ Restored 3 files");
      expect(said).toContain("Left alone: codex's docs/api.md.");
      expect(terminal.tree()).toEqual({ "a.txt": LINES, "old.txt": "old\n", "docs/api.md": "api\n" });
      await terminal.press(["u"], "y undo 3 files");
      await terminal.press(["y"], "✓ Undone");
      expect(terminal.tree()).toEqual(before);
      await terminal.open(SIZES[1]);
      await terminal.press(["j"], /› .* sh -c 'mkdir/);
      await terminal.press(["j"], /› .* sh -c 'sed/);
      const diff = await terminal.press(["d"], "h undo this hunk");
      expect(diff).toContain("a.txt");
      await terminal.press(["h"], "y undo 1 file");
      await terminal.press(["y"], "✓ Undone");
      expect(terminal.tree()).toEqual({ ...before, "a.txt": before["a.txt"]!.replace("two\n", "line 2\n") });
      terminal.verified();
    },
    PATIENCE_MS,
  );

  test(
    "[S8] [S9] [A36] [A37] [A38] approve and reset what is pending, at 60 × 16",
    async () => {
      using terminal = new Terminal();
      await terminal.open(SIZES[2]);
      const before = terminal.tree();
      await terminal.press(["p"], "4 files in 2 threads");
      await terminal.press(["A"], "Message (may stay empty)");
      await terminal.press(["o", "k", "X"], "okX");
      await terminal.press(["Enter"], "✓ Approved 1 file");
      expect(terminal.tree()).toEqual(before);
      await terminal.press(["j"], "› claude-code");
      await terminal.press(["X"], "y reset 3 files");
      expect(terminal.tree()).toEqual(before);
      await terminal.press(["y"], "✓ Reset 3 files");
      expect(terminal.tree()).toEqual({ "a.txt": LINES, "old.txt": "old\n", "docs/api.md": "api\n" });
      // the two in one piece would be another key
      await terminal.press(["Escape"], "navigate");
      await terminal.press(["u"], "y undo 3 files");
      await terminal.press(["y"], "✓ Undone");
      expect(terminal.tree()).toEqual(before);
      terminal.verified();
    },
    PATIENCE_MS,
  );

  test(
    "Ctrl-C in each question leaves the terminal and the files as they were",
    async () => {
      using terminal = new Terminal();
      terminal.write("docs/api.md", "by hand\n");
      const before = terminal.tree();
      for (const [index, steps] of (
        [
          [["Enter", "y restore"]],
          [["u", "Not undone: 1 of 1 file"]],
          [
            ["u", "Not undone: 1 of 1 file"],
            ["Enter", "Conflicts 1 of 1"],
          ],
          [
            ["p", "in 2 threads"],
            ["A", "Message (may stay empty)"],
          ],
        ] as const
      ).entries()) {
        await terminal.open(SIZES[index % 3]!);
        for (const [key, text] of steps) await terminal.press([key], text);
        const screen = await terminal.press(["C-c"], "ended with 130");
        expect(screen.trim()).toBe("ended with 130");
        expect(terminal.tree()).toEqual(before);
      }
    },
    PATIENCE_MS,
  );

  test(
    "text pasted into a question answers nothing, and neither does a key that is held down",
    async () => {
      using terminal = new Terminal();
      await terminal.open(SIZES[0]);
      const before = terminal.tree();
      // what a held key sends: the same letter again and again
      await terminal.press(["u"], "y undo 1 file");
      await terminal.press(["Escape"], "navigate");
      await terminal.press(["u", "u", "u", "yyyy"], "y undo 1 file");
      expect(terminal.tree()).toEqual(before);
    },
    PATIENCE_MS,
  );
});
