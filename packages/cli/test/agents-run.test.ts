/** `belay agents` and `belay fix`, as a user types them. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createSystem, openWorkspace, type Run } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];

const HAS_PYTHON = spawnSync("python3", ["-c", "import ctypes"]).status === 0;
if (!HAS_PYTHON)
  console.log("No Python is installed: the test of a program that outlives its first thread is skipped.");

/** A program whose first thread ends, which looks like a zombie, while another goes on and no request ends it. */
const HEADLESS = `
import ctypes, signal, threading, time
def work():
    while True:
        with open("alive.txt", "a") as file: file.write(".")
        time.sleep(0.02)
signal.signal(signal.SIGTERM, lambda *_: None)
threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)
`;

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
  configure({ agents: { stub: { command: STUB } } });
});
afterEach(async () => {
  sandbox.belay(["agents", "stop", "--all"]);
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

function configure(settings: object): void {
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(settings));
}

/** The only run that has not ended, and the process that watches it. */
async function watcherOf(): Promise<{ pid: number; run: string }> {
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const [run] = await workspace.runs.list({ alive: true });
  return { pid: run!.watcher!.pid, run: run!.id };
}

/** A run as the store has it; no command looks after it. */
async function recorded(id: string): Promise<Run> {
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  return await workspace.runs.find(id);
}

const RUN = ["agents", "run", "--in-place", "--yes"];

describe("belay agents run", () => {
  test("[M15] runs in place, says what it did and cost, and is one undo", () => {
    const { runs, batch } = sandbox.json([...RUN, "--agent", "stub", "-p", "write b.txt two\ncost 0.5 7"]);
    expect(runs).toEqual([
      expect.objectContaining({
        batch,
        status: "done",
        agent: "stub",
        role: "stub",
        fork: null,
        branch: "main",
        exitCode: 0,
        cost: 0.5,
        tokens: { input: null, output: null, cached: null, total: 7 },
        changes: { added: 1, modified: 0, deleted: 0 },
        resumable: true,
        escaped: [],
      }),
    ]);
    expect(sandbox.ok("agents", "list")).toMatch(/✓ {2}[k-z]{8} {2}stub {2}done .*\$0\.50, 7 tokens/);
    expect(sandbox.ok("agents", "show", runs[0].id.slice(0, 6))).toContain(runs[0].before);
    sandbox.ok("undo", "--yes");
    expect(sandbox.read("b.txt")).toBeUndefined();
  });

  test("[M41] 3 when a run failed, with the checkpoint before it in its report; 4 without such an agent", () => {
    const ran = sandbox.belay([...RUN, "--agent", "stub", "-p", "write a.txt x\nfail 1"]);
    expect(ran.status).toBe(3);
    const [run] = sandbox.json(["agents", "list"]).runs;
    expect(run).toMatchObject({ status: "failed", reason: "exit code 1", cost: null, tokens: null });
    expect(ran.stderr).toContain(`checkpoint ${run.before} is before it`);
    expect(sandbox.belay([...RUN, "--agent", "other", "-p", "x"]).status).toBe(4);
    expect(sandbox.belay([...RUN, "--agent", "stub"]).status).toBe(2);
  });

  test("[R2149] the turn of a run ended as the run did, completed or failed", () => {
    sandbox.ok(...RUN, "--agent", "stub", "-p", "write b.txt two");
    sandbox.belay([...RUN, "--agent", "stub", "-p", "write a.txt x\nfail 1"]);
    const states = sandbox.json(["log"]).rows.filter(({ kind }: { kind: string }) => kind === "turn");
    expect(states.map(({ status }: { status: string }) => status)).toEqual(["failed", "completed"]);
    expect(sandbox.ok("log")).not.toContain("interrupted");
  });

  test("[R1953] 1 when no program could be started", () => {
    const ran = sandbox.belay([...RUN, "-p", "x", "--yes", "--", "/no/such/program"]);
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("could not be started");
  });

  test("[R100] the first use of a command is asked about, once in a workspace", () => {
    const words = ["agents", "run", "--in-place", "-p", "write b.txt 2", "--", ...STUB];
    const error = sandbox.error(words, 3);
    expect(error.code).toBe("CONFIRMATION_REQUIRED");
    expect(error.question).toContain("stub-agent.cjs");
    expect(sandbox.read("b.txt")).toBeUndefined();
    sandbox.ok(...RUN, "-p", "write b.txt 2", "--", ...STUB);
    sandbox.ok(...words);
  });

  test("[R100] a file of tasks names agents and holds no command", () => {
    sandbox.write("tasks.json", JSON.stringify([{ command: ["touch", "owned"], prompt: "x" }]));
    expect(sandbox.belay([...RUN, "--tasks", "tasks.json"]).status).toBe(2);
    sandbox.write("tasks.json", JSON.stringify([{ agent: "stub", role: "docs", prompt: "write d.txt 1" }]));
    expect(sandbox.json([...RUN, "--tasks", "tasks.json"]).runs[0]).toMatchObject({
      role: "docs",
      status: "done",
    });
    expect(existsSync(sandbox.path("owned"))).toBe(false);
  });

  test("[R101] [R1759] stop ends a run of another process, and nothing of it is left; the status counts it until then", async () => {
    const { runs } = sandbox.json([...RUN, "--detach", "--agent", "stub", "-p", "leave alive.txt\nhang"]);
    await expect.poll(() => sandbox.read("alive.txt")).toBeDefined();
    expect([sandbox.json(["status"]).runs, sandbox.ok("status")]).toEqual([
      1,
      expect.stringContaining("1 run at work"),
    ]);
    expect(sandbox.json(["agents", "stop", runs[0].id]).runs[0]).toMatchObject({ status: "stopped" });
    expect(sandbox.json(["status"]).runs).toBe(0);
    const { size } = statSync(sandbox.path("alive.txt"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(statSync(sandbox.path("alive.txt")).size).toBe(size);
  });

  test.skipIf(!HAS_PYTHON)(
    "[R101] a program whose first thread has ended is at work until its last one has",
    async () => {
      const words = [...RUN, "--detach", "-p", "x", "--", "python3", "-c", HEADLESS];
      const { runs } = sandbox.json(words);
      await expect.poll(() => sandbox.read("alive.txt")).toBeDefined();
      expect(sandbox.json(["agents", "stop", runs[0].id]).runs[0]).toMatchObject({ status: "stopped" });
      const { size } = statSync(sandbox.path("alive.txt"));
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(statSync(sandbox.path("alive.txt")).size).toBe(size);
    },
  );

  test("[R880] stop records the end itself where the process that watches the run dies meanwhile", async () => {
    const { runs } = sandbox.json([...RUN, "--detach", "--agent", "stub", "-p", "write b.txt 1\nhang"]);
    await expect.poll(() => sandbox.read("b.txt")).toBeDefined();
    const { pid } = await watcherOf();
    // it cannot record the end: the stop waits for it
    process.kill(pid, "SIGSTOP");
    const stop = spawn(process.execPath, [LAUNCHER, "agents", "stop", "--all"], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const said = text(stop.stdout);
    await expect.poll(async () => (await recorded(runs[0].id)).reason).toBe("stopped");
    expect((await recorded(runs[0].id)).endedAt).toBeNull();
    process.kill(pid, "SIGKILL");
    expect(await said).toContain("1 run ended.");
    expect(await recorded(runs[0].id)).toMatchObject({ status: "stopped", endedAt: expect.any(Number) });
  });

  test("logs are what the agent printed", () => {
    const { runs } = sandbox.json([...RUN, "--agent", "stub", "-p", "say hello there"]);
    expect(sandbox.ok("agents", "logs", runs[0].id)).toBe("hello there\n");
    expect(sandbox.json(["agents", "logs", runs[0].id, "--stderr"])).toEqual({ run: runs[0].id, text: "" });
  });

  test("forgotten words leave the log of the run too [R165]", async () => {
    const { runs } = sandbox.json([...RUN, "--agent", "stub", "-p", "say geheim"]);
    sandbox.ok("forget", "--thread", runs[0].thread, "--yes");
    expect(existsSync(runs[0].log.stdout)).toBe(false);
    expect(JSON.stringify(sandbox.json(["agents", "list"]))).not.toContain("geheim");
  });
});

describe("in forks", () => {
  const run = (...prompts: string[]) =>
    sandbox.belay([
      "--json",
      "agents",
      "run",
      "--yes",
      "--agent",
      "stub",
      ...prompts.flatMap((each) => ["-p", each]),
    ]);

  test("[R798] [I66] what changed in the original while a run was in its fork, or what its tools named outside, is listed and captured", async () => {
    const target = sandbox.path("escaped.txt");
    const ran = run(`write ${target} out\nwrite b.txt in`);
    expect(ran.status).toBe(0);
    const { runs } = JSON.parse(ran.stdout);
    expect(runs[0]).toMatchObject({ status: "done", escaped: ["escaped.txt"] });
    expect(ran.stderr).toContain("1 file of the original changed");
    expect(sandbox.ok("agents", "show", runs[0].id)).toMatch(/outside +escaped\.txt/);
    expect(sandbox.ok("list")).toContain("After a run in a fork");
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    expect(await workspace.upkeep.verify()).toMatchObject({ ok: true });
  });

  test("[R798] a turn of another agent in the original is no escape, and a path that a tool in the fork names elsewhere is one", async () => {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const fork = await workspace.fork("f");
    await using place = await workspace.openFork(fork.id);
    const { id } = await workspace.runs.add({
      agent: "stub",
      role: "stub",
      command: ["stub"],
      prompt: "go",
      limits: { timeoutMs: null, maxCost: null, maxTokens: null },
    });
    const { thread } = await place.runs.begin(id, { stdout: "/dev/null", stderr: "/dev/null" });
    await place.turns.beginTool(thread!, {
      tool: "Write",
      toolUseId: "w",
      paths: ["/etc/elsewhere", "b.txt"],
    });
    await workspace.turns.run({ prompt: "another agent" }, async () => sandbox.write("c.txt", "theirs\n"));
    expect(await workspace.runs.escapedDuring(id)).toEqual([]);
    sandbox.write("d.txt", "by hand\n");
    const escaped = await workspace.runs.escapedDuring(id);
    expect(escaped).toEqual(["d.txt"]);
    const end = { exitCode: 0, signal: null, reason: null, cost: null, tokens: null, session: null };
    const ended = await place.runs.end(id, { ...end, status: "done", truncated: false, escaped });
    expect(ended.escaped).toEqual(["/etc/elsewhere", "d.txt"]);
  });

  test("[R90] [R799] forks of runs are set up by the settings of their workspace before the agent is in them, and that is no work of the agent", () => {
    const [{ id }] = sandbox.json(["workspaces"]).workspaces;
    const setup = [
      process.execPath,
      "-e",
      'require("fs").writeFileSync("set-up.txt", process.env.BELAY_FORK)',
    ];
    configure({
      agents: { stub: { command: STUB } },
      workspaces: { [id]: { "forks.setup": setup } },
    });
    const { runs } = JSON.parse(run("write b.txt 1").stdout);
    expect(runs[0]).toMatchObject({ status: "done", changes: { added: 1, modified: 0, deleted: 0 } });
    const fork = sandbox.ok("fork", "path", runs[0].fork).trim();
    expect(readFileSync(join(fork, "set-up.txt"), "utf8")).toBe(runs[0].fork);
    // `config` says what holds here and where it comes from; elsewhere it does not hold
    const value = JSON.stringify(setup);
    const own = { key: "forks.setup", value, source: `workspaces.${id}` };
    for (const cwd of [sandbox.project, fork])
      expect(sandbox.json(["config", "forks.setup"], 0, { cwd }).settings).toEqual([own]);
    expect(sandbox.json(["config"]).settings).toContainEqual(own);
    const elsewhere = sandbox.json(["config", "forks.setup"], 0, { cwd: sandbox.base }).settings;
    expect(elsewhere).toEqual([{ key: "forks.setup", value: "[]", source: "default" }]);
  });

  test("[R100] [R101] the set-up of a run is asked about, and ends with the run", async () => {
    const alive = join(sandbox.base, "alive.txt");
    const script = `setInterval(() => require("fs").appendFileSync(${JSON.stringify(alive)}, "."), 20)`;
    const words = ["agents", "run", "--agent", "stub", "-p", "write b.txt 1"];
    sandbox.ok("agents", "run", "--in-place", "--yes", "--agent", "stub", "-p", "say x");
    configure({ agents: { stub: { command: STUB } }, "forks.setup": [process.execPath, "-e", script] });
    expect(sandbox.error(words, 3)).toMatchObject({
      code: "CONFIRMATION_REQUIRED",
      question: expect.stringContaining("alive.txt"),
    });
    const { runs } = sandbox.json([...words, "--yes", "--detach"]);
    await expect.poll(() => existsSync(alive)).toBe(true);
    expect(sandbox.json(["agents", "stop", runs[0].id]).runs[0]).toMatchObject({ status: "stopped" });
    const { size } = statSync(alive);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(statSync(alive).size).toBe(size);
    expect(sandbox.json(["fork", "list"]).forks).toMatchObject([{ state: "ready", run: null }]);
  });

  test("[M41] example 8: a run over its time is timed-out, its fork and branch stay, and a merge without names leaves it out", () => {
    sandbox.write(
      "tasks.json",
      JSON.stringify([
        { agent: "stub", prompt: "write late.txt half\nhang", limits: { timeoutMinutes: 0.02 } },
        { agent: "stub", prompt: "write b.txt done" },
      ]),
    );
    const { runs } = sandbox.json(["agents", "run", "--yes", "--tasks", "tasks.json"], 3);
    expect(runs).toMatchObject([{ status: "timed-out", before: expect.any(String) }, { status: "done" }]);
    const merged = sandbox.belay(["merge", "--yes"]);
    expect(merged.stderr).toContain(`Left out: ${runs[0].branch}, whose run stub is timed-out`);
    expect([sandbox.read("b.txt"), sandbox.read("late.txt")]).toEqual(["done\n", undefined]);
    const fork = sandbox.ok("fork", "path", runs[0].fork).trim();
    expect(readFileSync(join(fork, "late.txt"), "utf8")).toBe("half\n");
    expect(sandbox.ok("merge", runs[0].branch, "--yes")).toContain(`Merged ${runs[0].branch}`);
    expect(sandbox.read("late.txt")).toBe("half\n");
  });

  test("[I67] several at once do not touch the project or each other; merge brings in what is done, one undo takes it out", async () => {
    const ran = run(
      "write b.txt 1\nwrite a.txt by-first",
      "write c.txt 2\nenv BELAY_FORK name.txt",
      "write d.txt 3\nfail 2",
    );
    expect(ran.status).toBe(3);
    const { runs } = JSON.parse(ran.stdout);
    expect(runs.map(({ status }: { status: string }) => status)).toEqual(["done", "done", "failed"]);
    expect(new Set(runs.map(({ fork }: { fork: string }) => fork)).size).toBe(3);
    expect(sandbox.read("a.txt")).toBe("one\n");
    expect(sandbox.read("b.txt")).toBeUndefined();
    const merged = sandbox.belay(["merge", "--yes"]);
    expect([merged.status, merged.stderr]).toEqual([
      0,
      expect.stringContaining(`Left out: ${runs[2].branch}`),
    ]);
    expect(sandbox.read("a.txt")).toBe("by-first\n");
    expect(sandbox.read("name.txt")).toBe(runs[1].fork);
    expect(sandbox.read("d.txt")).toBeUndefined();
    sandbox.ok("undo", "--yes");
    expect(sandbox.read("a.txt")).toBe("one\n");
    expect(sandbox.read("c.txt")).toBeUndefined();
  });

  test("[R1452] --merge does it at once, and what conflicts is held back whole with exit 3", () => {
    const both = ["write a.txt by-first", "write a.txt by-second\nwrite other.txt 1"];
    const words = [
      "agents",
      "run",
      "--yes",
      "--merge",
      "--agent",
      "stub",
      ...both.flatMap((each) => ["-p", each]),
    ];
    const { runs, merge } = sandbox.json(words, 3);
    expect(runs).toMatchObject([{ status: "done" }, { status: "done" }]);
    expect(merge.sources).toMatchObject(runs.map(({ id }: { id: string }) => ({ run: id, commits: 0 })));
    expect(merge).toMatchObject({ conflicts: [{ path: "a.txt" }] });
    expect([sandbox.read("a.txt"), sandbox.read("other.txt")]).toEqual(["by-first\n", undefined]);
  });

  test("resume goes on in the same fork", () => {
    const { runs } = JSON.parse(run("append log.txt x\nfail 3").stdout);
    const resumed = sandbox.json(["agents", "resume", runs[0].id, "--yes", "-p", "append log.txt y"]).runs[0];
    expect(resumed).toMatchObject({ fork: runs[0].fork, thread: runs[0].thread, status: "done" });
    expect(sandbox.ok("cat", resumed.after, "log.txt")).toBe("x\ny\n");
  });

  test("what Belay starts for itself within a run does not carry the mark of that run", async () => {
    const words = ["agents", "run", "--yes", "--detach", "--agent", "stub", "-p", "hang"];
    sandbox.json(words, 0, { env: { BELAY_RUN: "the-run-around-it" } });
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const [run] = await workspace.runs.list({ alive: true });
    const environment = readFileSync(`/proc/${run!.watcher!.pid}/environ`, "utf8").split("\0");
    expect(environment).toContain(`BELAY_HOME=${sandbox.home}`);
    expect(environment).not.toContain("BELAY_RUN=the-run-around-it");
  });

  test("a fork names the run that is at work in it", async () => {
    const { runs } = sandbox.json(["agents", "run", "--yes", "--detach", "--agent", "stub", "-p", "hang"]);
    await expect.poll(() => sandbox.json(["fork", "list"]).forks[0]?.run).toBe(runs[0].id);
    sandbox.ok("agents", "stop", "--all");
    expect(sandbox.json(["fork", "list"]).forks[0].run).toBeNull();
  });

  test("[R103] while a run is at work in a working copy a switch there is refused, unless --yes says so", async () => {
    sandbox.ok("branch", "idea");
    const { runs } = sandbox.json([...RUN, "--detach", "--agent", "stub", "-p", "write b.txt 1\nhang"]);
    await expect.poll(async () => (await recorded(runs[0].id)).status).toBe("running");
    const refused = sandbox.json(["switch", "idea"], 3);
    expect(refused.error).toMatchObject({ code: "RUN_ALIVE", tools: ["stub"] });
    const again = sandbox.json(["agents", "resume", runs[0].id, "--yes"], 3);
    expect(again.error.hint).toContain("belay agents stop");
    expect(sandbox.json(["switch", "idea", "--yes"])).toMatchObject({ outcome: "applied" });
    sandbox.ok("agents", "stop", "--all");
    expect(sandbox.json(["switch", "main"])).toMatchObject({ outcome: "applied" });
  });
});

describe("after a crash of Belay", () => {
  /** What the agent waits for. */
  const go = () => join(sandbox.base, "go");

  async function crashed(prompt: string): Promise<string> {
    const words = [...RUN, "--agent", "stub", "-p", prompt];
    const child = spawn(process.execPath, [LAUNCHER, ...words], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: "ignore",
    });
    await expect.poll(() => sandbox.read("b.txt")).toBeDefined();
    // the launcher may have started the program proper as a child: the watcher is the one that counts
    const watcher = await watcherOf();
    await expect.poll(async () => (await recorded(watcher.run)).status).toBe("running");
    process.kill(watcher.pid, "SIGKILL");
    child.kill("SIGKILL");
    await once(child, "exit");
    return watcher.run;
  }

  test("an agent that lives goes on, and the next command has it watched to its end", async () => {
    const id = await crashed(`write b.txt 1\nwait ${go()}\nwrite c.txt 2`);
    expect(sandbox.json(["agents", "show", id]).run.status).toBe("running");
    writeFileSync(go(), "");
    await expect.poll(() => sandbox.json(["agents", "show", id]).run.status).toBe("interrupted");
    expect(sandbox.json(["agents", "show", id]).run.changes).toEqual({ added: 2, modified: 0, deleted: 0 });
    sandbox.ok("undo", "--yes");
    expect(sandbox.read("c.txt")).toBeUndefined();
  });

  test("one that is gone is captured and closed; resume goes on with its prompt", async () => {
    const id = await crashed(`write b.txt 1\nwait ${go()}`);
    const { process: program } = await recorded(id);
    process.kill(program!.pid, "SIGKILL");
    await expect.poll(() => createSystem().isAlive(program!)).toBe(false);
    expect(sandbox.json(["agents", "list"]).runs[0]).toMatchObject({ id, status: "interrupted" });
    writeFileSync(go(), "");
    const { runs } = sandbox.json(["agents", "resume", id, "--yes"]);
    expect(runs[0]).toMatchObject({ status: "done", thread: expect.any(String), batch: expect.any(String) });
    expect(runs[0].id).not.toBe(id);
  });
});

describe("belay fix", () => {
  const review = (script: string) => [process.execPath, "-e", script];
  const TODO = `const t = require("fs").readFileSync("a.txt", "utf8"); if (t.includes("one")) { console.log("a.txt:1:1: error: still one"); process.exit(1); }`;

  test("[M06] fixes what a review of the settings finds: exit 0", () => {
    configure({
      agents: { stub: { command: [...STUB, "write a.txt two"] } },
      reviews: { todo: { command: review(TODO), format: "unix" } },
    });
    const { fix } = sandbox.json(["fix", "--review", "todo", "--agent", "stub", "--yes"]);
    expect(fix).toMatchObject({
      state: "clean",
      issues: [],
      snapshots: 1,
      options: [],
      result: { success: true, totalRetries: 1 },
      attempts: [{ number: 1, severity: "medium", takenBack: false, issuesAfter: [] }],
    });
    expect(sandbox.json(["agents", "show", fix.attempts[0].run]).run).toMatchObject({
      role: "fixer",
      status: "done",
    });
  });

  test("[M56, M57] without a terminal it waits with exit 3; the answer comes later", () => {
    configure({
      agents: { stub: { command: [...STUB, "append a.txt more"] } },
      reviews: { todo: { command: review(TODO) } },
      "agentOrchestration.autoFix": { maxRetries: { medium: 1 } },
    });
    const error = sandbox.error(["fix", "--review", "todo", "--agent", "stub", "--yes"], 3);
    expect(error.code).toBe("CONFIRMATION_REQUIRED");
    const { id } = error.fix;
    expect(sandbox.json(["fix", "show", id]).fix).toMatchObject({
      state: "escalated",
      options: ["a", "r", "v", "m", "c"],
      issues: [{ severity: "medium", message: "still one", file: "a.txt", line: 1 }],
    });
    expect(sandbox.error(["fix", "answer", id, "c"], 3).code).toBe("CONFIRMATION_REQUIRED");
    expect(sandbox.json(["fix", "show", id]).fix.attempts).toHaveLength(2);
    expect(sandbox.json(["fix", "answer", id, "r"], 3).fix).toMatchObject({ state: "rejected" });
    expect(sandbox.read("a.txt")).toBe("one\n");
    expect(sandbox.error(["fix", "answer", id, "a"], 3).code).toBe("ANSWER_REFUSED");
  });

  test.skipIf(!hasTmux)(
    "[M56] [M57] [R1603] on a terminal one key answers; rejecting shows first what would go back, and asks",
    async () => {
      configure({
        agents: { stub: { command: [...STUB, "append a.txt more"] } },
        reviews: { todo: { command: review(TODO) } },
        "agentOrchestration.autoFix": { maxRetries: { medium: 1 } },
      });
      const editor = join(sandbox.base, "vi");
      writeFileSync(editor, `#!/bin/sh\nprintf '%s ' "$@" >'${sandbox.base}/edited'\n`, { mode: 0o755 });
      const words = ["fix", "--review", "todo", "--agent", "stub", "--yes"];
      const env = { ...sandbox.environment, EDITOR: editor, PAGER: "cat", TERM: "xterm" };
      const start = () =>
        new TmuxWindow(["sh", "-c", `'${process.execPath}' '${LAUNCHER}' ${words.join(" ")}; exec cat`], {
          cwd: sandbox.project,
          env,
        });
      const lastLine = (window: TmuxWindow) => window.screen().split("\n").at(-1);
      {
        using window = start();
        await expect.poll(() => lastLine(window)).toMatch(/^a\/r\/v\/m\/c:$/);
        expect(window.screen()).toContain("Auto-fix Max retries (1) reached for medium issues");
        window.type("x");
        await expect.poll(() => window.screen()).toMatch(/m\/c: x\na\/r\/v\/m\/c:$/);
        window.type("v");
        await expect.poll(() => window.screen()).toMatch(/^\+more$[^]*^a\/r\/v\/m\/c:$/m);
        window.type("r");
        await expect.poll(() => lastLine(window)).toMatch(/Reject all changes\? \[y\/N\]$/);
        expect(window.screen()).toMatch(
          /Restore the state before this agent[^]*a\.txt[^]*Would change 1 file/,
        );
        window.type("n", "Enter");
        await expect.poll(() => lastLine(window)).toMatch(/^a\/r\/v\/m\/c:$/);
        expect(sandbox.read("a.txt")).toBe("one\nmore\n");
        window.type("r");
        await expect.poll(() => lastLine(window)).toMatch(/Reject all changes\?/);
        window.type("y", "Enter");
        await expect.poll(() => window.screen()).toContain("Rejected: the files are as they were before.");
        expect(sandbox.read("a.txt")).toBe("one\n");
      }
      using window = start();
      await expect.poll(() => lastLine(window)).toMatch(/^a\/r\/v\/m\/c:$/);
      window.type("m");
      await expect.poll(() => window.screen()).toContain("Left to you.");
      const edited = join(sandbox.base, "edited");
      await expect
        .poll(() => existsSync(edited) && readFileSync(edited, "utf8"))
        .toBe(`+1 ${sandbox.path("a.txt")} `);
    },
  );

  test("a loop is answered in its own working copy only", () => {
    configure({
      agents: { stub: { command: [...STUB, "append a.txt more"] } },
      reviews: { todo: { command: review(TODO) } },
      "agentOrchestration.autoFix": { maxRetries: { medium: 0 } },
    });
    const { id } = sandbox.error(["fix", "--review", "todo", "--agent", "stub", "--yes"], 3).fix;
    sandbox.ok("fork", "idea");
    const fork = sandbox.ok("fork", "path", "idea").trim();
    const { error } = sandbox.json(["fix", "answer", id, "r"], 3, { cwd: fork });
    expect(error.code).toBe("ANSWER_REFUSED");
    expect(error.hint).toContain(`belay -C ${sandbox.project} fix answer ${id} r`);
    expect(sandbox.json(["fix", "show", id]).fix.state).toBe("escalated");
    expect(sandbox.json(["fix", "answer", id, "a"]).fix.state).toBe("accepted");
  });

  /** Starts a loop, waits until a process of it wrote `alive.txt`, and interrupts it. */
  async function interrupted(signal: NodeJS.Signals): Promise<{ code: number | null; stdout: string }> {
    const words = ["--json", "fix", "--review", "todo", "--agent", "stub", "--yes"];
    const child = spawn(process.execPath, [LAUNCHER, ...words], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.on("data", (part: Buffer) => (stdout += part.toString()));
    await expect.poll(() => sandbox.read("alive.txt")).toBeDefined();
    child.kill(signal);
    const [code] = (await once(child, "close")) as [number | null];
    const { size } = statSync(sandbox.path("alive.txt"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(statSync(sandbox.path("alive.txt")).size).toBe(size);
    return { code, stdout };
  }

  test("[R790] Ctrl-C ends the fixer with all its processes, and the loop waits for a decision", async () => {
    configure({
      agents: { stub: { command: [...STUB, "append a.txt half\nleave alive.txt\nhang"] } },
      reviews: { todo: { command: review(TODO) } },
    });
    const { code, stdout } = await interrupted("SIGINT");
    expect(code).toBe(3);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({ code: "CONFIRMATION_REQUIRED", fix: { state: "escalated" } });
    expect(error.message).toContain("Interrupted");
    const { fix } = sandbox.json(["fix", "show", error.fix.id]);
    expect(fix).toMatchObject({
      state: "escalated",
      attempts: [{ issuesAfter: null }],
      issues: [{ message: "still one" }],
    });
    expect(sandbox.json(["agents", "list"]).runs).toMatchObject([{ role: "fixer", status: "stopped" }]);
    expect(sandbox.json(["fix", "answer", fix.id, "r"], 3).fix.state).toBe("rejected");
    expect(sandbox.read("a.txt")).toBe("one\n");
  });

  test("[R1453] a loop whose process was killed waits for a decision, and what is left of it ends with that", async () => {
    configure({
      agents: { stub: { command: [...STUB, "append a.txt half\nleave alive.txt\nhang"] } },
      reviews: { todo: { command: review(TODO) } },
    });
    const child = spawn(process.execPath, [LAUNCHER, "fix", "--review", "todo", "--agent", "stub", "--yes"], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: "ignore",
    });
    await expect.poll(() => sandbox.read("alive.txt")).toBeDefined();
    const shown = () => sandbox.json(["fix", "show"]).fixes[0];
    expect(shown()).toMatchObject({ state: "running", options: [] });
    process.kill((await watcherOf()).pid, "SIGKILL");
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(shown).toMatchObject({ state: "escalated", attempts: [{ issuesAfter: null }] });
    const { id } = shown();
    expect(sandbox.json(["fix", "answer", id, "r"], 3).fix.state).toBe("rejected");
    expect([sandbox.read("a.txt"), sandbox.read("alive.txt")]).toEqual(["one\n", undefined]);
    expect(sandbox.json(["agents", "list"]).runs).toMatchObject([{ role: "fixer", status: "stopped" }]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(sandbox.read("alive.txt")).toBeUndefined();
  });

  test("[R790] a request to end during the review ends the review", async () => {
    const inner = `setInterval(() => require("node:fs").appendFileSync("alive.txt", "."), 50)`;
    const outer = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(inner)}], { detached: true }); setInterval(() => {}, 1000)`;
    configure({ agents: { stub: { command: STUB } }, reviews: { todo: { command: review(outer) } } });
    const { code, stdout } = await interrupted("SIGTERM");
    expect([code, JSON.parse(stdout).error.fix]).toMatchObject([3, { state: "escalated", attempts: [] }]);
    expect(sandbox.json(["agents", "list"]).runs).toEqual([]);
  });

  test("[R100] a review with --named is one of the settings", () => {
    const error = sandbox.error(["fix", "--named", "--review", "touch owned", "--agent", "stub", "--yes"], 2);
    expect(error.code).toBe("CONFIG_INVALID");
    expect(existsSync(sandbox.path("owned"))).toBe(false);
  });

  test("a reviewer agent's answer is a review; one that is no answer is not clean", () => {
    const answer = JSON.stringify({
      issues: [{ severity: "critical", message: "no", file: "a.txt", line: 1 }],
    });
    configure({
      agents: { says: { command: [...STUB, `say ${answer}`] }, roles: { reviewer: "says" } },
      agentOrchestration: { autoFix: { enabled: false } },
    });
    const words = ["fix", "--review", "reviewer", "--agent", "says", "--yes"];
    expect(sandbox.json(words, 3).fix.issues).toMatchObject([{ severity: "critical", message: "no" }]);
    configure({
      agents: {
        says: { command: [...STUB, `say I would answer {"issues":[]} if it were good.`] },
        roles: { reviewer: "says" },
      },
      agentOrchestration: { autoFix: { enabled: false } },
    });
    expect(sandbox.json(words, 3).fix.issues).toMatchObject([{ severity: "high", file: "" }]);
  });
});

test("the log of what is known of commands is for the user alone", () => {
  sandbox.ok(...RUN, "--agent", "stub", "-p", "say x");
  const path = join(sandbox.home, "known-commands.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8")).toContain("stub-agent.cjs");
});
