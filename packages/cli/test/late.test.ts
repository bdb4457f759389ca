/**
 * [R71] A hook holds an agent up for a second at most, however long its capture takes: the process that captures stands
 * still when it comes to `z.txt`, until the test lets it go on.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { standsStillAt, untilStandingStill } from "../../engine/test/support/standing-still.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

const flag = () => join(sandbox.base, "stand-still");
/** The process that captures has this; the one that answers the agent reads no file of the project. */
const NODE_OPTIONS = () => standsStillAt("z.txt", { flag: flag(), call: "openSync" });

/** One event of Claude Code through the real command; without `waitMs` a hook that is not to be late has all the time it needs. */
function hook(
  event: string,
  more: Record<string, unknown> = {},
  waitMs = 30_000,
): { readonly systemMessage?: string } {
  const common = { session_id: "s1", cwd: sandbox.project, prompt_id: "p1", permission_mode: "default" };
  const tool = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "make" } };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [LAUNCHER, "--home", sandbox.home, "hook", "claude-code"],
    {
      cwd: sandbox.project,
      input: JSON.stringify({ ...common, ...tool, hook_event_name: event, ...more }),
      encoding: "utf8",
      env: {
        ...sandbox.environment,
        BELAY_RESIDENT: "off",
        BELAY_WAIT_MS: String(waitMs),
        NODE_OPTIONS: NODE_OPTIONS(),
      },
    },
  );
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** How long the agent is held up unless the environment says otherwise. */
const A_SECOND = 0;

/** A hook whose capture does not end in time, and the process that stands still in it. */
async function lateHook(): Promise<number> {
  sandbox.write("z.txt", "in time\n");
  writeFileSync(flag(), "");
  expect(hook("PreToolUse", {}, A_SECOND).systemMessage).toContain("will be late");
  expect(notes()).toHaveLength(1);
  const [{ worker }] = notes() as [{ worker: number }];
  await untilStandingStill(worker);
  rmSync(flag());
  return worker;
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
  const env = { NODE_OPTIONS: NODE_OPTIONS() };
  if (how !== "alone") expect(sandbox.belay(["start"], { env }).status).toBe(0);
  expect(hook("UserPromptSubmit", { prompt: "make it" })).toEqual({});
}

describe.each(["alone", "with the resident process"])(
  "a capture that takes seconds, %s",
  { timeout: 240_000 },
  (how) => {
    test("[R70] [R71] the agent is let go on, and the checkpoint that comes late is marked", async () => {
      await start(how);
      const worker = await lateHook();
      sandbox.write("z.txt", "after\n");
      // the second of this turn is used up
      expect(hook("PostToolUse", {}, A_SECOND).systemMessage).toContain("will be late");
      process.kill(worker, "SIGCONT");
      await untilDone();
      expect(hook("Stop")).toEqual({});
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
      process.kill(await lateHook(), "SIGKILL");
      sandbox.write("z.txt", "after\n");
      expect(sandbox.belay(["doctor"]).stdout).toMatch(/overdue events: 1 /);
      expect(hook("PostToolUse")).toEqual({});
      await untilDone();
      expect(descriptions()).toEqual(["After Bash", "Before Bash: make"]);
      const { checkpoint } = sandbox.json(["show", "t1"]);
      expect(checkpoint.doubts).toEqual([{ path: "z.txt", reason: "missed" }]);
      expect(sandbox.ok("list")).toMatch(/Before Bash: make \(missed\)/);
      await sandbox.verify();
    });
  },
);
