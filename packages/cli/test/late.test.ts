/** [R71] A hook holds an agent up for a second at most, however long its capture takes: a real one, of real bytes. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

/** The default. */
const A_SECOND = 0;

let sandbox: Sandbox;
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

interface Hooked {
  readonly answer: { readonly systemMessage?: string };
  readonly tookMs: number;
}

/** One event of Claude Code through the real command; a hook that is not to be late has all the time it needs. */
function hook(event: string, more: Record<string, unknown> = {}, waitMs = 30_000): Hooked {
  const started = performance.now();
  const common = { session_id: "s1", cwd: sandbox.project, prompt_id: "p1", permission_mode: "default" };
  const tool = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "make" } };
  const { status, stdout } = spawnSync(
    process.execPath,
    [LAUNCHER, "--home", sandbox.home, "hook", "claude-code"],
    {
      cwd: sandbox.project,
      input: JSON.stringify({ ...common, ...tool, hook_event_name: event, ...more }),
      encoding: "utf8",
      env: { ...sandbox.environment, BELAY_RESIDENT: "off", BELAY_WAIT_MS: String(waitMs) },
    },
  );
  expect(status).toBe(0);
  return {
    answer: JSON.parse(stdout) as Hooked["answer"],
    tookMs: performance.now() - started,
  };
}

/** Gigabytes that take no space: reading and naming them takes seconds. `z.txt` is read after them. */
function makeSlow(files: number): void {
  for (let at = 0; at < files; at += 1) {
    const path = sandbox.path(`large-${at}`);
    writeFileSync(path, `${at}`);
    truncateSync(path, 62 * 1024 * 1024);
  }
  sandbox.write("z.txt", "in time\n");
}

const overdue = () => join(sandbox.home, "agents/overdue");
const notes = () =>
  readdirSync(overdue(), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(overdue(), name), "utf8")) as { worker: number });

async function untilDone(): Promise<void> {
  for (let left = 1200; left > 0 && existsSync(overdue()) && notes().length > 0; left -= 1) await pause(50);
  expect(existsSync(overdue()) ? notes() : []).toEqual([]);
}

const descriptions = () =>
  (sandbox.json(["list", "--kind", "tool"]) as { checkpoints: { description: string }[] }).checkpoints.map(
    ({ description }) => description,
  );

async function start(how: string): Promise<void> {
  sandbox = await Sandbox.protected({ "a.txt": "one\n", "z.txt": "two\n" });
  if (how !== "alone") expect(sandbox.belay(["start"]).status).toBe(0);
  expect(hook("UserPromptSubmit", { prompt: "make it" }).answer).toEqual({});
}

describe.each(["alone", "with the resident process"])(
  "a capture that takes seconds, %s",
  { timeout: 240_000, retry: 1 },
  (how) => {
    test("[R70] [R71] the agent is let go on, and the checkpoint that comes late is marked", async () => {
      await start(how);
      makeSlow(30);
      const before = hook("PreToolUse", {}, A_SECOND);
      expect(before.answer.systemMessage).toContain("will be late");
      // a second, and what a busy machine adds to the start of a process
      expect(before.tookMs).toBeLessThan(1500);
      expect(notes()).toHaveLength(1);
      sandbox.write("z.txt", "after\n");
      // the second of this turn is used up
      const after = hook("PostToolUse", {}, A_SECOND);
      expect(after.answer.systemMessage).toContain("will be late");
      expect(after.tookMs).toBeLessThan(before.tookMs);
      await untilDone();
      expect(hook("Stop").answer).toEqual({});
      expect(existsSync(overdue())).toBe(false);
      expect(descriptions()).toEqual(["After Bash", "Before Bash: make"]);
      const { checkpoint } = sandbox.json(["show", "t1"]);
      expect(checkpoint).toMatchObject({
        description: "Before Bash: make",
        doubts: [{ path: "z.txt", reason: "late" }],
      });
      expect(sandbox.ok("list")).toMatch(/Before Bash: make \(late\)/);
      const { stdout } = sandbox.belay(["doctor"]);
      expect(stdout).toMatch(/late captures: 1 checkpoint/);
      expect(stdout).toMatch(/hook errors: 2 in the last week/);
      await sandbox.verify();
    });

    test("[R71] an event that was not carried out is made up for with the next one, and marked", async () => {
      await start(how);
      makeSlow(10);
      expect(hook("PreToolUse", {}, 300).answer.systemMessage).toContain("will be late");
      const [{ worker } = { worker: 0 }] = notes();
      process.kill(worker, "SIGKILL");
      sandbox.write("z.txt", "after\n");
      expect(sandbox.belay(["doctor"]).stdout).toMatch(/overdue events: 1 /);
      expect(hook("PostToolUse").answer).toEqual({});
      await untilDone();
      expect(descriptions()).toEqual(["After Bash", "Before Bash: make"]);
      const { checkpoint } = sandbox.json(["show", "t1"]);
      expect(checkpoint.doubts).toEqual([{ path: "z.txt", reason: "missed" }]);
      expect(sandbox.ok("list")).toMatch(/Before Bash: make \(missed\)/);
      await sandbox.verify();
    });
  },
);
