/** `pause` and `resume`: for how long nothing is captured, who says so, and what still works. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { initWorkspace, openWorkspace } from "@belay/engine";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const QUIET = { BELAY_RESIDENT: "off" };

function hook(sandbox: Sandbox, event: Record<string, unknown>): unknown {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, "hook", "claude-code"], {
    cwd: sandbox.project,
    env: { ...sandbox.environment, ...QUIET, BELAY_WAIT_MS: "30000" },
    input: JSON.stringify({ session_id: "s", cwd: sandbox.project, ...event }),
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** A prompt and a tool that writes, as an agent reports them; `a.txt` is what it writes. */
function turn(sandbox: Sandbox, name: string): void {
  const use = { tool_name: "Bash", tool_use_id: name, tool_input: { command: "x" } };
  expect(hook(sandbox, { hook_event_name: "UserPromptSubmit", prompt: name })).toEqual({});
  expect(hook(sandbox, { hook_event_name: "PreToolUse", ...use })).toEqual({});
  sandbox.write("a.txt", `${name}\n`);
  expect(hook(sandbox, { hook_event_name: "PostToolUse", ...use })).toEqual({});
  expect(hook(sandbox, { hook_event_name: "Stop" })).toEqual({});
}

function descriptions(sandbox: Sandbox): string[] {
  return sandbox
    .json(["list", "--all"])
    .checkpoints.map(({ description }: { description: string }) => description);
}

describe("[R144] while it is paused", () => {
  test("hooks answer, nothing is captured automatically, and status, doctor and JSON say so first", async () => {
    using sandbox = await Sandbox.protected();
    turn(sandbox, "first");
    const { paused } = sandbox.json(["pause", "30m"]);
    expect(Date.parse(paused.until) - Date.parse(paused.since)).toBe(30 * 60_000);
    const before = descriptions(sandbox);
    expect(before[0]).toBe("Before the pause");
    turn(sandbox, "second");
    expect(descriptions(sandbox)).toEqual(before);
    const until = /^✗ paused until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d, nothing is captured$/;
    expect(sandbox.ok("status").split("\n")[0]).toMatch(until);
    expect(sandbox.json(["status"])).toMatchObject({
      paused,
      capture: { on: false, obstacles: [{ code: "PAUSED" }] },
    });
    expect(sandbox.json(["doctor"], 1).checks).toContainEqual(
      expect.objectContaining({ name: "capture", status: "problem" }),
    );
    // the timeline knows: the prompt is there, without a checkpoint
    const [thread] = sandbox.json(["threads"]).threads;
    const { messages } = sandbox.json(["thread", thread.id]);
    expect(messages).toMatchObject([
      { content: "first", checkpoint: expect.any(String) as string },
      { content: "second", checkpoint: null },
    ]);
    await sandbox.verify();
  });

  test("what changed in it is one row after it, no turn's work, and the next turn is captured", async () => {
    using sandbox = await Sandbox.protected();
    turn(sandbox, "first");
    sandbox.ok("pause");
    turn(sandbox, "second");
    expect(sandbox.json(["resume"])).toEqual({ paused: null, resumed: true, all: false });
    expect(descriptions(sandbox)[0]).toBe("After the pause");
    expect(sandbox.json(["status"]).paused).toBeNull();
    turn(sandbox, "third");
    expect(sandbox.json(["undo", "--yes"]).steps).toMatchObject([{ description: "third" }]);
    expect(sandbox.read("a.txt")).toBe("second\n");
    expect(sandbox.json(["resume"])).toEqual({ paused: null, resumed: false, all: false });
    await sandbox.verify();
  });

  test("a tool that ends in it is over: nothing that follows is its doing", async () => {
    using sandbox = await Sandbox.protected();
    const use = { tool_name: "Bash", tool_use_id: "t", tool_input: { command: "x" } };
    hook(sandbox, { hook_event_name: "UserPromptSubmit", prompt: "first" });
    hook(sandbox, { hook_event_name: "PreToolUse", ...use });
    sandbox.write("a.txt", "by the agent\n");
    sandbox.ok("pause");
    sandbox.write("a.txt", "in the pause\n");
    hook(sandbox, { hook_event_name: "PostToolUse", ...use });
    sandbox.ok("resume");
    sandbox.write("src/b.txt", "by hand\n");
    sandbox.ok("checkpoint");
    const { files } = sandbox.json(["show", "@"]);
    expect(files).toMatchObject([{ path: "src/b.txt", attribution: "outside" }]);
    const { files: inPause } = sandbox.json(["show", "@-1"]);
    expect(inPause).toMatchObject([{ path: "a.txt", attribution: "outside" }]);
    await sandbox.verify();
  });

  test("checkpoints by hand, `run`, restore and undo work, safety checkpoints included", async () => {
    using sandbox = await Sandbox.protected();
    sandbox.ok("pause");
    sandbox.write("a.txt", "two\n");
    const { checkpoint } = sandbox.json(["checkpoint", "-m", "by hand"]);
    expect(checkpoint.changes).toMatchObject({ modified: 1 });
    sandbox.ok("run", "--", "sh", "-c", "echo three > a.txt");
    expect(sandbox.json(["undo", "--yes"])).toMatchObject({ outcome: "applied" });
    expect(sandbox.read("a.txt")).toBe("two\n");
    sandbox.write("a.txt", "four\n");
    const { safetyCheckpoint } = sandbox.json(["restore", checkpoint.id, "--yes"]);
    expect(sandbox.json(["restore", safetyCheckpoint, "--yes"]).outcome).toBe("applied");
    expect(sandbox.read("a.txt")).toBe("four\n");
    await sandbox.verify();
  });

  test("it ends by itself", async () => {
    using sandbox = await Sandbox.protected();
    const system = { now: () => Date.now() };
    await using workspace = await openWorkspace(sandbox.project, {
      home: sandbox.home,
      clock: () => system.now(),
    });
    const { id } = await workspace.threads.open({ agent: "x" });
    const since = Date.now();
    await workspace.pause({ since, until: since + 60_000 });
    expect((await workspace.turns.prompt(id, { content: "one" })).checkpoint).toBeNull();
    const told: string[] = [];
    for await (const { type } of workspace.events.read({ after: 0 }))
      if (told.push(type) && type === "user") break;
    expect(told.slice(-2)).toEqual(["capture_paused", "user"]);
    system.now = () => since + 59_999;
    expect(workspace.paused).toEqual({ since, until: since + 60_000 });
    system.now = () => since + 60_000;
    expect((await workspace.turns.prompt(id, { content: "two" })).checkpoint).not.toBeNull();
    expect((await workspace.status()).paused).toBeNull();
    // a clock that was set back ends it too
    system.now = () => since - 1;
    expect(workspace.paused).toBeNull();
  });

  test("--all pauses every directory, and says so to one that resumes alone", async () => {
    using sandbox = await Sandbox.protected();
    const other = join(sandbox.base, "other");
    mkdirSync(other);
    writeFileSync(join(other, "o.txt"), "one\n");
    await (await initWorkspace(other, { home: sandbox.home })).workspace.close();
    sandbox.ok("pause", "10m");
    sandbox.ok("pause", "--all");
    for (const cwd of [sandbox.project, other])
      expect(sandbox.json(["status"], 0, { cwd }).paused, cwd).not.toBeNull();
    expect(sandbox.json(["list"], 0, { cwd: other }).checkpoints[0].description).toBe("Before the pause");
    expect(sandbox.json(["resume"], 3).error).toMatchObject({
      code: "PAUSED_EVERYWHERE",
      hint: "`belay resume --all` ends that.",
    });
    expect(sandbox.json(["resume", "--all"])).toEqual({ paused: null, resumed: true, all: true });
    for (const cwd of [sandbox.project, other])
      expect(sandbox.json(["status"], 0, { cwd }).paused, cwd).toBeNull();
    expect(sandbox.json(["list"], 0, { cwd: other }).checkpoints[0].description).toBe("After the pause");
  });

  test("the resident process goes by it at once, and its status tells", async () => {
    using sandbox = await Sandbox.protected();
    const { url, token } = sandbox.json(["start"]);
    try {
      const call = async (method: string, path: string, body?: unknown) => {
        const answer = await fetch(`${url}${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return (await answer.json()) as any;
      };
      const at = `?workspace=${encodeURIComponent(sandbox.project)}`;
      const { thread } = await call("POST", `/api/threads${at}`, {});
      const prompt = async () =>
        (await call("POST", `/api/threads/${thread.id}/messages`, { role: "user", content: "x" })).message
          .checkpoint;
      expect(await prompt()).not.toBeNull();
      for (let round = 0; round < 2; round += 1) {
        const { paused } = sandbox.json(["pause"]);
        expect(await prompt()).toBeNull();
        expect((await call("GET", `/api/status${at}`)).paused).toEqual(paused);
        sandbox.ok("resume");
        expect(await prompt()).not.toBeNull();
        expect((await call("GET", `/api/status${at}`)).paused).toBeNull();
      }
    } finally {
      sandbox.belay(["stop"]);
    }
  });

  test("a file that cannot be understood pauses nothing, and is replaced by the next pause", async () => {
    using sandbox = await Sandbox.protected();
    for (const text of ["garbage", "[]", "null", '{"all":1}', '{"all":{"since":"x","until":{}}}']) {
      writeFileSync(join(sandbox.home, "paused.json"), text);
      expect(sandbox.json(["status"]).paused, text).toBeNull();
    }
    sandbox.ok("pause");
    expect(JSON.parse(readFileSync(join(sandbox.home, "paused.json"), "utf8"))).toBeTypeOf("object");
    expect(sandbox.json(["status"]).paused).not.toBeNull();
  });

  test("a duration that is none, or too long, is refused", async () => {
    using sandbox = await Sandbox.protected();
    expect(sandbox.error(["pause", "soon"], 2)).toMatchObject({ code: "USAGE" });
    expect(sandbox.error(["pause", "8d"], 2)).toMatchObject({ code: "USAGE" });
    expect(sandbox.json(["status"]).paused).toBeNull();
  });
});
