/** A turn that could not be captured is remembered, and stands in the timeline as soon as there is room for it. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listUncaptured, noteUncaptured, setUncapturedAside } from "@belay/agents/uncaptured";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canMount, mountSmall, unmount } from "../../engine/test/support/project.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
const ENV = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000", PATH: "/usr/bin:/bin" };

function hook(name: string, more: Record<string, unknown> = {}): { systemMessage?: string } {
  const input = JSON.stringify({ hook_event_name: name, session_id: "s1", cwd: sandbox.project, ...more });
  const done = sandbox.belay(["hook", "claude-code"], { input, env: ENV });
  expect(done.status).toBe(0);
  return JSON.parse(done.stdout) as { systemMessage?: string };
}

function bash(id: string, write: () => void): { systemMessage?: string }[] {
  const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: id };
  const before = hook("PreToolUse", call);
  write();
  return [before, hook("PostToolUse", call)];
}

const prompt = (id: string, text: string) => hook("UserPromptSubmit", { prompt: text, prompt_id: id });

describe.skipIf(!canMount).each(["alone", "with the resident process"])("[R153] a full disk, %s", (how) => {
  beforeEach(async () => {
    sandbox = new Sandbox({ "a.txt": "one\n" });
    mkdirSync(sandbox.home, { mode: 0o700 });
    expect(mountSmall(sandbox.home, "24m")).toBe(true);
    chmodSync(sandbox.home, 0o700);
    await sandbox.protect();
    if (how !== "alone") expect(sandbox.belay(["start"], { env: ENV }).status).toBe(0);
  });
  afterEach(() => {
    sandbox.belay(["stop"]);
    unmount(sandbox.home);
    sandbox[Symbol.dispose]();
  });

  const fill = () => spawnSync("sh", ["-c", `cat /dev/zero >'${sandbox.home}/filler'`]);

  test("the turn is in list, thread and doctor with its prompt; the next one is captured", async () => {
    prompt("p1", "first things first");
    bash("t1", () => sandbox.write("a.txt", "two\n"));
    hook("Stop");
    fill();
    sandbox.write("big.bin", randomBytes(2 ** 23).toString("hex"));
    const noSpace = /may not be captured \(.*(?:no space (?:is )?left|disk is full)/i;
    expect(prompt("p2", "make it much faster").systemMessage).toMatch(noSpace);
    for (const answer of bash("t2", () => sandbox.write("c.txt", "three\n")))
      expect(answer.systemMessage).toMatch(noSpace);
    hook("Stop");
    const whileFull = (...words: string[]) => sandbox.belay(words, { env: ENV });
    expect(whileFull("doctor")).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/not captured: 1 turn is not in any timeline yet/) as string,
    });
    const [first] = whileFull("status").stdout.split("\n");
    expect(first).toMatch(
      /^✗ checkpoints fail since \d\d:\d\d, and agents go on unprotected: .*(?:space|full)/i,
    );
    expect(whileFull("status", "--short").stdout).toMatch(/^✗ captures fail/);
    expect(whileFull("undo", "--dry-run").stdout).toContain(
      "1 turn since then was not captured: what it changed is not taken back (`belay doctor`)",
    );

    rmSync(join(sandbox.home, "filler"));
    rmSync(sandbox.path("big.bin"));
    const newest = sandbox.json(["list"]).checkpoints[0].seq as number;
    const undo = () => sandbox.json(["undo", "--dry-run"]).plan;
    expect(undo()).toMatchObject({
      warnings: [expect.stringMatching(/^1 turn since then was not captured/)],
    });
    prompt("p3", "and now the tests");
    bash("t3", () => sandbox.write("a.txt", "four\n"));
    hook("Stop");

    expect(undo().warnings).toEqual([]);
    const { checkpoints, uncaptured } = sandbox.json(["list"]);
    expect(uncaptured).toMatchObject([{ prompt: "make it much faster", after: newest }]);
    expect(uncaptured[0].events).toBeGreaterThanOrEqual(3);
    expect(uncaptured[0].problem).toMatch(/space|full/i);
    expect(checkpoints.some(({ messageId }: { messageId: string }) => messageId === "p3")).toBe(true);
    const rows = sandbox.ok("list").split("\n");
    const lost = rows.findIndex((row) => row.includes("not captured: make it much faster"));
    const of = (text: string) => rows.findIndex((row) => row.includes(text));
    expect(lost).toBeGreaterThan(of("and now the tests"));
    expect(lost).toBeLessThan(of("first things first"));

    const [thread] = sandbox.json(["threads"]).threads;
    const { messages } = sandbox.json(["thread", thread.id]);
    expect(
      messages.map((one: { content: string; uncaptured: string | null }) => [
        one.content,
        one.uncaptured !== null,
      ]),
    ).toEqual([
      ["first things first", false],
      ["make it much faster", true],
      ["and now the tests", false],
    ]);
    expect(sandbox.ok("thread", thread.id)).toMatch(/\(not captured: .*\) make it much faster/);
    expect(sandbox.belay(["doctor"], { env: ENV }).stdout).toMatch(/not captured: 1 turn of the last week/);
    expect(listUncaptured(sandbox.home)).toEqual([]);
    expect(sandbox.belay(["stop"]).status).toBe(0);
    await sandbox.verify();
  });

  test("a command tells of it as well, before any agent comes again", () => {
    prompt("p1", "first things first");
    hook("Stop");
    fill();
    sandbox.write("big.bin", randomBytes(2 ** 23).toString("hex"));
    prompt("p2", "lost words");
    rmSync(join(sandbox.home, "filler"));
    expect(sandbox.ok("list")).toContain("not captured: lost words");
    expect(sandbox.ok("undo")).toContain("warning: 1 turn was not captured and cannot be undone");
    expect(listUncaptured(sandbox.home)).toEqual([]);
  });
});

test("[R153] a store that fails: what was not captured waits, and doctor says so", async () => {
  sandbox = await Sandbox.protected();
  prompt("p1", "first");
  const { store } = sandbox.json(["status"]);
  const whole = readFileSync(join(store, "store.db"));
  writeFileSync(join(store, "store.db"), "not a database");
  // an agent may know the directory by another name
  const link = join(sandbox.base, "link");
  symlinkSync(sandbox.project, link);
  const lost = hook("UserPromptSubmit", { prompt: "second", prompt_id: "p2", cwd: link });
  expect(lost.systemMessage).toMatch(/may not be captured/);
  const doctor = sandbox.belay(["doctor"], { env: ENV });
  expect(doctor).toMatchObject({ status: 1, stdout: expect.stringContaining("not in any timeline yet") });
  writeFileSync(join(store, "store.db"), whole);
  expect(sandbox.ok("list")).toContain("not captured: second");
  sandbox[Symbol.dispose]();
});

describe("[R153] the place that is set aside", () => {
  beforeEach(() => {
    sandbox = new Sandbox();
    mkdirSync(sandbox.home, { mode: 0o700 });
  });
  afterEach(() => sandbox[Symbol.dispose]());

  const lost = (session: string, text: string, now: number) => {
    const origin = {
      session,
      parentSession: null,
      cwd: "/p",
      transcript: null,
      turnId: null,
      run: null,
      moment: null,
      key: text,
    };
    const event = { ...origin, kind: "prompt", text, messageId: null } as const;
    noteUncaptured(sandbox.home, { agent: "claude-code", event, ends: [], cwd: "/p", now, problem: "full" });
  };

  test("never grows, keeps the newest turns, and cuts a long prompt", () => {
    setUncapturedAside(sandbox.home);
    const file = join(sandbox.home, "agents", "uncaptured");
    const { size, ino } = statSync(file);
    for (let turn = 0; turn < 100; turn += 1) lost(`s${turn}`, `${turn} ${"ü".repeat(10_000)}`, turn);
    expect(statSync(file)).toMatchObject({ size, ino, mode: 0o100600 });
    const kept = listUncaptured(sandbox.home);
    expect(kept).toHaveLength(32);
    expect(kept.at(-1)).toMatchObject({ session: "s99", prompt: expect.stringMatching(/^99 ü+…$/) });
  });

  test("without it nothing is remembered and nothing fails", () => {
    lost("s1", "hello", 1);
    expect(listUncaptured(sandbox.home)).toEqual([]);
  });
});
