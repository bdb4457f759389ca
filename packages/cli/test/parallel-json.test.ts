/** What the commands for branches, forks, runs, merges, conflicts and fixes print with `--json`, field by field. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { shapes } from "@belay/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { undeclared } from "../../server/test/support/undeclared-fields.ts";
import { Sandbox } from "./sandbox.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];
const LINES = Array.from({ length: 9 }, (_, at) => `const a${at + 1} = ${at + 1};\n`).join("");
const line = (number: number, text: string) => LINES.replace(`const a${number} = ${number};`, text);

const RUN = ["agents", "run", "--yes"];

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.ts": LINES, "c.txt": "c\n" });
  const settings = {
    agents: { stub: { command: STUB } },
    reviews: { todo: { command: [process.execPath, "-e", `console.log("c.txt:1:1: error: no")`] } },
    "agentOrchestration.autoFix": { maxRetries: { medium: 1 } },
  };
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(settings));
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const { branch, fork, run, merge, mergeOutcome, mergeConflict, fix } = shapes;
const SHAPES = { branch, fork, run, merge, mergeOutcome, mergeConflict, fix };
type Shape = keyof typeof SHAPES;

/** It has every field of its shape, each of the right kind, and no other. */
function expectShape<Told>(shape: Shape, told: Told): Told {
  expect(SHAPES[shape].safeParse(told).error, shape).toBeUndefined();
  expect(undeclared(SHAPES[shape], told), shape).toEqual([]);
  return told;
}

const each = (shape: Shape, told: readonly unknown[]) => {
  expect(told.length, shape).toBeGreaterThan(0);
  for (const one of told) expectShape(shape, one);
};

test("[R1950] branches and forks are printed with their documented fields", () => {
  sandbox.write("node_modules/x/index.js", "1\n");
  expectShape("branch", sandbox.json(["branch", "idea"]).branch);
  each("branch", sandbox.json(["branch"]).branches);
  expectShape("branch", sandbox.json(["branch", "-m", "idea", "other"]).branch);
  expectShape("branch", sandbox.json(["branch", "-d", "other"]).branch);
  expectShape("branch", sandbox.json(["branch", "--restore", "other"]).branch);
  const made = expectShape("fork", sandbox.json(["fork", "one"]).fork);
  expect(made).toMatchObject({
    name: "one",
    branch: "one",
    state: "ready",
    method: expect.stringMatching(/^(?:clone|copy)$/),
    git: "none",
    run: null,
    dependencies: [{ path: "node_modules", how: expect.stringMatching(/^(?:cloned|copied)$/), reason: null }],
  });
  each("fork", sandbox.json(["fork", "list"]).forks);
  const removed = sandbox.json(["fork", "remove", "one"]);
  expectShape("fork", removed.fork);
  expectShape("branch", removed.branch);
  expectShape("fork", sandbox.json(["fork", "restore", "one"]).fork);
});

test("[R1950] runs, merges, conflicts and their outcomes are printed with their documented fields", async () => {
  const three = [
    `write a.ts ${line(3, "const a3 = 33;").trim().replaceAll("\n", " ")}`,
    "write n.txt new\ncost 0.5 7",
    "write c.txt half\nfail 1",
  ];
  const words = [...RUN, "--agent", "stub", ...three.flatMap((text) => ["-p", text])];
  const { runs, batch } = sandbox.json(words, 3);
  each("run", runs);
  expect(runs).toMatchObject([
    { batch, status: "done", cost: null, tokens: null, exitCode: 0 },
    { batch, status: "done", cost: 0.5, tokens: { total: 7 }, session: "s-1" },
    { batch, status: "failed", reason: "exit code 1", exitCode: 1, signal: null },
  ]);
  each("run", sandbox.json(["agents", "list"]).runs);
  expectShape("run", sandbox.json(["agents", "show", runs[0].id]).run);
  const { runs: atWork } = sandbox.json([...RUN, "--detach", "--agent", "stub", "-p", "hang"]);
  const forkOf = () => sandbox.json(["fork", "list"]).forks.at(-1).run;
  await expect.poll(forkOf).toBe(atWork[0].id);
  sandbox.ok("agents", "stop", "--all");
  expect(forkOf()).toBeNull();
  sandbox.write("a.ts", line(3, "const a3 = 3000;"));
  const names = [runs[0].branch, runs[1].branch];
  const dry = expectShape("merge", sandbox.json(["merge", ...names, "--dry-run"], 3).merge);
  expect(dry.sources).toMatchObject([
    { run: runs[0].id, outcome: "held", commits: 0 },
    { run: runs[1].id, outcome: "merged", commits: 0 },
  ]);
  const outcome = expectShape("mergeOutcome", sandbox.json(["merge", ...names, "--yes"], 3));
  expect(outcome).toMatchObject({ outcome: "partial", state: "open", created: 1, modified: 0, deleted: 0 });
  each("mergeConflict", sandbox.json(["conflicts"]).conflicts);
  expectShape("mergeConflict", sandbox.json(["conflicts", "a.ts"]).conflict);
  const decided = sandbox.json(["resolve", "a.ts", "--take", "ours"]);
  expect(expectShape("mergeConflict", decided.conflict).resolution).toMatchObject({
    by: "user",
    take: "ours",
    explanation: null,
    dropped: [],
  });
  expectShape("mergeOutcome", decided.merge);
});

test("[R1950] loops of fixes are printed with their documented fields", () => {
  const words = ["fix", "--review", "todo", "--agent", "stub", "--yes"];
  const { fix: loop } = sandbox.error(words, 3);
  expectShape("fix", loop);
  expect(loop).toMatchObject({ state: "escalated", snapshots: 1, options: ["a", "r", "v", "m", "c"] });
  expectShape("fix", sandbox.json(["fix", "show", loop.id]).fix);
  each("fix", sandbox.json(["fix", "show"]).fixes);
  const accepted = expectShape("fix", sandbox.json(["fix", "answer", loop.id, "a"]).fix);
  expect(accepted.result).toMatchObject({ success: true, totalRetries: 1 });
});
