/** What a command says happened is what happened: to a path that cannot be restored, to a pause, to a redo. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "@belay/engine";
import { Sandbox } from "./sandbox.ts";

const ENV = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000", PATH: "/usr/bin:/bin" };

function hook(sandbox: Sandbox, event: Record<string, unknown>): any {
  const input = JSON.stringify({ session_id: "s1", cwd: sandbox.project, ...event });
  const done = sandbox.belay(["hook", "claude-code"], { input, env: ENV });
  expect(done.status).toBe(0);
  return JSON.parse(done.stdout);
}

const prompt = (sandbox: Sandbox, id: string, session = "s1") =>
  hook(sandbox, {
    hook_event_name: "UserPromptSubmit",
    prompt: `turn ${id}`,
    prompt_id: id,
    session_id: session,
  });

/** A turn of Claude Code with one shell command. */
function turn(sandbox: Sandbox, id: string, work: () => void): void {
  prompt(sandbox, id);
  const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: `t-${id}` };
  hook(sandbox, { hook_event_name: "PreToolUse", ...call });
  work();
  hook(sandbox, { hook_event_name: "PostToolUse", ...call });
  hook(sandbox, { hook_event_name: "Stop" });
}

describe("[R198] a restore of chosen paths that can restore nothing", () => {
  test.each([
    ["on disk", false],
    ["gone from the disk", true],
  ])("names what was forgotten, and is refused; the file is %s", async (_, isGone) => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n", "secret.key": "password\n" });
    sandbox.ok("forget", "secret.key", "--yes");
    if (isGone) sandbox.remove("secret.key");
    for (const how of [["--yes"], [], ["--dry-run"]]) {
      const { status, stdout } = sandbox.belay(["restore", "1", "secret.key", ...how]);
      expect(stdout).toContain("secret.key was forgotten and cannot be restored");
      expect(stdout).not.toMatch(/could not capture|already|Nothing to do/);
      expect(status).toBe(3);
    }
    expect(sandbox.json(["restore", "1", "secret.key", "--yes"], 3)).toMatchObject({
      outcome: "unchanged",
      leftOut: [{ path: "secret.key", reason: "forgotten" }],
    });
    expect(sandbox.ok("restore", "1", "a.txt", "--yes")).toMatch(/Nothing to do: the files are already/);
    expect(sandbox.ok("restore", "1", "--yes")).toMatch(/Nothing to do: everything else is already/);
    await sandbox.verify();
  });

  test("MCP says why, too", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n", "secret.key": "password\n" });
    sandbox.ok("forget", "secret.key", "--yes");
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { createMcpHost } = await import("../src/mcp/mcp-workspace.ts");
    const host = createMcpHost((work) => work(workspace), workspace.plans, sandbox.home);
    const { warnings } = await host.preview("1", ["secret.key"]);
    expect(warnings).toContain("secret.key was forgotten and cannot be restored");
    expect(await host.history({ text: "one", limit: 5 })).toMatchObject([
      { path: "a.txt", text: "one", last: null, addedBy: null, removedBy: null },
    ]);
  });
});

test("[R150] protected since the first checkpoint, however many conversations began later", async () => {
  using sandbox = new Sandbox();
  const { createSystem } = await import("@belay/engine");
  const system = { ...createSystem(), now: () => Date.UTC(2020, 4, 5, 12) };
  await (await openWorkspace(sandbox.project, { home: sandbox.home, system })).close();
  prompt(sandbox, "p1", "s1");
  prompt(sandbox, "p2", "s2");
  expect(
    sandbox.json(["list", "--all"]).checkpoints.filter((c: any) => c.kind === "initial").length,
  ).toBeGreaterThan(1);
  expect(sandbox.ok("status")).toMatch(/protected +since 2020-05-05/);
});

test("[R199] revert of a path that the step did not change is not found, and records nothing", async () => {
  using sandbox = await Sandbox.protected();
  turn(sandbox, "p1", () => sandbox.write("a.txt", "two\n"));
  const before = sandbox.json(["list", "--all"]).checkpoints;
  for (const how of ["--yes", "--dry-run"])
    expect(sandbox.error(["revert", "@", "nosuch", how], 4)).toMatchObject({
      code: "PATH_NOT_IN_CHECKPOINT",
      message: expect.stringContaining("nosuch"),
    });
  expect(sandbox.json(["list", "--all"]).checkpoints).toEqual(before);
  sandbox.ok("revert", "@", "a.txt", "--yes");
  expect(sandbox.read("a.txt")).toBe("one\n");
});

test("[R199] git's own files are said to be out of reach, not to be missing", async () => {
  using sandbox = await Sandbox.protected({ "a.txt": "one\n", ".git/config": "[core]\n" });
  sandbox.write("a.txt", "two\n");
  await sandbox.checkpoint();
  for (const command of ["restore", "revert"])
    expect(sandbox.error([command, "2", ".git/config", "--yes"], 4)).toMatchObject({
      message: expect.stringContaining(".git is never captured or changed by Belay") as string,
      // no search finds it
      hint: "`belay status` lists what else is not protected.",
    });
});

test("forget without a terminal asks in lines of its own", async () => {
  using sandbox = await Sandbox.protected({
    "a.txt": "one\n",
    "secret.key": "password\n",
    "copy.key": "password\n",
  });
  const { status, stderr } = sandbox.belay(["forget", "secret.key"]);
  expect(status).toBe(3);
  expect(stderr).not.toContain("\\n");
  expect(stderr).toMatch(
    /Permanently purge secret\.key from 1 checkpoint\? This cannot be undone\. Nothing was changed\.\n/,
  );
  expect(stderr).toMatch(/^ +It is still on disk: /m);
  expect(stderr).toMatch(/^ +copy\.key$/m);
});

test("[R157] a redo is told the agent as what it is", async () => {
  using sandbox = await Sandbox.protected();
  turn(sandbox, "p1", () => sandbox.write("a.txt", "two\n"));
  sandbox.ok("undo", "--yes");
  const news = (answer: unknown) => JSON.stringify(answer);
  expect(news(prompt(sandbox, "p2"))).toContain("the user took back some of your earlier work");
  hook(sandbox, { hook_event_name: "Stop" });
  sandbox.ok("redo", "--yes");
  const told = news(prompt(sandbox, "p3"));
  expect(told).toContain("the user brought back some of your earlier work that had been undone");
  expect(told).not.toContain("took back");
});

test("status after an undo leads to the redo", async () => {
  using sandbox = await Sandbox.protected();
  turn(sandbox, "p1", () => sandbox.write("a.txt", "two\n"));
  sandbox.ok("undo", "--yes");
  expect(sandbox.ok("status")).toContain("`belay redo` brings back what was undone.");
});

test("a name that another checkpoint has is accepted with a warning", async () => {
  using sandbox = await Sandbox.protected();
  expect(sandbox.belay(["checkpoint", "-m", "x1"]).stderr).toBe("");
  const { status, stderr } = sandbox.belay(["checkpoint", "-m", "x1"]);
  expect(status).toBe(0);
  expect(stderr).toMatch(/Checkpoint 2 has the name "x1" too\. Their ids tell them apart; that one is \w+/);
  expect(sandbox.belay(["checkpoint", "-m", "x"]).stderr).toBe("");
});

test("[R151] uninstall says that the other files are untouched where it changed one", async () => {
  using sandbox = new Sandbox();
  mkdirSync(join(sandbox.base, ".claude"));
  sandbox.ok("init", "--yes", "--agent", "claude-code");
  expect(sandbox.ok("uninstall", "--yes")).toContain("Your other files are untouched.");
});

test("doctor hints at more watches only where there are too few", async () => {
  using sandbox = await Sandbox.protected();
  sandbox.ok("start");
  try {
    sandbox.ok("checkpoint");
    sandbox.write(".gitignore", "out/\n");
    const check = () =>
      JSON.parse(sandbox.belay(["--json", "doctor"]).stdout).checks.find(
        ({ name }: { name: string }) => name === "resident process",
      );
    let found = check();
    for (let tries = 0; tries < 40 && found.status === "ok"; tries += 1) found = check();
    expect(found.detail).toContain("the rules changed");
    expect(found.hint).not.toContain("sysctl");
  } finally {
    sandbox.ok("stop");
  }
});

test.each([[false], [true]])(
  "[R144] work during a pause is called that, and cannot be undone (ended: %s)",
  async (isEnded) => {
    using sandbox = await Sandbox.protected();
    turn(sandbox, "p1", () => sandbox.write("a.txt", "two\n"));
    sandbox.ok("pause");
    turn(sandbox, "p2", () => sandbox.write("src/b.txt", "paused\n"));
    if (isEnded) {
      sandbox.ok("resume");
      sandbox.write("later.txt", "mine\n");
    }
    const preview = sandbox.ok("undo", "--dry-run");
    expect(preview).toMatch(/Changed while captures were paused; stays:\n +src\/b\.txt/);
    expect(preview).toContain("1 turn since then was made while captures were paused, and cannot be undone");
    if (isEnded) expect(preview).toMatch(/Changed meanwhile, not by a tool; stays:\n +later\.txt/);
    else expect(preview).not.toContain("not by a tool");
    expect(sandbox.ok("status")).toMatch(/no undo +1 turn made while captures were paused cannot be undone/);
    expect(sandbox.json(["status"]).pausedTurns).toBe(1);
    if (!isEnded) return;
    turn(sandbox, "p3", () => sandbox.write("a.txt", "three\n"));
    expect(sandbox.ok("status")).not.toContain("no undo");
    expect(sandbox.ok("undo", "--dry-run")).not.toContain("paused");
  },
);
