/** An end that no checkpoint could be taken for: what the user does after it is not the agent's, whatever fails and whenever it works again. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canMount, mountSmall, unmount } from "../../engine/test/support/project.ts";
import { openWorkspace } from "@belay/engine";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
const ENV = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000", PATH: "/usr/bin:/bin" };

function hook(name: string, more: Record<string, unknown> = {}): { systemMessage?: string } {
  const input = JSON.stringify({ hook_event_name: name, session_id: "s1", cwd: sandbox.project, ...more });
  const done = sandbox.belay(["hook", "claude-code"], { input, env: ENV });
  expect(done.status).toBe(0);
  return JSON.parse(done.stdout) as { systemMessage?: string };
}

const CALL = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: "t1" };
const AGENT = { agent_id: "a1", agent_type: "coder" };
const LOST = /may not be captured/;

/** A file's time tells it apart from an event only if the clock that stamps files has moved on. */
const moment = () => pause(50);

/** What the user does by hand once the agent has stopped: a new file, one that the agent never saw, and one that goes. */
async function byHand(): Promise<void> {
  await moment();
  sandbox.write("mine.txt", "by hand\n");
  sandbox.write("a.txt", "by hand\n");
  sandbox.remove("notes/old.txt");
  await moment();
}

/** Undo takes back what the agent did, and nothing else. */
async function expectOnlyAgentsUndone(): Promise<void> {
  sandbox.belay(["undo", "--yes"], { env: ENV });
  expect(sandbox.read("mine.txt")).toBe("by hand\n");
  expect(sandbox.read("a.txt")).toBe("by hand\n");
  expect(sandbox.read("notes/old.txt")).toBeUndefined();
  expect(sandbox.read("agent.txt")).toBeUndefined();
  sandbox.belay(["stop"], { env: ENV });
  await sandbox.verify();
}

const FILES = { "a.txt": "one\n", "notes/old.txt": "old\n", "notes/new.txt": "new\n" };

describe.each(["alone", "with the resident process"])("[R2300] a store at its cap, %s", (how) => {
  beforeEach(async () => {
    sandbox = await Sandbox.protected(FILES);
    if (how !== "alone") expect(sandbox.belay(["start"], { env: ENV }).status).toBe(0);
  });
  afterEach(() => {
    sandbox.belay(["stop"], { env: ENV });
    sandbox[Symbol.dispose]();
  });

  const full = () => expect(sandbox.belay(["config", "disk.capBytes", "1"], { env: ENV }).status).toBe(0);
  const room = () =>
    expect(sandbox.belay(["config", "disk.capBytes", "--unset"], { env: ENV }).status).toBe(0);
  const big = () => sandbox.write("agent.txt", "x".repeat(100_000));

  test("neither the end of the tool nor of the turn is captured", async () => {
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("PreToolUse", CALL);
    full();
    big();
    expect(hook("PostToolUse", CALL).systemMessage).toMatch(LOST);
    expect(hook("Stop").systemMessage).toMatch(LOST);
    await byHand();
    room();
    await expectOnlyAgentsUndone();
  });

  test("a tool was cut off, and the stop is not captured", async () => {
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("PreToolUse", CALL);
    full();
    big();
    expect(hook("Stop").systemMessage).toMatch(LOST);
    await byHand();
    room();
    await expectOnlyAgentsUndone();
  });

  test("the end of the tool is not captured, that of the turn is", async () => {
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("PreToolUse", CALL);
    full();
    big();
    expect(hook("PostToolUse", CALL).systemMessage).toMatch(LOST);
    await byHand();
    room();
    hook("Stop");
    await expectOnlyAgentsUndone();
  });

  test("the session ends in the middle of a turn", async () => {
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("PreToolUse", CALL);
    full();
    big();
    hook("SessionEnd", { reason: "other" });
    await byHand();
    room();
    await expectOnlyAgentsUndone();
  });

  test("a subagent ends, and the turn goes on", async () => {
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("SubagentStart", AGENT);
    hook("PreToolUse", { ...CALL, ...AGENT });
    full();
    big();
    expect(hook("SubagentStop", AGENT).systemMessage).toMatch(LOST);
    await byHand();
    room();
    hook("Stop");
    await expectOnlyAgentsUndone();
  });

  test("the next prompt comes before there is room, and another capture before the undo", async () => {
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("PreToolUse", CALL);
    full();
    big();
    hook("PostToolUse", CALL);
    hook("Stop");
    await byHand();
    expect(hook("UserPromptSubmit", { prompt: "go on", prompt_id: "p2" }).systemMessage).toMatch(LOST);
    room();
    expect(sandbox.belay(["checkpoint"], { env: ENV }).status).toBe(0);
    sandbox.write("later.txt", "by hand\n");
    await expectOnlyAgentsUndone();
    expect(sandbox.read("later.txt")).toBe("by hand\n");
  });
});

describe.skipIf(!canMount).each(["alone", "with the resident process"])("[R2300] a full disk, %s", (how) => {
  beforeEach(async () => {
    sandbox = new Sandbox(FILES);
    mkdirSync(sandbox.home, { mode: 0o700 });
    expect(mountSmall(sandbox.home, "24m")).toBe(true);
    chmodSync(sandbox.home, 0o700);
    await sandbox.protect();
    if (how !== "alone") expect(sandbox.belay(["start"], { env: ENV }).status).toBe(0);
    hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
    hook("PreToolUse", CALL);
    spawnSync("sh", ["-c", `cat /dev/zero >'${sandbox.home}/filler'`]);
    sandbox.write("agent.txt", randomBytes(2 ** 21).toString("hex"));
    expect(hook("PostToolUse", CALL).systemMessage).toMatch(LOST);
    expect(hook("Stop").systemMessage).toMatch(LOST);
    await byHand();
  });
  afterEach(() => {
    sandbox.belay(["stop"], { env: ENV });
    unmount(sandbox.home);
    sandbox[Symbol.dispose]();
  });

  test("that has room again", async () => {
    rmSync(join(sandbox.home, "filler"));
    await expectOnlyAgentsUndone();
  });

  test("that stays full: an undo that works leaves the user's work alone", async () => {
    sandbox.belay(["undo", "--yes"], { env: ENV });
    expect(sandbox.read("mine.txt")).toBe("by hand\n");
    expect(sandbox.read("a.txt")).toBe("by hand\n");
    expect(sandbox.read("notes/old.txt")).toBeUndefined();
    rmSync(join(sandbox.home, "filler"));
    await sandbox.verify();
  });
});

describe("[R2300] a store at its cap", () => {
  beforeEach(async () => void (sandbox = await Sandbox.protected(FILES)));
  afterEach(() => sandbox[Symbol.dispose]());

  test("a command that is one step", async () => {
    const set = `"${process.execPath}" "${LAUNCHER}" config disk.capBytes 1`;
    const run = ["run", "sh", "-c", `${set} && head -c 100000 /dev/zero >agent.txt`];
    expect(sandbox.belay(run, { env: ENV }).stderr).toContain("WHAT THIS COMMAND CHANGED WAS NOT RECORDED");
    await byHand();
    sandbox.belay(["config", "disk.capBytes", "--unset"], { env: ENV });
    await expectOnlyAgentsUndone();
  });

  test("a program that keeps the workspace open and goes on after the failure", async () => {
    {
      await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
      const work = workspace.turns.run({ description: "make it" }, async () => {
        sandbox.write("agent.txt", "x".repeat(100_000));
        sandbox.belay(["config", "disk.capBytes", "1"], { env: ENV });
      });
      await expect(work).rejects.toMatchObject({ code: "STORE_FULL" });
      await byHand();
      sandbox.belay(["config", "disk.capBytes", "--unset"], { env: ENV });
      await workspace.undo();
    }
    await expectOnlyAgentsUndone();
  });
});

test("[R2300] a store that fails for a moment", async () => {
  sandbox = await Sandbox.protected(FILES);
  hook("UserPromptSubmit", { prompt: "make it", prompt_id: "p1" });
  hook("PreToolUse", CALL);
  sandbox.write("agent.txt", "new\n");
  const file = join(sandbox.json(["status"], 0, { env: ENV }).store, "store.db");
  const whole = readFileSync(file);
  writeFileSync(file, "not a database");
  expect(hook("PostToolUse", CALL).systemMessage).toMatch(LOST);
  expect(hook("Stop").systemMessage).toMatch(LOST);
  await byHand();
  writeFileSync(file, whole);
  await expectOnlyAgentsUndone();
  expect(sandbox.json(["threads"]).threads).toHaveLength(1);
  sandbox[Symbol.dispose]();
});
