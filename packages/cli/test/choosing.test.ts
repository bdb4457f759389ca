/** Going back by choice on the command line: paths, patterns, -i, previews that fold, the diff in the question. */
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { displayWidth } from "@belay/tui/text";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

const LINES = Array.from({ length: 40 }, (_, at) => `${at}\n`).join("");
const CHANGED = LINES.replace("3\n", "three\n").replace("35\n", "thirty-five\n");

let sandbox: Sandbox;
const exists = (path: string) => existsSync(sandbox.path(path));

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "src/a.txt": LINES, "b.md": "b\n", "gone.txt": "gone\n" });
  sandbox.ok("run", "--agent", "codex", "--", "sh", "-c", WORK);
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** What the agent does: two changes of one file, a new directory with four files, one with one, a deletion. */
const WORK = `sed -i 's/^3$/three/;s/^35$/thirty-five/' src/a.txt; echo B > b.md; rm gone.txt;
  mkdir -p new/deep one; for i in 1 2 3 4; do echo $i > new/deep/$i; done; echo 1 > one/file`;

describe("paths and patterns", () => {
  test("[R232] [R234] undo takes them after the number of steps, and its step stays", () => {
    const said = sandbox.ok("undo", "src", "--yes");
    expect(said).toMatch(/~ restore +src\/a\.txt[^]*Undone in part: turn of codex .* \(1 changed; .*\)\n/);
    // it is a step of its own: a redo would not bring it back
    expect(said).toMatch(/→ `belay undo` takes this back\.\n$/);
    expect(sandbox.read("src/a.txt")).toBe(LINES);
    expect(sandbox.read("b.md")).toBe("B\n");
    sandbox.ok("undo", "--yes");
    expect(sandbox.read("src/a.txt")).toBe(CHANGED);
    sandbox.ok("undo", "1", "*.md", "gone.txt", "--yes");
    expect(sandbox.read("b.md")).toBe("b\n");
    expect(sandbox.read("gone.txt")).toBe("gone\n");
    expect(sandbox.belay(["undo", "2", "*.rs"])).toMatchObject({ status: 4, stdout: "" });
  });

  test("[R234] restore and revert take patterns, relative to the directory they are typed in", () => {
    const inSource = { cwd: sandbox.path("src") };
    expect(sandbox.belay(["restore", "1", "*.txt", "--yes"], inSource).status).toBe(0);
    expect(sandbox.read("src/a.txt")).toBe(LINES);
    expect(exists("gone.txt")).toBe(false);
    const turn = sandbox.json(["list", "--kind", "turn"]).checkpoints[0];
    sandbox.ok("revert", turn.id, "new/**/[12]", "--yes");
    expect(["1", "2", "3"].map((name) => exists(`new/deep/${name}`))).toEqual([false, false, true]);
  });

  test("[R230] restore --leave-others leaves alone what only other threads changed", () => {
    sandbox.ok("run", "--agent", "claude-code", "--", "sh", "-c", "echo more > b.md; echo c > c.txt");
    const before = sandbox.json(["list"]).checkpoints.find(({ seq }: any) => seq === 2);
    const plan = sandbox.ok("restore", before.id, "--leave-others", "--dry-run");
    expect(plan).toMatch(/Work of claude-code .*, left alone:\n +c\.txt/);
    sandbox.ok("restore", before.id, "--leave-others", "--yes");
    expect([sandbox.read("c.txt"), exists("new")]).toEqual(["c\n", false]);
  });
});

describe("previews", () => {
  test("[R237] begin with what is deleted; in a pipe they are complete, and no file stands there twice", () => {
    const lines = sandbox.ok("undo", "--dry-run").split("\n");
    expect(lines.slice(1, -2).map((line) => line.trim().split(/ {2,}/).slice(0, 2).join(" "))).toEqual([
      "- delete new/",
      "- delete new/deep/",
      "- delete new/deep/1",
      "- delete new/deep/2",
      "- delete new/deep/3",
      "- delete new/deep/4",
      "- delete one/",
      "- delete one/file",
      "~ restore b.md",
      "~ restore src/a.txt",
      "+ create gone.txt",
    ]);
  });

  test("[R237] a file that was changed by hand too is marked and stands once", () => {
    sandbox.write("src/a.txt", CHANGED.replace("20\n", "by hand\n"));
    const preview = sandbox.ok("undo", "--dry-run");
    expect(preview).toMatch(/~ merge +src\/a\.txt +\+2 -2 +by hand too/);
    const [, ...list] = preview.split("\n");
    expect(list.filter((line) => line.includes("src/a.txt"))).toHaveLength(1);
  });

  test("[Y16] --dry-run -p in a pipe is a patch that git applies; -p without --dry-run is refused", () => {
    const patch = sandbox.ok("undo", "--dry-run", "-p", "src", "b.md");
    expect(patch).toMatch(/^diff --git a\/b\.md b\/b\.md\n[^]*-three\n\+3\n/);
    expect(sandbox.belay(["undo", "-p"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--dry-run"),
    });
    for (const options of [["--yes"], ["--dry-run"], []])
      expect(sandbox.belay(["undo", "-i", ...options]).status).toBe(2);
    expect(sandbox.read("src/a.txt")).toBe(CHANGED);
  });
});

describe.skipIf(!hasTmux)("on a terminal", () => {
  const open = (args: readonly string[], columns = 80) => {
    const words = [process.execPath, LAUNCHER, ...args].map((word) => `'${word}'`).join(" ");
    const env = { ...sandbox.environment, TERM: "xterm", BELAY_RESIDENT: "off", PS1: "$ ", LESS: "FRX" };
    const options = { cwd: sandbox.project, env };
    return new TmuxWindow(["sh", "-c", `${words}; echo code $?; cat`], options, { columns, rows: 50 });
  };
  const shows = async (window: TmuxWindow, pattern: RegExp) => {
    await expect.poll(() => window.screen()).toMatch(pattern);
  };

  test("[R237] a preview folds directories; d shows the diff and asks again; n changes nothing", async () => {
    using window = open(["undo"]);
    await shows(window, /\[y\/N\/d\]$/);
    expect(window.screen()).toMatch(/- delete +new\/ +4 files\n +- delete +one\/file +-1\n/);
    window.type("d", "Enter");
    await shows(window, /^diff --git a\/b\.md[^]*\n:$/);
    window.type("q");
    await shows(window, /\[y\/N\/d\]$/);
    window.type("n", "Enter");
    await shows(window, /Nothing was changed\.\ncode 3/);
    expect(sandbox.read("src/a.txt")).toBe(CHANGED);
  });

  test.each([40, 80, 200])(
    "[R236] [M27] -i switches files off and chooses single changes, at %i columns",
    async (columns) => {
      using window = open(["undo", "-i"], columns);
      await shows(window, /Undo 8 files\? \[y\/q\/\?\]$/);
      window.type("1-4 6", "Enter");
      await shows(window, /Undo 3 of 8 files\?/);
      window.type("h 7", "Enter");
      await shows(window, /Undo change 1 of 2\? \[Y\/n/);
      window.type("n", "Enter");
      await shows(window, /Undo change 2 of 2\?/);
      window.type("y", "Enter");
      await shows(window, /7 \[~\] ~ src\/a\.txt/);
      expect(Math.max(...window.screen().split("\n").map(displayWidth))).toBeLessThanOrEqual(columns);
      window.type("y", "Enter");
      await shows(window, /code 0/);
      expect(sandbox.read("src/a.txt")).toBe(LINES.replace("3\n", "three\n"));
      expect(sandbox.read("b.md")).toBe("B\n");
      expect(exists("one/file")).toBe(false);
      expect(exists("new/deep/1")).toBe(true);
      sandbox.ok("undo", "--yes");
      expect(sandbox.read("src/a.txt")).toBe(CHANGED);
    },
  );

  test.each(["undo", "revert @turn", "restore 1"])(
    "[R236] %s -i changes nothing but what was chosen",
    async (words) => {
      using window = open([...words.split(" "), "-i"]);
      await shows(window, /^\w+ 8 files\? \[y\/q\/\?\]$/m);
      window.type("n", "Enter");
      await shows(window, /^\w+ 0 of 8 files\?/m);
      window.type("6", "Enter");
      await shows(window, /^\w+ 1 of 8 files\?/m);
      expect(window.screen()).toMatch(/6 \[x\] ~ b\.md/);
      window.type("y", "Enter");
      await shows(window, /code 0/);
      expect([sandbox.read("b.md"), sandbox.read("src/a.txt")]).toEqual(["b\n", CHANGED]);
      expect([exists("new/deep/1"), exists("one/file"), exists("gone.txt")]).toEqual([true, true, false]);
    },
  );

  test("[R236] -i names files in conflict, which stay, and takes what was chosen of the others", async () => {
    sandbox.write("b.md", "by hand\n");
    const turn = sandbox.json(["list", "--kind", "turn"]).checkpoints[0];
    using window = open(["revert", turn.id, "-i"]);
    await shows(window, /1 file is in conflict and stays as it is:\n +b\.md[^]*Revert 7 files\?/);
    window.type("1-5", "Enter");
    await shows(window, /Revert 2 of 7 files\?/);
    window.type("y", "Enter");
    await shows(window, /code 3/);
    expect(sandbox.read("b.md")).toBe("by hand\n");
    expect(sandbox.read("src/a.txt")).toBe(LINES);
    expect(exists("new/deep/1")).toBe(true);
    sandbox.ok("undo", "--yes");
    expect(sandbox.read("src/a.txt")).toBe(CHANGED);
    expect(sandbox.read("b.md")).toBe("by hand\n");
  });

  test("[R236] -i left with Ctrl-C, also among the changes of a file, leaves everything as it was", async () => {
    using window = open(["undo", "-i"]);
    await shows(window, /Undo 8 files\?/);
    window.type("h 7", "Enter");
    await shows(window, /Undo change 1 of 2\?/);
    window.type("C-c");
    await shows(window, /Nothing was changed\.\ncode 3/);
    expect(sandbox.read("src/a.txt")).toBe(CHANGED);
    expect(sandbox.json(["list"]).checkpoints.every(({ kind }: any) => kind !== "safety")).toBe(true);
  });

  test("[R236] [R42] what was chosen on other files is refused", async () => {
    using window = open(["undo", "-i"]);
    await shows(window, /Undo 8 files\?/);
    window.type("1", "Enter");
    await shows(window, /Undo 7 of 8 files\?/);
    sandbox.write("src/a.txt", "another\n");
    window.type("y", "Enter");
    await shows(window, /changed while you chose[^]*code 1|code 3/);
    expect(sandbox.read("src/a.txt")).toBe("another\n");
  });
});
