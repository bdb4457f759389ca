/** Whether anything is captured here, by which agent and since when: `status`, `doctor` and HTTP say the same. */
import { chmodSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => void (sandbox = new Sandbox()));
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

/** No agent of the machine that runs the tests. */
const PATH = "/usr/bin:/bin";
const ENV = { PATH, BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000" };

interface Said {
  readonly on: boolean;
  readonly obstacles: { code: string; hint: string }[];
  readonly agents: { agent: string; captured: boolean; lastEvent: string | null; problem: string | null }[];
}

/** What every command says about it; the exit code of `doctor` with it. */
function capture(): Said & { exit: number | null; status: string } {
  const doctor = sandbox.belay(["--json", "doctor"], { env: ENV });
  const said = (JSON.parse(doctor.stdout) as { capture: Said }).capture;
  const status = sandbox.belay(["--json", "status"], { env: ENV });
  if (status.status === 0) expect((JSON.parse(status.stdout) as { capture: Said }).capture.on).toBe(said.on);
  const { stdout } = sandbox.belay(["status"], { env: ENV });
  return { ...said, exit: doctor.status, status: stdout };
}

function init(...args: string[]): void {
  expect(sandbox.belay(["init", "--yes", ...args], { env: ENV }).status).toBe(0);
}

function prompt(agent: string, text = "do it"): void {
  const names = { "gemini-cli": "BeforeAgent" } as Record<string, string>;
  const input = JSON.stringify({
    hook_event_name: names[agent] ?? "UserPromptSubmit",
    session_id: "s1",
    prompt: text,
    cwd: sandbox.project,
  });
  expect(sandbox.belay(["hook", agent], { input, env: ENV }).status).toBe(0);
}

function home(path: string, text: string): string {
  const file = join(sandbox.base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const HOUR = 3600;

describe("[R150] nothing is captured, and doctor ends with 1", () => {
  test("where the directory is not protected, though an agent has hooks", () => {
    init("--agent", "claude-code");
    sandbox.ok("uninstall");
    home(".claude/settings.json", '{"hooks":{}}');
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "NOT_PROTECTED" }] });
    expect(said.agents).toMatchObject([{ agent: "claude-code", captured: false }]);
  });

  test("where automatic checkpoints are off, and not after they are on again", () => {
    init("--agent", "claude-code");
    sandbox.ok("config", "checkpoints.automatic", "off");
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "AUTOMATIC_OFF" }] });
    expect(said.status.split("\n")[0]).toContain("automatic checkpoints are off");
    sandbox.ok("config", "checkpoints.automatic", "on");
    expect(capture()).toMatchObject({ on: true, exit: 0, obstacles: [] });
  });

  test("where no agent that is used has hooks", () => {
    mkdirSync(join(sandbox.base, ".codex"));
    init("--no-agents");
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "NO_HOOKS" }] });
    expect(said.status).toMatch(/Codex +not captured, no event yet/);
  });

  test("where Codex does not trust the hooks; with a word of trust it is another matter", () => {
    init("--agent", "codex");
    const quick = sandbox.json(["status"], 0, { env: ENV }).capture;
    expect(quick).toMatchObject({ on: false, obstacles: [{ code: "NO_EVENTS" }] });
    expect(quick.agents[0].problem).toContain("you have not trusted them");
    expect(capture().exit).toBe(1);
    const hooks = join(sandbox.base, ".codex", "hooks.json");
    home(".codex/config.toml", `[hooks.state."${hooks}:stop:0:0"]\ntrusted_hash = "sha256:1"\n`);
    expect(sandbox.json(["status"], 0, { env: ENV }).capture).toMatchObject({ on: true });
  });

  test("[R2140] where the store is full, and not after there is room", () => {
    init("--agent", "claude-code");
    sandbox.ok("config", "disk.capBytes", "1");
    sandbox.write("big.txt", "x".repeat(100_000));
    prompt("claude-code");
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "STORE_FULL" }] });
    expect(said.agents).toMatchObject([{ agent: "claude-code", captured: false }]);
    expect(said.status.split("\n")[0]).toMatch(/the store is full: checkpoints fail since \d\d:\d\d/);
    expect(said.status).toContain("disk.capBytes");
    const short = () => sandbox.belay(["status", "--short"], { env: ENV }).stdout;
    expect(short()).toMatch(/^✗ store full 1 changed /);
    sandbox.ok("config", "disk.capBytes", "--unset");
    sandbox.ok("checkpoint");
    expect(capture()).toMatchObject({ on: true, exit: 0, obstacles: [] });
    expect(short()).toBe("✓\n");
  });

  test("[R2140] where the newest work could not be captured for another reason, which is named", async () => {
    init("--agent", "claude-code");
    prompt("claude-code");
    {
      await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
      const [thread] = await workspace.threads.list();
      const now = Date.now();
      const lost = { at: now, until: now, events: 1, problem: "No space left on the device." };
      await workspace.threads.noteUncaptured(thread!.id, lost);
    }
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "CAPTURES_FAIL" }] });
    expect(said.status.replaceAll(/\s+/g, " ")).toContain("unprotected: No space left on the device.");
    expect(sandbox.belay(["status", "--short"], { env: ENV }).stdout).toBe("✗ captures fail\n");
    prompt("claude-code", "and again");
    expect(capture()).toMatchObject({ on: true, exit: 0, obstacles: [] });
  });

  test("where the store cannot be opened", () => {
    init("--agent", "claude-code");
    const { store } = sandbox.json(["status"], 0, { env: ENV });
    for (const name of readdirSync(store)) if (name.startsWith("store.db-")) rmSync(join(store, name));
    writeFileSync(join(store, "store.db"), "not a database");
    expect(capture()).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "STORE_FAILS" }] });
  });
});

describe("[R150] an agent that ran without a word", () => {
  const CASES = [
    ["claude-code", () => `.claude/projects/${sandbox.project.replace(/[^A-Za-z0-9]/g, "-")}/s9.jsonl`],
    ["qwen-code", () => `.qwen/projects/${sandbox.project.replace(/[^A-Za-z0-9]/g, "-")}/chats/s9.jsonl`],
    ["gemini-cli", () => ".gemini/tmp/short/chats/session-9.jsonl"],
    ["codex", () => ".codex/sessions/2026/01/02/rollout-9.jsonl"],
  ] as const;

  test.each(CASES)("%s: its own files are newer than its last event", (agent, transcript) => {
    init("--agent", agent);
    const hooks = join(sandbox.base, ".codex", "hooks.json");
    if (agent === "codex")
      home(".codex/config.toml", `[hooks.state."${hooks}:stop:0:0"]\ntrusted_hash = "sha256:1"\n`);
    if (agent === "gemini-cli")
      home(".gemini/projects.json", JSON.stringify({ projects: { [sandbox.project]: "short" } }));
    prompt(agent);
    const file = home(transcript(), `{"type":"session_meta","payload":{"cwd":"${sandbox.project}"}}\n`);
    const mine = () =>
      (sandbox.json(["status"], 0, { env: ENV }).capture as Said).agents.find((one) => one.agent === agent)!;
    expect(mine()).toMatchObject({ captured: true, problem: null, lastEvent: expect.any(String) });
    const soon = Date.now() / 1000;
    utimesSync(file, soon, soon + HOUR / 2);
    expect(mine()).toMatchObject({ captured: true });
    utimesSync(file, soon, soon + 2 * HOUR);
    expect(mine()).toMatchObject({
      captured: false,
      problem: expect.stringContaining("it worked here until"),
    });
    expect(sandbox.json(["status"], 0, { env: ENV }).capture.on).toBe(false);
  });

  test("one that never sent an event is noticed by what it did since the directory is protected", () => {
    init("--agent", "claude-code");
    const file = home(CASES[0][1](), "{}\n");
    expect(capture()).toMatchObject({ on: true, exit: 0 });
    utimesSync(file, 1, Date.now() / 1000 + 2 * HOUR);
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1, obstacles: [{ code: "NO_EVENTS" }] });
    expect(said.agents[0]!.problem).toContain("none of its events ever arrived");
  });
});

describe("[R150] an agent's own switches", () => {
  const USER = "its user settings";
  const CASES: [string, string, string, string][] = [
    ["claude-code", USER, ".claude/settings.json", '{"disableAllHooks": true}'],
    ["claude-code", "the project's settings", "project/.claude/settings.json", '{"disableAllHooks": true}'],
    [
      "gemini-cli",
      "the project's settings",
      "project/.gemini/settings.json",
      '{"hooksConfig":{"enabled":false}}',
    ],
    ["gemini-cli", "one hook", "project/.gemini/settings.json", '{"hooksConfig":{"disabled":["belay"]}}'],
    [
      "qwen-code",
      "the project's settings",
      "project/.qwen/settings.json",
      '{"disableAllHooks": true} // off',
    ],
  ];

  test.each(CASES)("%s, %s", (agent, _where, path, text) => {
    init("--agent", agent);
    expect(sandbox.belay(["doctor"], { env: ENV }).status).toBe(0);
    const file = home(path, text);
    const said = capture();
    expect(said).toMatchObject({ on: false, exit: 1 });
    expect(said.agents.find((one) => one.agent === agent)!.problem).toContain(file);
  });

  test.each([
    ["gemini-cli", ".gemini"],
    ["qwen-code", ".qwen"],
  ])("%s passes the project's own hooks over in a folder that is not trusted", (agent, directory) => {
    home(`${directory}/settings.json`, '{"security":{"folderTrust":{"enabled":true}}}');
    init("--agent", agent, "--shared");
    expect(capture().agents[0]!.problem).toContain("is not a trusted folder");
    home(`${directory}/trustedFolders.json`, JSON.stringify({ [sandbox.base]: "TRUST_FOLDER" }));
    expect(capture()).toMatchObject({ on: true, exit: 0 });
  });

  test("copilot-cli: the same with its list of folders", () => {
    init("--agent", "copilot-cli", "--shared");
    expect(capture()).toMatchObject({ on: false, exit: 1 });
    home(".copilot/config.json", JSON.stringify({ trusted_folders: [sandbox.project] }));
    expect(capture()).toMatchObject({ on: true, exit: 0 });
  });
});

test("[R150] status has a line for each agent with its last event, over HTTP too", async () => {
  mkdirSync(join(sandbox.base, ".qwen"));
  init("--agent", "claude-code");
  prompt("claude-code");
  const { status, agents } = capture();
  expect(status).toMatch(/Claude Code +captured, last event (just now|\d+ s ago)/);
  expect(status).toMatch(/Qwen Code +not captured, no event yet: it has no hooks/);
  expect(agents.map(({ agent, captured }) => [agent, captured])).toEqual([
    ["claude-code", true],
    ["qwen-code", false],
  ]);
  const started = sandbox.json(["start"], 0, { env: ENV });
  const response = await fetch(`${started.url}/api/status?workspace=${encodeURIComponent(sandbox.project)}`, {
    headers: { authorization: `Bearer ${started.token}` },
  });
  const { capture: served } = (await response.json()) as { capture: Said };
  expect(served.agents).toEqual(sandbox.json(["status"], 0, { env: ENV }).capture.agents);
});

test("[R150] without any agent nothing is missed", () => {
  init("--no-agents");
  expect(capture()).toMatchObject({ on: true, exit: 0, agents: [] });
});

test("[R150] hooks that come with the plugin count", () => {
  mkdirSync(join(sandbox.base, ".claude"));
  init("--no-agents");
  expect(capture()).toMatchObject({ on: false });
  home(".claude/settings.json", '{"enabledPlugins":{"belay@belay":true}}');
  expect(capture()).toMatchObject({ on: true, exit: 0 });
});

test("[R150] settings that cannot be read are no reason to fail", () => {
  init("--agent", "claude-code");
  chmodSync(home(".claude/settings.json", "{ not json"), 0o600);
  expect(capture()).toMatchObject({ on: true, exit: 0 });
});
