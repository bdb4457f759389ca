/** `belay resolve --agent`: programs that answer well, badly, and not at all. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readAgentBook } from "@belay/agents/orchestration";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { askMerger } from "../src/merging/ask-merger.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];

let sandbox: Sandbox;
const LINES = Array.from({ length: 9 }, (_, at) => `const a${at + 1} = ${at + 1};`);
const text = (...lines: readonly string[]) => `${lines.join("\n")}\n`;
/** Both sides insert at one place: nothing overlaps, and the order is a guess. */
const OURS = text(...LINES.slice(0, 4), "const ours = 1;", ...LINES.slice(4));
const THEIRS = text(...LINES.slice(0, 4), "const theirs = 2;", ...LINES.slice(4));
const BOTH = text(...LINES.slice(0, 4), "const ours = 1;", "const theirs = 2;", ...LINES.slice(4));

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.ts": text(...LINES), "c.txt": "c\n" });
  inBranch("f", () => sandbox.write("a.ts", THEIRS));
  sandbox.write("a.ts", OURS);
  expect(sandbox.json(["merge", "f"], 3).conflicts).toMatchObject([{ severity: "medium", state: "open" }]);
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** Work on a new branch. */
function inBranch(name: string, work: () => void): void {
  sandbox.ok("branch", name);
  sandbox.ok("switch", name, "--yes");
  work();
  sandbox.ok("switch", "main", "--yes");
}

/** A merger that runs this script; `tries` counts how often. */
function merger(script: string): string[] {
  const file = join(sandbox.base, "merger.cjs");
  writeFileSync(
    file,
    `const fs = require("node:fs");
    const task = JSON.parse(fs.readFileSync(process.env.BELAY_TASK, "utf8"));
    const [conflict] = task.conflicts;
    const answer = (status, dropped = []) => fs.writeFileSync(process.env.BELAY_ANSWER,
      JSON.stringify({ answers: [{ id: conflict.id, status, explanation: "both are kept", dropped }] }));
    const tries = ${JSON.stringify(join(sandbox.base, "tries"))};
    fs.appendFileSync(tries, "x");
    const write = (text) => fs.writeFileSync(conflict.path, text);
    ${script}`,
  );
  chmodSync(file, 0o755);
  return ["resolve", "--agent", "--yes", "--", process.execPath, file];
}

const BOTH_TEXT = JSON.stringify(BOTH);

test("[R98] [M45] what does not overlap is taken from a merger whose answer keeps to it, and comes in as one step", () => {
  const done = sandbox.json(merger(`write(${BOTH_TEXT}); answer("resolved");`));
  expect(done).toMatchObject({
    conflict: {
      state: "resolved",
      resolution: { by: "merger", take: "merger", explanation: "both are kept" },
    },
    merge: { outcome: "applied", resolution: { mergerResolved: 1, userResolved: 0, success: true } },
  });
  expect(sandbox.read("a.ts")).toBe(BOTH);
  sandbox.ok("undo");
  expect(sandbox.read("a.ts")).toBe(OURS);
});

test.each([
  ["marks are left", `answer("resolved");`],
  [
    "another file was changed",
    `write(${BOTH_TEXT}); fs.writeFileSync("c.txt", "edited"); answer("resolved");`,
  ],
  ["a file was added", `write(${BOTH_TEXT}); fs.writeFileSync("extra.txt", "x"); answer("resolved");`],
  ["a side was dropped", `write(${JSON.stringify(OURS)}); answer("resolved");`],
  [
    "it was changed beside the conflict",
    `write(${BOTH_TEXT}.replace("a9 = 9", "a9 = 90")); answer("resolved");`,
  ],
  ["it does not parse", `write(${BOTH_TEXT}.replace("const ours", "const const ours")); answer("resolved");`],
  ["there is no answer", `write(${BOTH_TEXT});`],
  [
    "the answer is of another form",
    `write(${BOTH_TEXT}); fs.writeFileSync(process.env.BELAY_ANSWER, "[1]");`,
  ],
  ["it fails", `write(${BOTH_TEXT}); answer("resolved"); process.exit(7);`],
  [
    "the file is a link",
    `fs.rmSync(conflict.path); fs.symlinkSync("c.txt", conflict.path); answer("resolved");`,
  ],
])("[R98] [I71] an answer is refused after a second try, and changes nothing: %s", (_, script) => {
  const { answers, open } = sandbox.json(merger(script), 3);
  expect(answers).toMatchObject([{ outcome: "refused" }]);
  expect(open).toBe(1);
  expect(sandbox.json(["conflicts"]).conflicts).toMatchObject([
    { state: "open", options: ["ours", "theirs", "both", "base", "proposal"] },
  ]);
  expect([sandbox.read("a.ts"), sandbox.read("c.txt")]).toEqual([OURS, "c\n"]);
});

test("[R98] [R101] V7: one that never ends is ended with all its processes, twice, and what it wrote changes nothing", async () => {
  const pids = join(sandbox.base, "pids");
  const script = `
    write(${BOTH_TEXT}); answer("resolved");
    const child = require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    fs.appendFileSync(${JSON.stringify(pids)}, child.pid + " " + process.pid + "\\n");
    setInterval(() => undefined, 1000);`;
  const command = merger(script).slice(-2);
  {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const agents = readAgentBook(undefined);
    const { results } = await askMerger({ environment: sandbox.environment }, workspace, {
      merger: { kind: "agent", agent: agents.command(command) },
      agents,
      conflicts: await workspace.conflicts(),
      syntax: undefined,
      timeoutMs: 1500,
    });
    expect(results).toMatchObject([{ outcome: "refused", problems: ["it took too long"] }]);
  }
  const started = readFileSync(pids, "utf8").trim().split(/\s+/);
  expect(started).toHaveLength(4);
  expect(started.filter(isAtWork)).toEqual([]);
  expect(sandbox.json(["conflicts"]).conflicts).toMatchObject([{ state: "open", resolution: null }]);
  expect(sandbox.read("a.ts")).toBe(OURS);
});

/** A process that ended and is still listed is not at work. */
function isAtWork(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

test("[R98] a second try is told what was wrong; what drops a line is left to a person, with its reason", () => {
  const script = `
    if (fs.readFileSync(tries, "utf8").length === 1) { answer("resolved"); process.exit(0); }
    if (!task.feedback.some((each) => each.includes("mark"))) process.exit(1);
    write(${JSON.stringify(OURS)});
    answer("resolved", [{ side: "theirs", text: "const theirs = 2;", reason: "not needed" }]);`;
  expect(sandbox.json(merger(script), 3).answers).toMatchObject([{ outcome: "offered" }]);
  expect(sandbox.json(["conflicts"]).conflicts[0].options).toContain("merger");
  const shown = sandbox.ok("conflicts", "a.ts");
  expect(shown).toContain("merger: both are kept");
  expect(shown).toContain("left out of theirs: const theirs = 2; (not needed)");
  expect(sandbox.json(["resolve", "a.ts", "--take", "merger"])).toMatchObject({
    conflict: { resolution: { by: "user", take: "merger", dropped: [{ reason: "not needed" }] } },
    merge: { outcome: "applied" },
  });
  expect(sandbox.read("a.ts")).toBe(OURS);
});

test("[N0] [R98] the merger's copy writes nothing through a link that has taken the place of a file in conflict", () => {
  const mine = join(sandbox.base, "mine.txt");
  writeFileSync(mine, "only here\n");
  sandbox.remove("a.ts");
  symlinkSync(mine, sandbox.path("a.ts"));
  // nor through one that has the name of the directory for its task
  const outside = join(sandbox.base, "outside");
  mkdirSync(outside);
  symlinkSync(outside, sandbox.path(".belay-merger"));
  expect(sandbox.json(merger(`answer("declined");`), 3).answers).toMatchObject([{ outcome: "declined" }]);
  expect([readFileSync(mine, "utf8"), readdirSync(outside)]).toEqual(["only here\n", []]);
});

test("[R1758] a dry run shows what a decision would change, and records nothing", () => {
  const words = ["resolve", "a.ts", "--take", "theirs", "--dry-run"];
  expect(sandbox.json(words)).toMatchObject({
    whole: true,
    files: [{ file: { path: "a.ts", type: "modified" } }],
    content: { text: THEIRS },
  });
  expect(sandbox.ok(...words)).toMatch(/-const ours = 1;\n[^]*\+const theirs = 2;/);
  expect(sandbox.json(["conflicts"]).conflicts).toMatchObject([{ state: "open", resolution: null }]);
  expect(sandbox.read("a.ts")).toBe(OURS);
  expect(sandbox.belay(["resolve", "a.ts", "--reopen", "--dry-run"]).status).toBe(2);
});

test("[R98] a program is named on the command line, asked about, and may decline", () => {
  const words = merger(`answer("declined");`);
  expect(
    sandbox.error(
      words.filter((word) => word !== "--yes"),
      3,
    ).code,
  ).toBe("CONFIRMATION_REQUIRED");
  expect(sandbox.json(words, 3).answers).toMatchObject([{ outcome: "declined" }]);
  expect(sandbox.belay(["resolve", "--agent"]).status).toBe(4);
  expect(sandbox.json(["resolve", "--agent", "--yes", "--", "/nowhere/merger"], 3).answers).toMatchObject([
    { outcome: "refused" },
  ]);
});

test("[R98] each merge that a merger's answers decide comes in", () => {
  sandbox.write("b.ts", text(...LINES));
  inBranch("g", () => sandbox.write("b.ts", THEIRS));
  sandbox.write("b.ts", OURS);
  expect(sandbox.json(["merge", "g"], 3).conflicts).toMatchObject([{ path: "b.ts" }]);
  const script = `
    for (const { path } of task.conflicts) fs.writeFileSync(path, ${BOTH_TEXT});
    const said = { status: "resolved", explanation: "both are kept", dropped: [] };
    const answers = task.conflicts.map(({ id }) => ({ id, ...said }));
    fs.writeFileSync(process.env.BELAY_ANSWER, JSON.stringify({ answers }));`;
  expect(sandbox.json(merger(script))).toMatchObject({
    open: 0,
    merges: [{ outcome: "applied" }, { outcome: "applied" }],
  });
  expect([sandbox.read("a.ts"), sandbox.read("b.ts")]).toEqual([BOTH, BOTH]);
});

/** The merger of the settings, and a check. */
function configure(script: string, more: object = {}): void {
  const words = merger(script).slice(-2);
  const config = { agents: { mine: { command: words }, roles: { merger: "mine" } }, ...more };
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(config));
}

const CHECK = (test: string) => ({
  merge: {
    check: [process.execPath, "-e", `const t = require("node:fs").readFileSync("a.ts", "utf8"); ${test}`],
  },
});

test("[R98] [R796] the merger of the settings is asked, and says what it cost; without one it is exit 4", () => {
  expect(sandbox.error(["resolve", "--agent", "--yes"], 4).code).toBe("AGENT_NOT_FOUND");
  sandbox.ok("merge", "--abandon");
  configure(
    `if (conflict.intents.theirs.agent !== "f") process.exit(9);
    console.log(JSON.stringify({ cost: 0.25, tokens: 9 })); answer("declined");`,
  );
  const { answers, cost, tokens, open } = sandbox.json(["merge", "f", "--agent", "--yes"], 3);
  expect([answers, cost, tokens, open]).toEqual([
    [{ conflict: expect.any(String), outcome: "declined", problems: [] }],
    0.25,
    9,
    1,
  ]);
  configure(`write(${BOTH_TEXT}); answer("resolved");`);
  expect(sandbox.json(["resolve", "--agent", "--yes"])).toMatchObject({
    conflict: { resolution: { by: "merger" } },
    merge: { outcome: "applied" },
  });
  expect(sandbox.read("a.ts")).toBe(BOTH);
});

test("[R1752] [R1753] a branch names its newest run; the merger is told what the agent of a side was asked for, and what it said last", () => {
  sandbox.ok("merge", "--abandon");
  const prompt = "write b.txt theirs\nsay The key is DB_PASSWORD=correct-horse\nsay I wrote the file.";
  const { runs } = sandbox.json(["agents", "run", "--yes", "-p", prompt, "--", ...STUB]);
  const { branches } = sandbox.json(["branch"]);
  expect(branches.map(({ name, run }: any) => [name, run])).toEqual([
    ["main", null],
    ["f", null],
    [runs[0].branch, runs[0].id],
  ]);
  sandbox.write("b.txt", "ours\n");
  expect(sandbox.json(["merge", runs[0].fork], 3).conflicts).toMatchObject([{ path: "b.txt" }]);
  configure(`fs.writeFileSync(tries, JSON.stringify(conflict.intents)); answer("declined");`);
  sandbox.json(["resolve", "--agent", "--yes"], 3);
  const { ours, theirs } = JSON.parse(readFileSync(join(sandbox.base, "tries"), "utf8"));
  expect(ours).toEqual({ agent: "you", prompt: null, summary: null });
  expect(theirs).toMatchObject({
    agent: runs[0].branch,
    prompt: expect.stringContaining("write b.txt theirs"),
  });
  expect(theirs.summary).toMatch(/^The key is DB_PASSWORD=(?!correct).*\nI wrote the file\.$/);
  expect(theirs.prompt).not.toContain("correct-horse");
});

test("[R98] [R1451] V6: an answer that the check refuses changes nothing; one that it passes may leave lines out", () => {
  configure(
    `write(${BOTH_TEXT}); answer("resolved"); fs.writeFileSync(tries, String(task.feedback));`,
    CHECK(`console.log("DB_PASSWORD=correct-horse"); process.exit(t.includes("theirs") ? 1 : 0)`),
  );
  const { answers } = sandbox.json(["resolve", "--agent", "--yes"], 3);
  const told = readFileSync(join(sandbox.base, "tries"), "utf8");
  expect([told.includes("ends with 1"), told.includes("correct-horse")]).toEqual([true, false]);
  expect(answers).toMatchObject([{ outcome: "refused", problems: [expect.stringContaining("ends with 1")] }]);
  expect(sandbox.read("a.ts")).toBe(OURS);
  const dropped = JSON.stringify([{ side: "theirs", text: "const theirs = 2;", reason: "not needed" }]);
  configure(
    `write(${JSON.stringify(OURS)}); answer("resolved", ${dropped});`,
    CHECK(`process.exit(t.includes("theirs") ? 1 : 0)`),
  );
  expect(sandbox.json(["resolve", "--agent", "--yes"])).toMatchObject({
    conflict: { resolution: { by: "merger", dropped: [{ text: "const theirs = 2;" }] } },
    merge: { resolution: { mergerResolved: 1 } },
  });
});

test("[R98] [R796] [R1451] an endpoint gets the texts, but none with secrets, and answers with one; what it sends is checked like any other", async () => {
  const asked: any[] = [];
  const replies = [`{"answers":"no"}`, undefined, BOTH];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      asked.push({ url: request.url, key: request.headers.authorization, ...body });
      const [{ id }] = JSON.parse(body.messages[1].content).conflicts;
      const reply = replies[Math.min(asked.length, replies.length) - 1];
      const answer = { id, status: "resolved", explanation: "both", dropped: [], content: reply };
      const content = asked.length === 1 ? replies[0] : JSON.stringify({ answers: [answer] });
      response.end(
        JSON.stringify({
          choices: [{ message: { content } }],
          usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const agents = {
      far: { endpoint: `http://127.0.0.1:${port}/v1/`, model: "m-1" },
      roles: { merger: "far" },
    };
    writeFileSync(join(sandbox.home, "config.json"), JSON.stringify({ agents }));
    const run = async () => {
      const child = spawn(process.execPath, [LAUNCHER, "--json", "resolve", "--agent", "--yes"], {
        cwd: sandbox.project,
        env: { ...sandbox.environment, BELAY_MERGER_KEY: "k-1" },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let stdout = "";
      child.stdout.on("data", (part: Buffer) => (stdout += part.toString()));
      const [code] = (await once(child, "close")) as [number];
      return { code, out: JSON.parse(stdout) };
    };
    // a first answer of another form, then one without a text: two tries, and nothing changes
    const refused = await run();
    expect(refused).toMatchObject({
      code: 3,
      out: { answers: [{ outcome: "refused" }], tokens: 20, cost: null },
    });
    expect(asked[0]).toMatchObject({ url: "/v1/chat/completions", key: "Bearer k-1", model: "m-1" });
    expect(asked[1].messages[1].content).toContain("its answer is not what was asked for");
    expect(sandbox.read("a.ts")).toBe(OURS);
    expect(await run()).toMatchObject({ code: 0, out: { merge: { outcome: "applied" } } });
    expect(sandbox.read("a.ts")).toBe(BOTH);
    const calls = asked.length;
    inBranch("g", () => {
      sandbox.write(".env", "A=1\nHOST=theirs\n");
      sandbox.write("settings.txt", `A=1\nDB_PASSWORD=correct-horse\n`);
    });
    sandbox.write(".env", "A=1\nHOST=ours\n");
    sandbox.write("settings.txt", `A=1\nDB_HOST=ours\n`);
    expect(sandbox.json(["merge", "g"], 3).conflicts).toHaveLength(2);
    const kept = { outcome: "declined", problems: [expect.stringContaining("not sent")] };
    expect(await run()).toMatchObject({ code: 3, out: { answers: [kept, kept], cost: null, tokens: null } });
    expect(asked).toHaveLength(calls);
  } finally {
    server.close();
  }
});
