/**
 * Agents that are killed or interrupted, in the events of each of them, through the real command line and the script
 * that agents run. The client is a process of its own: it starts the hooks, and it is what gets killed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { writeHook } from "@belay/agents";
import { afterEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const FIXTURES = join(import.meta.dirname, "../../agents/test/fixtures");

let sandbox: Sandbox;
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.kill();
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

/** What a client does: runs each hook it is told to, as a process of its own, and a command while it has one to run. */
const CLIENT = `
  import { spawn, spawnSync } from "node:child_process";
  import { createInterface } from "node:readline";
  let command;
  process.on("exit", () => command?.kill());
  for await (const line of createInterface({ input: process.stdin })) {
    const { hook, agent, input, cwd, runs, through = [] } = JSON.parse(line);
    if (runs === true) command ??= spawn("sleep", ["600"], { stdio: "ignore" });
    if (runs === false) command = command?.kill() && undefined;
    if (hook === undefined) {
      console.log("{}");
      continue;
    }
    const [program, ...args] = [...through, hook, agent];
    const { status, stdout, stderr } = spawnSync(program, args, { input, cwd, encoding: "utf8" });
    console.log(JSON.stringify({ status, stdout, stderr }));
  }`;

type Payload = Record<string, unknown>;

/** One session of an agent, in the events that agent sends. */
class Client {
  readonly #agent: Agent;
  readonly #session: string;
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #calls = 0;
  /** The program that runs its hooks, if it does not do so itself. */
  through: readonly string[] = [];

  constructor(agent: Agent, session: string, waitMs = "30000") {
    this.#agent = agent;
    this.#session = session;
    this.#process = spawn(process.execPath, ["--input-type=module", "-e", CLIENT], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, BELAY_RESIDENT: "off", BELAY_WAIT_MS: waitMs },
    });
    this.#answers = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
    clients.push(this);
  }

  async prompt(text: string): Promise<void> {
    await this.#send(this.#agent.prompt(this.#session, text));
  }

  /** A shell command that is under way when this returns. */
  async begin(work: () => void = () => undefined): Promise<string> {
    const id = `${this.#session}-${(this.#calls += 1)}`;
    await this.#send(this.#agent.before(this.#session, id));
    work();
    return id;
  }

  async end(id: string): Promise<void> {
    await this.#send(this.#agent.after(this.#session, id));
  }

  async tool(work: () => void): Promise<void> {
    await this.end(await this.begin(work));
  }

  async stop(): Promise<void> {
    await this.#send(this.#agent.stop(this.#session));
  }

  async send(payload: Payload): Promise<void> {
    await this.#send(payload);
  }

  /** Its command is under way, or over, as far as processes tell. */
  async command(runs: boolean): Promise<void> {
    this.#process.stdin!.write(`${JSON.stringify({ runs })}\n`);
    await this.#answers.next();
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, "exit");
  }

  async #send(payload: Payload): Promise<void> {
    const hook = join(sandbox.home, "bin/belay-hook");
    const input = JSON.stringify(payload);
    const event = { hook, agent: this.#agent.id, input, cwd: sandbox.project, through: this.through };
    this.#process.stdin!.write(`${JSON.stringify(event)}\n`);
    const { value } = await this.#answers.next();
    expect(JSON.parse(value as string)).toMatchObject({ status: 0, stderr: "" });
  }
}

interface Agent {
  readonly id: string;
  prompt(session: string, text: string): Payload;
  before(session: string, call: string): Payload;
  after(session: string, call: string): Payload;
  stop(session: string): Payload;
}

function recorded(agent: string, event: string): Payload {
  return JSON.parse(readFileSync(join(FIXTURES, agent, `${event}.json`), "utf8")) as Payload;
}

let moments = 0;
/** No two events of those that are told apart by their time have the same one. */
function moment(): number {
  return 1_794_771_144_000 + (moments += 1) * 1000;
}

/** Claude Code, and those that send the same fields. */
function claudeShape(id: string, names: Readonly<Record<keyof Omit<Agent, "id">, string>>): Agent {
  const event = (name: string, session: string, more: Payload): Payload => {
    const fields = recorded(id, name);
    const time = "timestamp" in fields ? { timestamp: new Date(moment()).toISOString() } : {};
    return { ...fields, session_id: session, cwd: sandbox.project, ...time, ...more };
  };
  const command = (call: string) => ({
    tool_use_id: call,
    tool_input: { command: `make ${call}`, description: "run" },
  });
  let prompt = "";
  const of = () => (prompt === "" ? {} : { prompt_id: prompt, turn_id: prompt });
  return {
    id,
    prompt(session, text) {
      prompt = `${session}-${text}`;
      return event(names.prompt, session, { prompt: text, ...of() });
    },
    before: (session, call) => event(names.before, session, { ...command(call), ...of() }),
    after: (session, call) => event(names.after, session, { ...command(call), ...of() }),
    stop: (session) => event(names.stop, session, { ...of(), background_tasks: [] }),
  };
}

const COPILOT: Agent = {
  id: "copilot-cli",
  prompt: (session, prompt) => copilotEvent("repo-userPromptSubmitted", session, { prompt }),
  before: (session, call) => copilotEvent("repo-preToolUse.bash", session, { toolArgs: { command: call } }),
  after: (session, call) => copilotEvent("repo-postToolUse.bash", session, { toolArgs: { command: call } }),
  stop: (session) => copilotEvent("repo-agentStop", session, {}),
};

function copilotEvent(name: string, sessionId: string, more: Payload): Payload {
  return { ...recorded("copilot-cli", name), sessionId, cwd: sandbox.project, timestamp: moment(), ...more };
}

const OPENCODE: Agent = {
  id: "opencode",
  prompt: (sessionID, text) => ({
    belay_event: "chat.message",
    directory: sandbox.project,
    input: { sessionID },
    output: { message: { id: `m-${sessionID}-${text}`, sessionID }, parts: [{ type: "text", text }] },
  }),
  before: (session, call) => opencodeTool("before", session, call),
  after: (session, call) => opencodeTool("after", session, call),
  stop: (sessionID) => ({
    belay_event: "session.idle",
    directory: sandbox.project,
    input: { sessionID },
    output: {},
    id: `idle-${moment()}`,
  }),
};

function opencodeTool(phase: "before" | "after", sessionID: string, callID: string): Payload {
  const event = `tool.execute.${phase}`;
  const fields = recorded("opencode", `${event}.bash`);
  const input = { ...(fields["i"] as Payload), sessionID, callID };
  return { belay_event: event, directory: sandbox.project, input, output: fields["o"] };
}

const CLAUDE = claudeShape("claude-code", {
  prompt: "UserPromptSubmit",
  before: "PreToolUse.Bash",
  after: "PostToolUse.Bash",
  stop: "Stop",
});

const AGENTS: readonly Agent[] = [
  CLAUDE,
  claudeShape("codex", {
    prompt: "UserPromptSubmit",
    before: "PreToolUse.Bash",
    after: "PostToolUse.Bash",
    stop: "Stop",
  }),
  claudeShape("gemini-cli", {
    prompt: "BeforeAgent",
    before: "BeforeTool.run_shell_command",
    after: "AfterTool.run_shell_command",
    stop: "AfterAgent",
  }),
  OPENCODE,
  COPILOT,
  claudeShape("qwen-code", {
    prompt: "UserPromptSubmit",
    before: "PreToolUse.run_shell_command",
    after: "PostToolUse.run_shell_command",
    stop: "Stop",
  }),
];

async function setUp(): Promise<void> {
  sandbox = await Sandbox.protected({ "x.txt": "0\n", "y.txt": "0\n", "mine.txt": "0\n" });
  const build = join(LAUNCHER, "../../dist/main.js");
  mkdirSync(dirname(join(sandbox.home, "bin/belay-hook")), { recursive: true });
  writeHook({
    belayHome: sandbox.home,
    node: process.execPath,
    cli: LAUNCHER,
    build,
    program: join(build, "../belay-hook"),
    environment: ["CLAUDE", "BELAY"],
  });
}

function undo(): { outcome: string; steps: { prompt: string | null; kind: string }[] } {
  return sandbox.json(["undo", "--yes"]);
}

function files(): (string | undefined)[] {
  return ["x.txt", "y.txt", "mine.txt"].map((path) => sandbox.read(path));
}

describe.each(AGENTS.map((agent) => [agent.id, agent] as const))("%s", (_name, agent) => {
  test("[R121, I82] killed in a turn, then a turn in a new session: plain undo takes the new one, the next undo the old one", async () => {
    await setUp();
    const killed = new Client(agent, "s1");
    await killed.prompt("first");
    await killed.begin(() => sandbox.write("x.txt", "1\n"));
    await killed.kill();
    const next = new Client(agent, "s2");
    await next.prompt("second");
    await next.tool(() => sandbox.write("y.txt", "1\n"));
    await next.stop();
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "second" }] });
    expect(files()).toEqual(["1\n", "0\n", "0\n"]);
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "first" }] });
    expect(files()).toEqual(["0\n", "0\n", "0\n"]);
    await sandbox.verify();
  });

  test("[R121] Esc and the session left open, then a turn in a new session: the same, and what one writes after that is one's own", async () => {
    await setUp();
    const left = new Client(agent, "s1");
    await left.prompt("first");
    await left.begin(() => sandbox.write("x.txt", "1\n"));
    const next = new Client(agent, "s2");
    await next.prompt("second");
    sandbox.write("mine.txt", "mine\n");
    await next.tool(() => sandbox.write("y.txt", "1\n"));
    await next.stop();
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "second" }] });
    expect(files()).toEqual(["1\n", "0\n", "mine\n"]);
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "first" }] });
    expect(files()).toEqual(["0\n", "0\n", "mine\n"]);
  });

  test("[R122] what one writes after Esc stays, with or without a tool before it", async () => {
    await setUp();
    const client = new Client(agent, "s1");
    await client.prompt("first");
    sandbox.write("mine.txt", "mine\n");
    sandbox.ok("checkpoint");
    expect(undo()).toMatchObject({ outcome: "unchanged", steps: [] });
    await client.prompt("second");
    await client.tool(() => sandbox.write("x.txt", "1\n"));
    sandbox.write("mine.txt", "mine again\n");
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "second" }] });
    expect(files()).toEqual(["0\n", "0\n", "mine again\n"]);
  });

  test("[R120] a restore after Esc is undone before the turn", async () => {
    await setUp();
    const client = new Client(agent, "s1");
    await client.prompt("first");
    await client.begin(() => sandbox.write("x.txt", "1\n"));
    sandbox.json(["restore", "1", "--yes"]);
    expect(files()).toEqual(["0\n", "0\n", "0\n"]);
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ kind: "restore" }] });
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "first" }] });
    expect(files()).toEqual(["0\n", "0\n", "0\n"]);
  });
});

test("with the resident process the client is found as well, by the script alone", async () => {
  await setUp();
  sandbox.ok("start");
  const killed = new Client(CLAUDE, "s1", "");
  await killed.prompt("first");
  await killed.begin(() => sandbox.write("x.txt", "1\n"));
  await killed.kill();
  const next = new Client(CLAUDE, "s2", "");
  await next.prompt("second");
  await next.tool(() => sandbox.write("y.txt", "1\n"));
  await next.stop();
  expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "second" }] });
  expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "first" }] });
  expect(files()).toEqual(["0\n", "0\n", "0\n"]);
});

test("[R126] overlapping commands of two agents: the refusal names the file, both turns and the command that takes them", async () => {
  await setUp();
  const [codex] = AGENTS.filter(({ id }) => id === "codex");
  const [first, second] = [new Client(CLAUDE, "s1"), new Client(codex!, "s2")];
  await first.prompt("build it");
  await second.prompt("test it");
  const call = await first.begin();
  await first.command(true);
  await second.tool(() => sandbox.write("x.txt", "1\n"));
  await first.end(call);
  await first.command(false);
  await first.tool(() => sandbox.write("y.txt", "1\n"));
  const refused = sandbox.belay(["undo", "--yes"]);
  expect(refused.status).toBe(3);
  expect(refused.stdout).toContain('Cannot undo turn of claude-code "build it". Nothing was changed.');
  expect(refused.stdout).toMatch(/x\.txt:1 +changed while turn of codex "test it" was at work too/);
  expect(refused.stdout).toContain("`belay undo 2` takes both turns together.");
  expect(files()).toEqual(["1\n", "1\n", "0\n"]);
  expect(sandbox.json(["undo", "2", "--yes"])).toMatchObject({ outcome: "applied" });
  expect(files()).toEqual(["0\n", "0\n", "0\n"]);
});

test("[R127] a command that Claude Code runs in the background: what it writes after the turn is offered while it runs", async () => {
  await setUp();
  const client = new Client(CLAUDE, "s1");
  await client.prompt("start the server");
  const input = { tool_input: { command: "npm start", run_in_background: true } };
  await client.send({ ...CLAUDE.before("s1", "c1"), ...input });
  await client.command(true);
  await client.send({ ...CLAUDE.after("s1", "c1"), ...input });
  sandbox.write("x.txt", "1\n");
  await client.stop();
  sandbox.write("y.txt", "1\n");
  const preview = sandbox.ok("undo", "--dry-run");
  expect(preview).toContain(
    'Written by Bash of turn of claude-code "start the server", still running; stays (--include-background takes it back too):',
  );
  expect(sandbox.json(["undo", "--yes", "--include-background"])).toMatchObject({ outcome: "applied" });
  expect(files()).toEqual(["0\n", "0\n", "0\n"]);
});

test("[R124] what one writes while Edit runs stands apart in the preview; [R123] revert of a plain row says so", async () => {
  await setUp();
  const client = new Client(CLAUDE, "s1");
  await client.prompt("edit x");
  const input = { tool_name: "Edit", tool_input: { file_path: sandbox.path("x.txt"), old_string: "0" } };
  await client.send({ ...CLAUDE.before("s1", "c1"), ...input });
  sandbox.write("x.txt", "1\n");
  sandbox.write("mine.txt", "mine\n");
  sandbox.write("new.txt", "mine\n");
  await client.send({ ...CLAUDE.after("s1", "c1"), ...input });
  await client.stop();
  const preview = sandbox.ok("undo", "--dry-run");
  expect(preview).toMatch(
    /Changed while Edit ran, maybe by you; undone too:\n +- delete +new\.txt.*\n +~ restore +mine\.txt/,
  );
  expect(preview.indexOf("x.txt")).toBeLessThan(preview.indexOf("Changed while Edit ran"));
  sandbox.ok("undo", "--yes");
  expect(sandbox.ok("redo", "--dry-run")).toMatch(
    /Changed while Edit ran, maybe by you; redone too:\n +~ restore +mine\.txt.*\n +\+ create +new\.txt/,
  );
  sandbox.ok("redo", "--yes");
  sandbox.ok("checkpoint");
  expect(sandbox.ok("revert", "@", "--yes")).toContain(
    "Nothing to revert: this checkpoint has no changes of its own.",
  );
});

test("[R128] the resident process notices that a command was cut off: what one writes after that is one's own", async () => {
  await setUp();
  sandbox.ok("start");
  const client = new Client(CLAUDE, "s1", "");
  await client.prompt("build it");
  await client.begin(() => sandbox.write("x.txt", "1\n"));
  const isNoticed = () => sandbox.ok("list").includes("After Bash: not running, no end reported");
  for (let tries = 0; tries < 60 && !isNoticed(); tries += 1) await pause(250);
  expect(isNoticed()).toBe(true);
  sandbox.write("mine.txt", "mine\n");
  expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "build it" }] });
  expect(files()).toEqual(["0\n", "0\n", "mine\n"]);
});

test("[R195] a command that waited for permission longer than the resident process lived: its changes are still its turn's", async () => {
  await setUp();
  sandbox.ok("start");
  const client = new Client(CLAUDE, "s1", "");
  await client.prompt("build it");
  await client.begin();
  const isNoticed = () => sandbox.ok("list").includes("After Bash: not running, no end reported");
  for (let tries = 0; tries < 60 && !isNoticed(); tries += 1) await pause(250);
  expect(isNoticed()).toBe(true);
  await client.command(true);
  sandbox.write("x.txt", "1\n");
  expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "build it" }] });
  expect(files()).toEqual(["0\n", "0\n", "0\n"]);
});

const RUNNER = `
  const { spawnSync } = require("node:child_process");
  const [hook, agent] = process.argv.slice(1);
  process.exitCode = spawnSync(hook, [agent], { stdio: "inherit" }).status;`;

test("[R197] an agent whose hooks are run by a program that ends with each of them is not taken to be gone", async () => {
  await setUp();
  const client = new Client(CLAUDE, "s1");
  client.through = [process.execPath, "-e", RUNNER];
  await client.prompt("build it");
  const call = await client.begin(() => sandbox.write("x.txt", "1\n"));
  sandbox.ok("checkpoint");
  sandbox.write("y.txt", "1\n");
  sandbox.ok("checkpoint");
  await client.end(call);
  await client.tool(() => sandbox.write("mine.txt", "1\n"));
  await client.stop();
  expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "build it" }] });
  expect(files()).toEqual(["0\n", "0\n", "0\n"]);
});

test("[R128] a command whose end is told a moment after its process is gone was not cut off: one checkpoint after it", async () => {
  await setUp();
  sandbox.ok("start");
  const client = new Client(CLAUDE, "s1", "");
  await client.prompt("build it");
  // less than half of the time that the process leaves for it
  const delays = [700, 550, 400, 200];
  for (const delay of delays) {
    const call = await client.begin(() => sandbox.write("x.txt", `${delay}\n`));
    await client.command(true);
    await client.command(false);
    await pause(delay);
    await client.end(call);
  }
  expect(sandbox.ok("list").match(/After Bash.*/g)).toEqual(
    delays.map(() => expect.not.stringContaining("cut off")),
  );
});

/** The paths that an undo would change, by the resident process: as the page asks. */
async function plannedOverHttp(): Promise<string[]> {
  const { url, token } = sandbox.json(["start"]) as { url: string; token: string };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const at = `${url}/api/plans?workspace=${encodeURIComponent(sandbox.project)}`;
  const response = await fetch(at, { method: "POST", headers, body: JSON.stringify({ kind: "undo" }) });
  return ((await response.json()) as { plan: { affectedFiles: string[] } }).plan.affectedFiles;
}

test.each(["undo", "the page's undo", "the next prompt"])(
  "[R129] Claude Code writes its interrupts into the transcript: %s tells what one wrote after Esc from its work",
  async (when) => {
    await setUp();
    const transcript = join(sandbox.base, "transcript.jsonl");
    const line = (fields: Payload) => appendFileSync(transcript, `${JSON.stringify(fields)}\n`);
    const client = new Client(CLAUDE, "s1");
    const send = (payload: Payload) => client.send({ ...payload, transcript_path: transcript });
    line({
      type: "user",
      uuid: "u1",
      promptId: "s1-write it",
      message: { role: "user", content: "write it" },
    });
    await send(CLAUDE.prompt("s1", "write it"));
    const input = { tool_name: "mcp__files__write", tool_input: { target: "x.txt" } };
    await send({ ...CLAUDE.before("s1", "c1"), ...input });
    sandbox.write("x.txt", "1\n");
    const content = [{ type: "text", text: "[Request interrupted by user for tool use]" }];
    const at = Date.now();
    const timestamp = new Date(at).toISOString();
    line({ type: "user", uuid: "u2", parentUuid: "u1", timestamp, message: { role: "user", content } });
    // the clock that stamps files may be some milliseconds behind
    while (Date.now() <= at + 1100) await pause(20);
    sandbox.write("mine.txt", "mine\n");
    if (when === "the next prompt") await send(CLAUDE.prompt("s1", "something else"));
    const recorded = () => sandbox.json(["list", "--all"]).checkpoints.length;
    const before = recorded();
    if (when === "the page's undo") expect(await plannedOverHttp()).toEqual(["x.txt"]);
    else expect(sandbox.json(["undo", "--dry-run"]).plan.affectedFiles).toEqual(["x.txt"]);
    expect(recorded()).toBe(before);
    expect(undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "write it" }] });
    expect(files()).toEqual(["0\n", "0\n", "mine\n"]);
  },
);
