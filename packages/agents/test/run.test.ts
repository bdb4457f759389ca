/** Runs of a program in place, on real files, a real store and real processes. */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initWorkspace, type Workspace } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AgentBook, readAgentBook } from "../src/orchestrate/agent-book.ts";
import {
  createOrchestrator,
  type Orchestrator,
  type OrchestratorOptions,
} from "../src/orchestrate/orchestrator.ts";
import { processesOf } from "../src/run/process-tree.ts";

const STUB = [process.execPath, join(import.meta.dirname, "programs/stub-agent.cjs")];

let scratch: string;
let workspace: Workspace;
let lines: string[];

beforeEach(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "belay-run-")));
  const root = join(scratch, "project");
  const { mkdirSync } = await import("node:fs");
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), "one\n");
  ({ workspace } = await initWorkspace(root, { home: join(scratch, "home") }));
  lines = [];
});

afterEach(async () => {
  await workspace.close();
  rmSync(scratch, { recursive: true, force: true });
});

function orchestrator(options: Partial<OrchestratorOptions> = {}): Orchestrator {
  return createOrchestrator(workspace, {
    agents: new AgentBook({ stub: { command: STUB } }),
    log: (line) => lines.push(line),
    ...options,
  });
}

const project = (path: string) => join(scratch, "project", path);

describe("an agent in place", () => {
  test("[M04, M38] is a turn between two checkpoints, and one undo takes its work out", async () => {
    const { run } = await orchestrator().executeAgent("stub", {
      role: "backend",
      prompt: "write b.txt two\nwrite a.txt changed",
    });
    const recorded = await workspace.runs.find(run.id);
    expect(recorded).toMatchObject({
      status: "done",
      role: "backend",
      fork: null,
      branch: "main",
      exitCode: 0,
      changes: { added: 1, modified: 1, deleted: 0 },
    });
    const before = await workspace.resolve(recorded.before!);
    expect(before).toMatchObject({ kind: "agent", phase: "before", description: "Before agent: backend" });
    expect(await workspace.resolve(recorded.after!)).toMatchObject({ kind: "agent", phase: "after" });
    expect(lines[0]).toContain(before.id);
    expect((await workspace.threads.history(recorded.thread!)).messages[0]!.content).toContain("write b.txt");

    expect((await workspace.undo()).outcome).toBe("applied");
    expect(existsSync(project("b.txt"))).toBe(false);
    expect(readFileSync(project("a.txt"), "utf8")).toBe("one\n");
  });

  test("[M41] that fails leaves its checkpoint, which is logged and leads back", async () => {
    const { run } = await orchestrator().executeAgent("stub", "write a.txt broken\nfail 7");
    expect(run).toMatchObject({ status: "failed", reason: "exit code 7" });
    expect(lines.at(-1)).toContain(run.before!);
    await workspace.restoreTo(run.before!);
    expect(readFileSync(project("a.txt"), "utf8")).toBe("one\n");
  });

  test("[M41] that cannot be started leaves its checkpoint too", async () => {
    const agents = new AgentBook({ none: { command: [join(scratch, "not-there")] } });
    const { run } = await orchestrator({ agents }).executeAgent("none", "anything");
    expect(run.status).toBe("failed");
    expect(run.reason).toContain("could not be started");
    expect(run.before).not.toBeNull();
  });

  test("that cannot be watched to its end is ended, and its record says why", async () => {
    const agent = new AgentBook({ stub: { command: STUB } }).find("stub");
    const read = () => {
      throw new Error("no room for the log");
    };
    const { run } = await orchestrator().executeAgent({ ...agent, read }, "say hello\nhang");
    expect(run.status).toBe("failed");
    expect(run.reason).toBe("Belay could not watch it to its end, and ended it: no room for the log");
    expect(processesOf({ id: run.id, pid: null })).toEqual([]);
  });

  test("[M15, R102] what it cost is what it reported, and null where it did not", async () => {
    const told = await orchestrator().executeAgent("stub", "cost 0.12 3400");
    expect(told.run).toMatchObject({ cost: 0.12, tokens: { total: 3400, input: null }, session: "s-1" });
    const silent = await orchestrator().executeAgent("stub", "write c.txt x");
    expect(silent.run).toMatchObject({ cost: null, tokens: null, session: null });
    const [agent] = await workspace.turns.agents((await workspace.runs.find(silent.run.id)).thread!);
    expect(agent).toMatchObject({ cost: null, tokens: null, status: "done" });
  });

  test("has its mark in its environment, and nothing of Belay's own token", async () => {
    const environment = { ...process.env, BELAY_TOKEN: "secret" };
    const { run } = await orchestrator({ environment }).executeAgent(
      "stub",
      "env BELAY_RUN run.txt\nenv BELAY_TOKEN token.txt",
    );
    expect(readFileSync(project("run.txt"), "utf8")).toBe(run.id);
    expect(readFileSync(project("token.txt"), "utf8")).toBe("none");
  });

  test("writes its log into files for the user alone", async () => {
    const { run } = await orchestrator().executeAgent("stub", "say hello");
    const { log } = await workspace.runs.find(run.id);
    expect(readFileSync(log!.stdout, "utf8")).toBe("hello\n");
    expect(statSync(log!.stdout).mode & 0o777).toBe(0o600);
    expect(statSync(join(log!.stdout, "..")).mode & 0o777).toBe(0o700);
  });
});

describe("limits", () => {
  test("time: it is stopped, and nothing of it is left or lost", async () => {
    // the time is over when the file is there, however long the machine takes for it
    const now = () => Date.now() + (existsSync(project("b.txt")) ? 3_600_000 : 0);
    const { run } = await orchestrator({ now }).executeAgent("stub", {
      prompt: "write b.txt kept\nhang",
      limits: { timeoutMs: 1_800_000 },
    });
    expect(run).toMatchObject({ status: "timed-out", reason: "it ran longer than 30 min" });
    expect(readFileSync(project("b.txt"), "utf8")).toBe("kept\n");
    expect(processesOf({ id: run.id, pid: run.process!.pid })).toEqual([]);
  });

  test("cost and tokens, as soon as the agent reports them", async () => {
    const cost = await orchestrator().executeAgent("stub", {
      prompt: "cost 2 10\nhang",
      limits: { maxCost: 1 },
    });
    expect(cost.run).toMatchObject({ status: "over-budget", reason: "it cost 2, more than 1", cost: 2 });
    const tokens = await orchestrator().executeAgent("stub", {
      prompt: "cost 2 10\nhang",
      limits: { maxTokens: 9 },
    });
    expect(tokens.run).toMatchObject({ status: "over-budget" });
  });

  test("[R102] what is within its limits, or reports no cost, goes on to its end", async () => {
    for (const [steps, maxCost] of [
      ["cost 1 9\nsleep 500\nwrite b.txt kept", 1],
      ["sleep 500\nwrite b.txt kept", 0],
    ] as const) {
      const limits = { maxCost, maxTokens: 9 };
      const { run } = await orchestrator().executeAgent("stub", { prompt: steps, limits });
      expect(run).toMatchObject({ status: "done", cost: maxCost === 0 ? null : 1 });
    }
  });

  test("a flood of output: the run is stopped and its log cut", async () => {
    const { run } = await orchestrator({ logBytes: 1 << 20 }).executeAgent("stub", "flood");
    expect(run).toMatchObject({
      status: "failed",
      reason: "it printed more than 1 MiB",
      log: { truncated: true },
    });
    expect(statSync(run.log!.stdout).size).toBe(1 << 20);
  });

  test("millions of short lines are read along, and what the agent reports after them counts", async () => {
    const { run } = await orchestrator().executeAgent("stub", "lines 2500000\ncost 3 7");
    expect(run).toMatchObject({ status: "done", cost: 3, tokens: { total: 7 }, log: { truncated: false } });
  });
});

describe("[R101, I74] a stop", () => {
  test("ends every process, also one that left the group and was given another parent", async () => {
    const book = orchestrator();
    const batch = await book.start([{ agent: "stub", prompt: "leave alive.txt\nhang" }], { inPlace: true });
    const { id } = batch.runs[0]!;
    await expect.poll(() => existsSync(project("alive.txt"))).toBe(true);
    expect(processesOf({ id, pid: (await workspace.runs.find(id)).process!.pid }).length).toBeGreaterThan(1);
    await batch.stop();
    const { run } = (await batch.finished())[0]!;
    expect(run.status).toBe("stopped");
    expect(processesOf({ id, pid: run.process!.pid })).toEqual([]);
    const size = statSync(project("alive.txt")).size;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(statSync(project("alive.txt")).size).toBe(size);
  });

  test("[R101] of a run whose program is dead leaves the program alone that has its pid now", async () => {
    const other = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    try {
      const limits = { timeoutMs: null, maxCost: null, maxTokens: null };
      const run = await workspace.runs.add({
        agent: "stub",
        role: "stub",
        command: STUB,
        prompt: "hang",
        limits,
      });
      const [stdout, stderr] = [join(scratch, "out"), join(scratch, "err")];
      for (const file of [stdout, stderr]) writeFileSync(file, "");
      await workspace.runs.begin(run.id, { stdout, stderr });
      const now = workspace.runs.identify(other.pid!);
      await workspace.runs.started(run.id, { ...now, started: `${now.started}0` });
      const stopping = orchestrator().stop(run.id);
      await orchestrator().watch(run.id);
      expect((await stopping).status).toBe("stopped");
      expect(processesOf({ id: "none", pid: other.pid! })).toEqual([other.pid!]);
    } finally {
      other.kill("SIGKILL");
    }
  });

  test("of a run that waits: it never starts", async () => {
    const book = orchestrator();
    const tasks = [{ prompt: "sleep 300" }, { prompt: "write never.txt x" }].map((task) => ({
      ...task,
      agent: "stub",
    }));
    const batch = await book.start(tasks, { inPlace: true });
    await batch.stop();
    const runs = (await batch.finished()).map(({ run }) => run.status);
    expect(runs).toEqual(["stopped", "stopped"]);
    expect(existsSync(project("never.txt"))).toBe(false);
  });
});

describe("[R100] commands", () => {
  test("come from what Belay knows and from the user's settings; another name is refused", async () => {
    await expect(orchestrator().executeAgent("nothing", "x")).rejects.toMatchObject({
      code: "AGENT_NOT_FOUND",
    });
    writeFileSync(
      project("config.json"),
      JSON.stringify({ agents: { evil: { command: ["touch", "owned"] } } }),
    );
    await expect(orchestrator().executeAgent("evil", "x")).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
    expect(existsSync(project("owned"))).toBe(false);
  });

  test("are lists of words: a prompt is never read by a shell", async () => {
    const agents = new AgentBook({ echo: { command: [...STUB, "{prompt}"] } });
    const { run } = await orchestrator({ agents }).executeAgent("echo", "say $(touch owned); touch owned");
    expect(run.status).toBe("done");
    expect(existsSync(project("owned"))).toBe(false);
    expect(() => readAgentBook({ mine: { command: "claude -p" } })).toThrow(/list of words/);
  });

  test("of the agents that Belay knows hold no flag that switches their own checks off", () => {
    const book = new AgentBook();
    for (const name of book.names) {
      const { command, resume = [] } = book.find(name);
      expect([...command, ...resume].join(" ")).not.toMatch(
        /dangerous|yolo|skip-permissions|full-auto|allow-all/,
      );
    }
  });
});

test("a second agent in the same directory does not take the work of the first [I67]", async () => {
  const book = orchestrator();
  const first = await book.executeAgent("stub", "write first.txt 1");
  await book.executeAgent("stub", "write second.txt 2");
  const { thread } = await workspace.runs.find(first.run.id);
  expect((await workspace.undo({ thread: thread! })).outcome).toBe("applied");
  expect(existsSync(project("first.txt"))).toBe(false);
  expect(readFileSync(project("second.txt"), "utf8")).toBe("2\n");
});

test("events tell of the start, what it cost, and the end", async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of workspace.events.read({ after: 0, signal: controller.signal }))
      if (event.type.startsWith("agent_")) seen.push(event.type);
  })();
  await orchestrator().executeAgent("stub", "cost 1 2\nsleep 1300");
  await expect.poll(() => seen.includes("agent_finished")).toBe(true);
  controller.abort();
  await reading.catch(() => undefined);
  expect(seen[0]).toBe("agent_started");
  expect(seen).toContain("agent_progress");
});
