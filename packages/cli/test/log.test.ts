/** `log`, `show` of a turn and bare `belay`: what happened, as people think of it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { openWorkspace, type ThreadId, type Workspace } from "@belay/engine";
import { displayWidth } from "@belay/tui/text";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let claude: ThreadId;

/** One turn with one tool call that does `work`. */
async function turn(
  workspace: Workspace,
  { thread, prompt, summary }: { thread: ThreadId; prompt: string; summary?: string },
  work: () => void,
): Promise<void> {
  await workspace.turns.prompt(thread, { content: prompt });
  const about = summary === undefined ? {} : { summary };
  await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: prompt, nature: "command", ...about });
  work();
  await workspace.turns.endTool(thread, { toolUseId: prompt });
  await workspace.turns.end(thread);
}

beforeEach(async () => {
  sandbox = await Sandbox.protected();
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  claude = (await workspace.threads.open({ agent: "claude-code", externalId: "c" })).id;
  const codex = (await workspace.threads.open({ agent: "codex", externalId: "x" })).id;
  await turn(workspace, { thread: claude, prompt: "Add a walrus", summary: "make walrus" }, () => {
    sandbox.write("walrus.txt", "w\nw\n");
    sandbox.write("a.txt", "one\ntwo\n");
  });
  await workspace.checkpoint({ name: "works", note: "all green", tags: ["demo"] });
  sandbox.write("mine.txt", "m\n");
  await turn(workspace, { thread: codex, prompt: "Remove b" }, () => sandbox.remove("src/b.txt"));
  await turn(workspace, { thread: claude, prompt: "Bad idea" }, () => sandbox.write("a.txt", "bad\n"));
  await workspace.undo();
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const lines = (...args: string[]) =>
  sandbox
    .ok(...args)
    .trimEnd()
    .split("\n")
    .map((line) => line.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "TIME").replaceAll(/ {2,}/g, "  "));

describe("log", () => {
  test("[R311] a turn that was not captured stands where it happened, also with --stat and -p", async () => {
    {
      await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
      const now = Date.now();
      const about = { at: now, until: now, events: 2, problem: "no room" };
      await workspace.threads.noteUncaptured(claude, { ...about, prompt: "Lost work" });
      await turn(workspace, { thread: claude, prompt: "Later" }, () => sandbox.write("a.txt", "later\n"));
    }
    for (const how of [[], ["--stat"], ["-p"]]) {
      const rows = lines("log", ...how).filter((line) => /^. {2}TIME| {2}TIME/.test(line));
      expect(rows[0]).toContain("Later");
      expect(rows[1]).toBe("!  TIME  not captured: Lost work (no room)  lost");
      expect(rows[2]).toContain("Bad idea");
    }
  });

  test("[R214] [C64] [Y18] who, what, files, lines and state, newest first; ● marks the present; undone turns stay", () => {
    expect(lines("log")).toEqual([
      "  TIME  T3  claude-code  Bad idea  1 file  +1 -2  undone",
      "●  TIME  T2  codex  Remove b  1 file  -1",
      expect.stringMatching(/^ {2}TIME {2}\d+ {2}Changed by hand {2}1 file {2}\+1$/),
      expect.stringMatching(/^ {2}TIME {2}\d+ {2}\[demo\] works$/),
      "  TIME  T1  claude-code  Add a walrus  2 files  +3",
      "  TIME  1  Initial checkpoint",
    ]);
    sandbox.write("mine.txt", "changed\n");
    expect(lines("log")[0]).toMatch(/^● now: 1 file changed since \d\d:\d\d$/);
  });

  test("[R2346] what no row left is said to be after an undo; an empty directory makes no other state", async () => {
    sandbox.write("later.txt", "changed by hand\n");
    {
      await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
      await turn(workspace, { thread: claude, prompt: "Worse" }, () => sandbox.write("worse.txt", "x\n"));
    }
    mkdirSync(sandbox.path("empty"));
    expect(lines("log")[0]).toMatch(/^● {2}TIME {2}T4 {2}claude-code {2}Worse/);
    sandbox.write("later.txt", "changed again\n");
    sandbox.ok("checkpoint");
    sandbox.ok("undo", "--yes");
    expect(lines("log")[0]).toBe("● now: after an undo or redo");
    expect(lines("log", "--agent", "claude-code")[0]).toMatch(/^ {2}TIME {2}T4 .* undone$/);
    sandbox.ok("redo");
    expect(lines("log").filter((line) => line.startsWith("●"))).toEqual([expect.stringContaining("TIME")]);
  });

  test("[R2341] the first checkpoint has one name, whichever command names it", () => {
    for (const words of [["log"], ["list"], ["show", "1"], ["restore", "1", "--dry-run"], ["diff", "1"]]) {
      const said = sandbox.ok(...words);
      expect(said.toLowerCase(), words.join(" ")).not.toMatch(/first checkpoint|the beginning/);
      if (words[0] !== "diff") expect(said, words.join(" ")).toContain("Initial checkpoint");
    }
  });

  test("[R183] JSON has every row, what the disk is like, and with -p and --stat the files of each", () => {
    const page = sandbox.json(["log"]);
    expect(page).toMatchObject({ total: 6, next: null, now: { changed: 0, working: [] }, uncaptured: [] });
    expect(page.rows.map(({ ref }: { ref: string }) => ref.replace(/^\d+$/, "n"))).toEqual(
      "T3 T2 n n T1 n".split(" "),
    );
    expect(page.rows[4]).toMatchObject({
      agent: "claude-code",
      thread: claude,
      added: 1,
      modified: 1,
      plus: 3,
    });
    expect(sandbox.json(["log", "-n", "2"])).toMatchObject({ total: 6, next: expect.any(Number) });
    const [, second] = sandbox.json(["log", "-p"]).rows;
    expect(second.files).toMatchObject([
      { path: "src/b.txt", type: "deleted", diff: expect.stringContaining("-two") },
    ]);
    expect(sandbox.json(["log", "--stat"]).rows[1].files[0].diff).toBeUndefined();
  });

  test("[Y27] [C63] words, fields, agents and times narrow it; what is no time, or not found, is said", async () => {
    const refs = (...args: string[]) =>
      sandbox.json(["log", ...args]).rows.map(({ ref }: { ref: string }) => ref);
    expect(refs("walrus")).toEqual(["T1"]);
    expect(refs("green")).toHaveLength(1);
    expect(refs("file:src/**")).toEqual(["T2"]);
    expect(refs("Add a")).toEqual(["T1"]);
    expect(refs("--agent", "claude")).toEqual(["T3", "T1"]);
    expect(refs("--thread", claude)).toEqual(["T3", "T1"]);
    expect(refs("--since", "1h")).toHaveLength(6);
    await expect.poll(() => refs("--since", "1s")).not.toContain("1");
    expect(refs("is:undone")).toEqual(["T3"]);
    expect(refs("--everything", "kind:safety")).toHaveLength(1);
    expect(sandbox.ok("log", "nothing-like-this")).toContain("Nothing like that happened.");
    expect(sandbox.error(["log", "--since", "soon"], 2).message).toBe('"soon" is not a time.');
    expect(sandbox.error(["log", "-p", "--stat"], 2)).toBeDefined();
    expect(sandbox.error(["log", "--thread", "zzz"], 4)).toBeDefined();
  });

  test("-p shows the lines of each turn, and only its own", () => {
    const text = sandbox.ok("log", "-p", "walrus");
    expect(text).toMatch(/T1.*Add a walrus[^]*\+\+\+ b\/walrus\.txt[^]*\+w/);
    expect(text).not.toContain("mine.txt");
    expect(sandbox.ok("log", "--stat", "walrus")).toMatch(
      /T1[^]*M {2}a\.txt {7}\+1\n {2}A {2}walrus\.txt {2}\+2/,
    );
  });

  test.skipIf(spawnSync("script", ["--version"]).status !== 0).each([40, 60, 80, 200])(
    "[C64] days are headings and no line is wider than a terminal of %i columns",
    (columns) => {
      const words = [process.execPath, LAUNCHER, "log"].map((word) => `'${word}'`).join(" ");
      const { stdout } = spawnSync("script", ["-qec", `stty cols ${columns}; ${words}`, "/dev/null"], {
        cwd: sandbox.project,
        env: { ...sandbox.environment, TERM: "xterm", NO_COLOR: "1", PAGER: "cat" },
        encoding: "utf8",
        timeout: 60_000,
      });
      const screen = stdout.replaceAll("\r\n", "\n").trimEnd().split("\n");
      expect(screen[0]).toBe("Today");
      expect(screen).toHaveLength(7);
      for (const line of screen) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      expect(screen[1]).toMatch(/T3 .*undone$/);
    },
  );

  test("--watch prints what happens as it happens, and ends with Ctrl-C", async () => {
    const child = spawn(process.execPath, [LAUNCHER, "log", "--watch", "-n", "1", "--json"], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const rows: any[] = [];
    const reader = createInterface(child.stdout).on("line", (line) => rows.push(JSON.parse(line)));
    const seen = async (isThere: (row: any) => boolean) => {
      while (!rows.some(isThere)) await once(reader, "line");
    };
    const ended = once(child, "close");
    await seen(({ ref }) => ref === "T3");
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    await turn(workspace, { thread: claude, prompt: "While you watch" }, () =>
      sandbox.write("new.txt", "n\n"),
    );
    await seen(({ ref, state }) => ref === "T4" && state === "applied");
    expect(rows.at(-1)).toMatchObject({ title: "While you watch", added: 1 });
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  });
});

describe("show", () => {
  test("[R215] without a name it is the last turn; T1, @turn and @turn-1 are turns; -p has the lines", () => {
    expect(lines("show")[0]).toBe("T3  Bad idea");
    expect(lines("show", "@turn-1")[0]).toBe("T2  Remove b");
    const text = sandbox.ok("show", "T1");
    expect(text).toMatch(/agent +claude-code/);
    expect(text).toMatch(/changes +2 files \(\+1 ~1 -0\), lines \+3/);
    expect(text).toMatch(/Changed\n {2}M {2}a\.txt {7}\+1\n {2}A {2}walrus\.txt {2}\+2/);
    expect(text).toMatch(/Steps\n +0:00 {2}Bash {2}make walrus {2}\+3/);
    expect(text).toContain("`belay restore T1` goes back to before it");
    expect(sandbox.ok("show", "T1", "-p")).toContain("+++ b/walrus.txt");
    expect(sandbox.json(["show", "T1"])).toMatchObject({
      turn: { ref: "T1", title: "Add a walrus" },
      steps: [{ tool: "Bash", summary: "make walrus", added: 1, modified: 1 }],
      checkpoint: { kind: "message" },
      filesTotal: 2,
    });
    expect(sandbox.ok("show", "T3")).toMatch(/state +undone \d\d:\d\d/);
    expect(sandbox.error(["show", "T9"], 4)).toMatchObject({
      code: "CHECKPOINT_NOT_FOUND",
      hint: "`belay log` shows the turns.",
    });
  });

  test("[R215] after a turn `show @` says what the turn did; a checkpoint inside one names it", async () => {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    await turn(workspace, { thread: claude, prompt: "Last one" }, () => sandbox.write("last.txt", "l\n"));
    expect(sandbox.ok("show", "@")).toMatch(/^T4 {2}Last one[^]*A {2}last\.txt/);
    const { before } = await workspace.timeline.row("T4");
    expect(sandbox.ok("show", before!)).toMatch(/turn +before T4 “Last one”/);
  });
});

describe("names of turns elsewhere", () => {
  test("[R215] restore goes to before a turn and says so; revert takes out only it; diff shows its own changes", () => {
    expect(sandbox.ok("restore", "T1", "--dry-run")).toContain("before T1 “Add a walrus”");
    expect(sandbox.ok("diff", "T2", "--name-only")).toBe("src/b.txt\n");
    expect(sandbox.ok("diff", "T1", "--name-only", "walrus.txt")).toBe("walrus.txt\n");
    expect(sandbox.json(["diff", "T1", "--stat"]).summary).toMatchObject({
      added: 1,
      modified: 1,
      linesAdded: 3,
    });
    expect(sandbox.ok("revert", "T1", "--yes")).toContain("T1 “Add a walrus”");
    expect(sandbox.read("walrus.txt")).toBeUndefined();
    expect(sandbox.read("mine.txt")).toBe("m\n");
    expect(sandbox.read("src/b.txt")).toBeUndefined();
    sandbox.ok("restore", "@turn-1", "--yes");
    expect(sandbox.read("src/b.txt")).toBe("two\n");
  });

  test("`belay` alone, not on a terminal, prints what happened", () => {
    const [root, first] = lines();
    expect(root).toBe(sandbox.project);
    expect(first).toContain("T3  claude-code  Bad idea");
    expect(sandbox.json([]).rows).toHaveLength(6);
  });
});
