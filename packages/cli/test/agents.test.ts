/** Agents' hooks end to end: real payloads through the real command, with and without the resident process. */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listOverdue, writeHook } from "@belay/agents";
import { afterEach, describe, expect, test } from "vitest";
import { canMount, mountSmall, unmount } from "../../engine/test/support/project.ts";
import { OverduePlace } from "../../agents/src/state/overdue-events.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const FIXTURES = join(import.meta.dirname, "../../agents/test/fixtures");
let sandbox: Sandbox;
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

/** A recorded event, as if it came from this project and this conversation. */
function payload(agent: string, event: string, more: Record<string, unknown> = {}): string {
  const recorded = JSON.parse(readFileSync(join(FIXTURES, agent, `${event}.json`), "utf8")) as object;
  return JSON.stringify({ ...recorded, cwd: sandbox.project, ...more });
}

interface HookDone {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const SCRIPT = "through the script";

/** The script that agents run. Its Node says that it was started: the long way. */
function writeScript(): void {
  const node = join(sandbox.base, "node.sh");
  const program = `#!/bin/sh\necho started >>'${sandbox.base}/long-way'\nexec '${process.execPath}' "$@"\n`;
  writeFileSync(node, program, { mode: 0o755 });
  const build = join(LAUNCHER, "../../dist/main.js");
  writeHook({
    belayHome: sandbox.home,
    node,
    cli: LAUNCHER,
    build,
    program: join(build, "../belay-hook"),
    environment: ["CLAUDE", "BELAY"],
  });
}

function runScript(agent: string, input: string, more: NodeJS.ProcessEnv = {}): HookDone {
  const { BELAY_HOME: _, ...environment } = process.env;
  return spawnSync(join(sandbox.home, "bin/belay-hook"), [agent], {
    cwd: sandbox.project,
    input,
    encoding: "utf8",
    env: { ...environment, BELAY_RESIDENT: "off", ...more },
  });
}

function hook(agent: string, input: string): HookDone {
  if (existsSync(join(sandbox.home, "bin/belay-hook"))) return runScript(agent, input);
  return spawnSync(process.execPath, [LAUNCHER, "--home", sandbox.home, "hook", agent], {
    cwd: sandbox.project,
    input,
    encoding: "utf8",
    env: { ...process.env, BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000" },
  });
}

function claude(event: string, more: Record<string, unknown> = {}): void {
  const done = hook("claude-code", payload("claude-code", event, { session_id: "s1", ...more }));
  expect(done).toMatchObject({ status: 0, stderr: "" });
}

/** One turn of Claude Code: a prompt, a shell command that writes, deletes and makes an ignored file, the end. */
function turn(): void {
  claude("UserPromptSubmit", { prompt: "please do it", prompt_id: "p1" });
  claude("PreToolUse.Bash", { tool_use_id: "t1", tool_input: { command: "make" } });
  sandbox.write("a.txt", "changed\n");
  sandbox.write("new/file.txt", "new\n");
  rmSync(sandbox.path("src/b.txt"));
  claude("PostToolUse.Bash", { tool_use_id: "t1", tool_input: { command: "make" } });
  claude("PreToolUse.Write", {
    tool_use_id: "t2",
    tool_input: { file_path: sandbox.path(".env"), content: "x" },
  });
  sandbox.write(".env", "SECRET=1\n");
  claude("PostToolUse.Write", {
    tool_use_id: "t2",
    tool_input: { file_path: sandbox.path(".env"), content: "x" },
  });
  claude("Stop", { last_assistant_message: "done" });
}

describe.each(["alone", "with the resident process", SCRIPT])("hooks, %s", (how) => {
  test("[R1604] a turn is checkpointed, shown as a conversation, undone and redone exactly", async () => {
    sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.txt": "two\n", ".gitignore": ".env\n" });
    if (how !== "alone") expect(sandbox.belay(["start"]).status).toBe(0);
    if (how === SCRIPT) writeScript();
    turn();
    expect(existsSync(join(sandbox.base, "long-way"))).toBe(false);
    const { threads } = sandbox.json(["threads"]) as {
      threads: { id: string; agent: string; messages: number }[];
    };
    expect(threads).toMatchObject([{ agent: "claude-code", messages: 2 }]);
    const shown = sandbox.json(["thread", threads[0]!.id]) as {
      messages: { role: string; content: string }[];
    };
    expect(shown.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "please do it"],
      ["assistant", "done"],
    ]);
    const { checkpoints } = sandbox.json(["list"]) as { checkpoints: { description: string }[] };
    const descriptions = checkpoints.map(({ description }) => description);
    expect(descriptions).toContain("Before Bash: make");
    // [R1604] by its name in the project, not as the agent gave it
    expect(descriptions).toContain("Before Write: .env");
    expect(sandbox.belay(["undo", "--yes"]).status).toBe(0);
    expect([sandbox.read("a.txt"), sandbox.read("src/b.txt")]).toEqual(["one\n", "two\n"]);
    expect([existsSync(sandbox.path(".env")), existsSync(sandbox.path("new"))]).toEqual([false, false]);
    expect(sandbox.belay(["redo", "--yes"]).status).toBe(0);
    expect([sandbox.read("a.txt"), sandbox.read(".env")]).toEqual(["changed\n", "SECRET=1\n"]);
    expect(existsSync(sandbox.path("src/b.txt"))).toBe(false);
  });

  test("an agent's own worktree is protected when it first says something", async () => {
    sandbox = new Sandbox({ "a.txt": "one\n", "src/b.txt": "two\n", ".gitignore": ".worktrees/\n" });
    const git = (...args: string[]) =>
      spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: sandbox.project });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    await sandbox.protect();
    if (how !== "alone") expect(sandbox.belay(["start"]).status).toBe(0);
    if (how === SCRIPT) writeScript();
    expect(git("worktree", "add", "-q", ".worktrees/one", "-b", "one").status).toBe(0);
    const cwd = sandbox.path(".worktrees/one");
    claude("UserPromptSubmit", { prompt: "work there", prompt_id: "p1", cwd });
    const { workspaces } = sandbox.json(["workspaces"]) as { workspaces: { path: string }[] };
    expect(workspaces.map(({ path }) => path).toSorted()).toEqual([sandbox.project, cwd]);
  });

  test("the agent is told at its next prompt what was taken back", async () => {
    sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.txt": "two\n" });
    if (how !== "alone") sandbox.belay(["start"]);
    if (how === SCRIPT) writeScript();
    turn();
    sandbox.belay(["undo", "--yes"]);
    const { stdout } = hook(
      "claude-code",
      payload("claude-code", "UserPromptSubmit", { session_id: "s1", prompt: "go on", prompt_id: "p2" }),
    );
    expect(stdout).toContain("a.txt");
    expect(stdout).toMatch(/took back/);
  });
});

test("[R61] an event that the script delivers and hands on is carried out once", async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.txt": "two\n" });
  sandbox.belay(["start"]);
  // not by the script: however slow the machine is, the turn is captured in time, and takes no long way
  turn();
  writeScript();
  const facts = JSON.parse(readFileSync(join(sandbox.home, "run/resident.json"), "utf8")) as {
    url: string;
    token: string;
  };
  const command = { command_name: "belay:undo", command_args: "" };
  const event = payload("claude-code", "UserPromptExpansion", { session_id: "s1", ...command });
  const id = `${Date.now()}-1`;
  const said = await fetch(`${facts.url}/api/hooks/claude-code/event`, {
    method: "POST",
    body: event,
    headers: {
      authorization: `Bearer ${facts.token}`,
      "content-type": "application/json",
      "x-belay-cwd": sandbox.project,
      "x-belay-wait": id,
    },
  });
  expect(said.status).toBe(200);
  expect(sandbox.read("a.txt")).toBe("one\n");
  sandbox.ok("redo", "--yes");
  // as the script does when it has lost patience, and its long way too: then there is a note that it is to be done
  const sent = { agent: "claude-code", cwd: sandbox.project, environment: {}, input: event };
  new OverduePlace(sandbox.home, sent).leave({ ...sent, id, deadline: Date.now(), worker: null });
  const again = runScript("claude-code", event, { BELAY_EVENT: id, BELAY_WAIT_MS: "30000" });
  expect(again).toMatchObject({ status: 0, stderr: "", stdout: await said.text() });
  expect(sandbox.read("a.txt")).toBe("changed\n");
  expect(readFileSync(join(sandbox.base, "long-way"), "utf8")).toBe("started\n");
  expect(listOverdue(sandbox.home)).toEqual([]);
});

test("the process rewrites the script of an earlier Belay when it starts; a missing script stays missing", async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
  const script = join(sandbox.home, "bin/belay-hook");
  sandbox.belay(["start"]);
  sandbox.belay(["stop"]);
  expect(existsSync(script)).toBe(false);
  mkdirSync(join(script, ".."), { recursive: true });
  writeFileSync(script, "#!/bin/sh\n# old\n", { mode: 0o755 });
  sandbox.belay(["start"]);
  expect(readFileSync(`${script}.facts`, "utf8")).toContain(`home=${sandbox.home}\n`);
  expect(readFileSync(script, "latin1")).not.toContain("# old");
});

test("[R66] a thread is called by its first prompt, and nothing that lists it shows a secret", async () => {
  sandbox = await Sandbox.protected();
  const prompt = "use token=sk-abcdefghijklmnopqrstuvwxyz123456 to add a parser for the whole configuration";
  claude("UserPromptSubmit", { prompt, prompt_id: "p1" });
  sandbox.write("a.txt", "changed\n");
  claude("Stop", { last_assistant_message: "done" });
  claude("UserPromptSubmit", { prompt: "and more", prompt_id: "p2" });
  const { threads } = sandbox.json(["threads"]) as { threads: { title: string }[] };
  expect(threads[0]!.title).toBe("use token=[redacted] to add a parser for the whole…");
  const shown = ["threads", "list", "status"].map((command) => sandbox.ok(command)).join("");
  expect(shown + sandbox.ok("undo", "--yes")).not.toContain("sk-abc");
});

test("status names the turn that undo would take back, also one that was cut off", async () => {
  sandbox = await Sandbox.protected();
  turn();
  claude("UserPromptSubmit", { prompt: "destroy it", prompt_id: "p2" });
  claude("PreToolUse.Bash", { prompt_id: "p2", tool_use_id: "t9", tool_input: { command: "rm -rf src" } });
  rmSync(sandbox.path("new"), { recursive: true });
  expect(sandbox.json(["status"])).toMatchObject({ canUndo: { kind: "turn", prompt: "destroy it" } });
  expect(sandbox.ok("status")).toContain("belay restore @");
  sandbox.ok("undo", "--yes");
  expect(sandbox.read("new/file.txt")).toBe("new\n");
});

describe("whatever is broken, the agent goes on", () => {
  const INPUTS: readonly [string, string][] = [
    ["nothing", ""],
    ["not JSON", "{"],
    ["a list", "[]"],
    ["an unknown event", `{"hook_event_name":"Nonsense","session_id":"x"}`],
    [
      "a session id with a path in it",
      `{"hook_event_name":"UserPromptSubmit","session_id":"../../x","prompt":"hi"}`,
    ],
    [
      "a directory that is not there",
      `{"hook_event_name":"UserPromptSubmit","session_id":"y","prompt":"hi","cwd":"/no/such"}`,
    ],
    [
      "three megabytes",
      JSON.stringify({
        hook_event_name: "PreToolUse",
        session_id: "z",
        tool_name: "Write",
        tool_use_id: "t",
        tool_input: { file_path: "a.txt", content: "x".repeat(3_000_000) },
      }),
    ],
  ];

  test.each(INPUTS)("%s", async (_, input) => {
    sandbox = await Sandbox.protected();
    const done = hook("claude-code", input);
    expect(done).toMatchObject({ status: 0, stderr: "" });
    expect(() => JSON.parse(done.stdout || "{}") as unknown).not.toThrow();
    expect(sandbox.read("a.txt")).toBe("one\n");
  });

  test("an unprotected directory, a damaged store", async () => {
    sandbox = new Sandbox();
    expect(hook("claude-code", payload("claude-code", "UserPromptSubmit"))).toMatchObject({
      status: 0,
      stderr: "",
    });
    await sandbox.protect();
    const stores = join(sandbox.home, "workspaces");
    writeFileSync(join(stores, readdirSync(stores)[0]!, "store.db"), "not a database at all");
    const done = hook("claude-code", payload("claude-code", "UserPromptSubmit", { prompt_id: "p" }));
    expect(done).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(join(sandbox.home, "agents/trouble.log"), "utf8")).toContain("damaged");
    expect(sandbox.belay(["doctor"]).stdout).toContain("hook errors");
  });

  test.skipIf(!canMount).each(["alone", "with the resident process"])("a full disk, %s", async (how) => {
    sandbox = new Sandbox({ "a.txt": "one\n" });
    mkdirSync(sandbox.home, { mode: 0o700 });
    expect(mountSmall(sandbox.home, "16m")).toBe(true);
    chmodSync(sandbox.home, 0o700);
    try {
      await sandbox.protect();
      if (how !== "alone") expect(sandbox.belay(["start"]).status).toBe(0);
      spawnSync("sh", ["-c", `cat /dev/zero >'${sandbox.home}/filler'`]);
      sandbox.write("big.bin", randomBytes(2 ** 22).toString("hex"));
      const prompt = { session_id: "s1", prompt: "go on", prompt_id: "p1" };
      const done = hook("claude-code", payload("claude-code", "UserPromptSubmit", prompt));
      expect(done).toMatchObject({ status: 0, stderr: "" });
      expect((JSON.parse(done.stdout) as { systemMessage: string }).systemMessage).toMatch(/space|full/);
      rmSync(join(sandbox.home, "filler"));
      expect(hook("claude-code", payload("claude-code", "Stop", { session_id: "s1" })).status).toBe(0);
      expect(sandbox.belay(["stop"]).status).toBe(0);
    } finally {
      unmount(sandbox.home);
    }
  });

  test("eight agents at once: nothing is lost", async () => {
    sandbox = await Sandbox.protected();
    sandbox.belay(["start"]);
    const agents = Array.from({ length: 8 }, async (_, index) => {
      for (const event of ["UserPromptSubmit", "PreToolUse.Bash", "PostToolUse.Bash", "Stop"]) {
        const child = spawn(process.execPath, [LAUNCHER, "--home", sandbox.home, "hook", "claude-code"], {
          cwd: sandbox.project,
          stdio: ["pipe", "ignore", "inherit"],
          env: { ...process.env, BELAY_WAIT_MS: "30000" },
        });
        const more = { session_id: `agent-${index}`, prompt_id: `p-${index}`, tool_use_id: `t-${index}` };
        child.stdin.end(payload("claude-code", event, more));
        const [status] = (await once(child, "exit")) as [number];
        expect(status).toBe(0);
      }
    });
    await Promise.all(agents);
    const { threads } = sandbox.json(["threads"]) as { threads: { checkpoints: number }[] };
    expect(threads).toHaveLength(8);
    // the initial one, before the prompt, before and after the tool, the end
    for (const thread of threads) expect(thread.checkpoints).toBe(5);
    expect(existsSync(join(sandbox.home, "agents/trouble.log"))).toBe(false);
  });
});

describe("installing", () => {
  const USER = () => ({
    ...process.env,
    HOME: join(sandbox.base, "user"),
    PATH: "/usr/bin:/bin",
    BELAY_RESIDENT: "off",
  });
  const asUser = (...args: string[]) =>
    spawnSync(process.execPath, [LAUNCHER, "--home", sandbox.home, "-C", sandbox.project, ...args], {
      encoding: "utf8",
      env: USER(),
    });

  test("init takes --agent several times, and lists", () => {
    sandbox = new Sandbox({ "a.txt": "one\n" });
    const chosen = ["--agent", "claude-code,codex", "--agent", "gemini-cli", "--agent=codex"];
    const { agents } = JSON.parse(asUser("init", ...chosen, "--yes", "--json").stdout);
    expect(agents.map(({ agent }: { agent: string }) => agent)).toEqual([
      "claude-code",
      "codex",
      "gemini-cli",
    ]);
  });

  test("init adds the hooks of the agents it finds before its first checkpoint; uninstall takes out exactly those", () => {
    sandbox = new Sandbox({
      "a.txt": "one\n",
      ".claude/settings.local.json": '{\n  // mine\n  "model": "x"\n}\n',
    });
    mkdirSync(join(sandbox.base, "user/.claude"), { recursive: true });
    const done = JSON.parse(asUser("init", "--yes", "--json").stdout) as {
      agents: { agent: string }[];
      checkpoint: { files: number };
    };
    expect(done.agents.map(({ agent }) => agent)).toEqual(["claude-code"]);
    expect(done.checkpoint.files).toBe(2);
    const settings = sandbox.read(".claude/settings.local.json");
    expect(settings).toContain("// mine");
    expect(settings).toContain("belay-hook");
    expect(asUser("diff", "--name-only").stdout).toBe("");
    expect(JSON.parse(asUser("init", "--yes", "--json").stdout)).toMatchObject({ created: false });
    expect(sandbox.read(".claude/settings.local.json")).toBe(settings);
    expect(asUser("init", "--yes").stdout).toContain("claude plugin install belay@belay");
    expect(readdirSync(join(sandbox.home, "claude-plugin/commands"))).toContain("undo.md");
    expect(asUser("uninstall").status).toBe(0);
    expect(sandbox.read(".claude/settings.local.json")).toBe('{\n  // mine\n  "model": "x"\n}\n');
  });

  test("a question is due before settings are written, and --no-agents writes none", () => {
    sandbox = new Sandbox();
    mkdirSync(join(sandbox.base, "user/.claude"), { recursive: true });
    const refused = asUser("init", "--json");
    expect(refused.status).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "CONFIRMATION_REQUIRED" } });
    expect(existsSync(sandbox.path(".claude"))).toBe(false);
    expect(asUser("init", "--agent", "unknown").status).toBe(2);
    expect(asUser("init", "--no-agents").status).toBe(0);
    expect(existsSync(sandbox.path(".claude"))).toBe(false);
  });

  test("hooks that cannot be installed are said, and the exit code tells; the directory is protected", () => {
    sandbox = new Sandbox({ "a.txt": "one\n", ".claude/settings.local.json": "{ broken" });
    const done = asUser("init", "--agent", "claude-code", "--yes", "--json");
    expect(done.status).toBe(3);
    expect(done.stderr).toContain("hooks of claude-code could not be installed");
    expect(JSON.parse(done.stdout)).toMatchObject({
      created: true,
      agents: [{ files: [{ outcome: "refused" }] }],
    });
    expect(sandbox.read(".claude/settings.local.json")).toBe("{ broken");
    expect(asUser("status").status).toBe(0);
  });

  /** Three ways to restore the first checkpoint, in which the hooks were not there yet; what each says of it. */
  const WAYS: Record<string, () => Promise<string>> = {
    "the command line": async () => {
      const done = asUser("restore", "1", "--yes");
      expect(done.status).toBe(0);
      return done.stderr;
    },
    HTTP: async () => {
      const { url, token } = JSON.parse(asUser("start", "--json").stdout) as { url: string; token: string };
      const api = async (method: string, path: string, body?: object): Promise<any> => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
        return (await fetch(`${url}/api/threads${path}`, sent)).json();
      };
      const workspace = encodeURIComponent(sandbox.project);
      const { thread } = await api("POST", `?workspace=${workspace}`, { agent: "test" });
      const { plan } = await api("GET", `/${thread.id}/checkpoints/1/rollback/preview`);
      const done = await api("POST", `/${thread.id}/checkpoints/1/rollback`, { planId: plan.id });
      expect(done.outcome).toBe("applied");
      return done.warnings.join("\n");
    },
    MCP: async () => {
      const client = await mcp(USER());
      const { confirm } = await client.call(2, "checkpoint_restore", { checkpoint: "1" });
      const done = await client.call(3, "checkpoint_restore", { checkpoint: "1", confirm });
      await client.end();
      expect(done.outcome).toBe("applied");
      return done.warnings.join("\n");
    },
  };

  test.each(Object.keys(WAYS))(
    "[R63] a restore through %s puts back exactly the hooks it took out",
    async (way) => {
      sandbox = new Sandbox({ "a.txt": "one\n" });
      mkdirSync(join(sandbox.base, "user/.claude"), { recursive: true });
      asUser("init", "--no-agents");
      asUser("init", "--agent", "claude-code", "--yes");
      asUser("checkpoint");
      const installed = sandbox.read(".claude/settings.local.json");
      sandbox.write("a.txt", "two\n");
      expect(await WAYS[way]!()).toContain("hooks were put back");
      expect(sandbox.read("a.txt")).toBe("one\n");
      expect(sandbox.read(".claude/settings.local.json")).toBe(installed);
    },
  );
});

test("[R155] `belay mcp` starts where nothing is protected, says what to do, and works as soon as it is", async () => {
  sandbox = new Sandbox();
  const client = await mcp();
  for (const [id, name] of ["checkpoint_list", "checkpoint_create"].entries()) {
    const { isError, content } = await client.result(10 + id, name, {});
    expect(isError).toBe(true);
    expect(content[0].text).toContain(`${sandbox.project} is not protected`);
    expect(content[0].text).toContain(
      "`belay init` in a terminal there; these tools work from then on, without a restart",
    );
  }
  sandbox.ok("init", "--no-agents");
  expect((await client.call(20, "checkpoint_list", {})).checkpoints).toHaveLength(1);
  sandbox.write("a.txt", "two\n");
  const { confirm } = await client.call(21, "checkpoint_restore", { checkpoint: "1" });
  expect(await client.call(22, "checkpoint_restore", { checkpoint: "1", confirm })).toMatchObject({
    outcome: "applied",
  });
  expect(sandbox.read("a.txt")).toBe("one\n");
  sandbox.ok("uninstall");
  expect((await client.result(23, "checkpoint_list", {})).isError).toBe(true);
  await client.end();
});

/** `belay mcp` and a client of it. */
async function mcp(environment: NodeJS.ProcessEnv = process.env) {
  const child = spawn(process.execPath, [LAUNCHER, "--home", sandbox.home, "mcp"], {
    cwd: sandbox.project,
    stdio: ["pipe", "pipe", "inherit"],
    env: environment,
  });
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answerTo = async (id: number) => {
    await expect.poll(() => text.includes(`"id":${id}`)).toBe(true);
    return text.split("\n").find((line) => line.includes(`"id":${id}`))!;
  };
  const client = { name: "test", version: "1" };
  say({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client },
  });
  await answerTo(1);
  say({ method: "notifications/initialized" });
  const result = async (id: number, name: string, args: object): Promise<any> => {
    say({ id, method: "tools/call", params: { name, arguments: args } });
    return (JSON.parse(await answerTo(id)) as { result: unknown }).result;
  };
  return {
    result,
    call: async (id: number, name: string, args: object): Promise<any> =>
      (await result(id, name, args)).structuredContent,
    async end(): Promise<void> {
      child.stdin.end();
      const [status] = (await once(child, "exit")) as [number];
      expect(status).toBe(0);
    },
  };
}

test.skipIf(!canMount)(
  "[R162] belay mcp on a full disk reads, restores, and locks no other process out",
  async () => {
    sandbox = new Sandbox({ "a.txt": "one\n" });
    mkdirSync(sandbox.home, { mode: 0o700 });
    mountSmall(sandbox.home, "24m");
    try {
      chmodSync(sandbox.home, 0o700);
      await sandbox.protect();
      sandbox.write("made.txt", "1\n");
      spawnSync("sh", ["-c", `cat /dev/zero >'${sandbox.home}/filler'`]);
      const client = await mcp();
      const { confirm } = await client.call(2, "checkpoint_restore", { checkpoint: "1" });
      expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
      const done = await client.call(3, "checkpoint_restore", { checkpoint: "1", confirm });
      expect(done).toMatchObject({ outcome: "applied", deleted: 1 });
      expect(sandbox.read("made.txt")).toBeUndefined();
      rmSync(join(sandbox.home, "filler"));
      sandbox.ok("undo", "--yes");
      expect(sandbox.read("made.txt")).toBe("1\n");
      await client.end();
      await sandbox.verify();
    } finally {
      unmount(sandbox.home);
    }
  },
);

test("[R185] belay mcp tells of a conflict what the command line tells", async () => {
  sandbox = await Sandbox.protected();
  sandbox.remove("a.txt");
  expect(spawnSync("git", ["init", "-q", sandbox.path("a.txt")]).status).toBe(0);
  const client = await mcp();
  const { preview, confirm } = await client.call(2, "checkpoint_restore", { checkpoint: "1" });
  const { plan, waysOut } = sandbox.json(["restore", "1", "--dry-run"], 3);
  expect(plan.conflicts).toMatchObject([{ path: "a.txt", reason: "cannot be saved" }]);
  expect(preview.conflicts).toEqual(plan.conflicts);
  expect(preview.waysOut.map(({ does }: { does: string }) => does)).toEqual(
    waysOut.map(({ does }: { does: string }) => does),
  );
  const done = await client.call(3, "checkpoint_restore", { checkpoint: "1", confirm });
  expect(done).toMatchObject({ conflicts: preview.conflicts, waysOut: preview.waysOut });
  for (const { command } of preview.waysOut) expect(command).toMatch(/^belay restore .*[k-z]{8}/);
  await client.end();
});

test("belay mcp lists checkpoints and previews before it restores", async () => {
  sandbox = await Sandbox.protected();
  sandbox.write("a.txt", "two\n");
  const client = await mcp();
  const { preview } = await client.call(2, "checkpoint_restore", { checkpoint: "1" });
  expect(preview.operations).toEqual([{ type: "restore", path: "a.txt" }]);
  expect(sandbox.read("a.txt")).toBe("two\n");
  await client.end();
});
