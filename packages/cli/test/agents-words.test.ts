/** What `belay agents` and `belay fix` take, and what they show of what programs printed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];
const RUN = ["agents", "run", "--in-place", "--yes"];

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
  writeFileSync(
    join(sandbox.home, "config.json"),
    JSON.stringify({
      agents: { stub: { command: STUB } },
      agentOrchestration: { autoFix: { backoffBase: 1, maxRetries: { high: 1 } } },
    }),
  );
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("a key in a log is not shown, wherever the pieces end in which the log is read", () => {
  const key = `ghp_${"a1B2".repeat(9)}`;
  const prompt = `lines 32763\nsay ${key}`;
  const { runs } = sandbox.json([...RUN, "--agent", "stub", "-p", prompt]);
  const shown = sandbox.ok("agents", "logs", runs[0].id);
  expect(shown).toContain("y\ny\n");
  expect(shown).not.toContain(key.slice(0, 12));
});

test("what would have no effect is refused, and nothing is started", () => {
  for (const [words, said] of [
    [["run", "stub", "-p", "write b.txt 1", "--agent", "stub"], 'does not take "stub"'],
    [["list", "fork-1"], 'does not take "fork-1"'],
    [["list", "--merge"], "does not take --merge"],
    [["stop", "a", "b"], 'does not take "b"'],
    [["stop", "--all", "a"], 'does not take "a"'],
    [["show", "a", "--stderr"], "does not take --stderr"],
  ] as const)
    expect(sandbox.belay(["agents", ...words])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(said),
    });
  expect(sandbox.json(["agents", "list"]).runs).toEqual([]);
});

test("[M57] v shows once what the loop changed, where output goes", () => {
  const words = ["fix", "--review", "grep -q nothing a.txt", "--agent", "stub", "--yes"];
  const { error } = sandbox.json(words, 3);
  sandbox.write("a.txt", "changed\n");
  const { stdout, stderr, status } = sandbox.belay(["fix", "answer", error.fix.id, "v"]);
  expect(status).toBe(3);
  expect(stdout.match(/^\+changed$/gm)).toHaveLength(1);
  expect(stderr).not.toContain("+changed");
});

test("a review that is typed wrong, or issues that are not there, start no agent", () => {
  for (const [words, said] of [
    [["--review", "no-such-review x"], 'There is no program "no-such-review"'],
    [["--review", "./no-such-review"], 'There is no program "./no-such-review"'],
    [["--review", "grep -q nothing a.txt", "--issues", "gone.json"], "gone.json cannot be read"],
  ] as const)
    expect(sandbox.belay(["fix", ...words, "--agent", "stub", "--yes"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(said),
    });
  expect(sandbox.json(["agents", "list"]).runs).toEqual([]);
  expect(sandbox.json(["fix", "show"]).fixes).toEqual([]);
});
