/** The library for several agents, by its documented names, on a real workspace with real programs. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initWorkspace, type Workspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AgentBook, createOrchestrator, fixIssues, type ReviewIssue } from "../src/orchestration.ts";
import { AUTO_FIX_DEFAULTS } from "../src/fix/auto-fix-config.ts";

const STUB = [process.execPath, join(import.meta.dirname, "programs/stub-agent.cjs")];
const LINES = ["one", "two", "three", "four", "five", "six", "seven", ""];

let scratch: string;
let workspace: Workspace;

beforeEach(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "belay-library-")));
  const root = join(scratch, "project");
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), LINES.join("\n"));
  ({ workspace } = await initWorkspace(root, { home: join(scratch, "home") }));
});

afterEach(async () => {
  expect((await workspace.upkeep.verify()).problems).toEqual([]);
  await workspace.close();
  rmSync(scratch, { recursive: true, force: true });
});

const inProject = (path: string) => readFileSync(join(scratch, "project", path), "utf8");

/** Changes lines of `a.txt` of a working copy. */
function change(root: string, lines: Readonly<Record<number, string>>): void {
  writeFileSync(join(root, "a.txt"), LINES.map((line, at) => lines[at] ?? line).join("\n"));
}

test("[R1950] branches, forks, merges and conflicts are methods of a workspace, by these names", async () => {
  await workspace.createBranch("x", { description: "tried" });
  expect((await workspace.branches()).map(({ name }) => name)).toEqual(["main", "x"]);
  expect(await workspace.planSwitch("x")).toMatchObject({ kind: "switch" });
  await workspace.renameBranch("x", "y");
  expect(await workspace.deleteBranch("y")).toMatchObject({ state: "discarded" });
  expect(await workspace.restoreBranch("y")).toMatchObject({ state: "open" });

  const one = await workspace.fork("one", { git: "none", dependencies: "none", setup: async () => {} });
  const two = await workspace.fork("two");
  expect((await workspace.forks()).map(({ id }) => id)).toEqual([one.id, two.id]);
  change(one.path, { 0: "ONE" });
  change(two.path, { 0: "EINS" });
  await using opened = await workspace.openFork(one.id);
  expect(opened.root).toBe(one.path);

  const held = await workspace.merge(await workspace.planMerge(["one", "two"], { onConflict: "hold" }));
  expect(held.merge.sources.map(({ outcome }) => outcome)).toEqual(["merged", "held"]);
  const [conflict] = await workspace.conflicts(held.merge.id);
  expect((await workspace.resolve(conflict!.id, { take: "theirs" })).conflict.state).toBe("resolved");
  expect((await workspace.reopen(conflict!.id)).state).toBe("open");
  const content = Buffer.from(LINES.with(0, "ONE EINS").join("\n"));
  expect(await workspace.resolve(conflict!.id, { content })).toMatchObject({ open: 0 });
  // one word, two questions: a reference alone is a checkpoint's
  expect(await workspace.resolve("@")).toMatchObject({ branch: "main" });
  expect(await workspace.abandonMerge(held.merge.id)).toMatchObject({ state: "abandoned" });
  expect(inProject("a.txt")).toBe(LINES.with(0, "ONE").join("\n"));
  await workspace.removeFork(two.id, { now: true });
  expect((await workspace.forks()).map(({ name }) => name)).toEqual(["one"]);
});

test("[R1950] a batch tells what happens, is checked, and is merged as one step", async () => {
  const log: string[] = [];
  const orchestrator = createOrchestrator(workspace, {
    agents: new AgentBook({ stub: { command: STUB } }),
    jobs: 2,
    limits: { timeoutMs: 120_000 },
    log: (line) => log.push(line),
  });
  const batch = await orchestrator.start([
    { agent: "stub", role: "backend", prompt: "write b.txt two" },
    { agent: "stub", role: "frontend", prompt: "write c.txt three" },
  ]);
  const told: string[] = [];
  for await (const { type, run } of batch.events())
    if (type !== "agent_progress") told.push(`${run.role} ${type}`);
  for (const role of ["backend", "frontend"])
    expect(told.filter((line) => line.startsWith(role))).toEqual([
      `${role} agent_started`,
      `${role} agent_finished`,
    ]);
  expect((await batch.finished()).map(({ run }) => run.status)).toEqual(["done", "done"]);
  expect(log.filter((line) => line.startsWith("checkpoint "))).toHaveLength(2);

  const held = await batch.merge({ order: "finished", check: ["test", "!", "-e", "b.txt"] });
  expect(held).toMatchObject({ outcome: "partial", merge: { state: "open" } });
  expect(inProject("c.txt")).toBe("three\n");
  expect(() => inProject("b.txt")).toThrow("ENOENT");
  await workspace.abandonMerge(held.merge!.id);
  await workspace.undo();

  expect(await batch.merge({ order: "listed", check: ["true"] })).toMatchObject({ outcome: "applied" });
  expect([inProject("b.txt"), inProject("c.txt")]).toEqual(["two\n", "three\n"]);
  await workspace.undo();
  expect(() => inProject("b.txt")).toThrow("ENOENT");
  await batch.stop();
});

test("[R1950] what the merger of a batch decides is merged too", async () => {
  const orchestrator = createOrchestrator(workspace, { agents: new AgentBook({ stub: { command: STUB } }) });
  const batch = await orchestrator.start([
    { agent: "stub", prompt: "write a.txt first" },
    { agent: "stub", prompt: "write a.txt second" },
  ]);
  const asked: string[] = [];
  const merger = async (merge: string) => {
    for (const { id, path } of await workspace.conflicts(merge)) {
      asked.push(path);
      await workspace.resolve(id, { take: "theirs", by: "merger" });
    }
  };
  expect(await batch.merge({ merger })).toMatchObject({ merge: { state: "applied" } });
  expect(asked).toEqual(["a.txt"]);
  expect(inProject("a.txt")).toBe("second\n");
});

test("[R1950] [M04] one agent in place, and the loop that fixes what a review finds", async () => {
  const orchestrator = createOrchestrator(workspace, { agents: new AgentBook({ stub: { command: STUB } }) });
  const { run } = await orchestrator.executeAgent("stub", { prompt: "write d.txt broken" });
  expect(run).toMatchObject({ status: "done", fork: null });
  const issue: ReviewIssue = { severity: "medium", message: "broken", file: "d.txt", line: 1 };
  const fixed = await fixIssues(workspace, {
    review: async () => (inProject("d.txt") === "broken\n" ? [issue] : []),
    fixer: async () => {
      const { run: fix } = await orchestrator.executeAgent("stub", "write d.txt whole");
      return { run: fix.id, thread: fix.thread, tree: null, cost: fix.cost, tokens: null };
    },
    config: AUTO_FIX_DEFAULTS,
    ask: async () => "a",
  });
  expect(fixed).toMatchObject({ success: true, totalRetries: 1, state: "clean" });
});
