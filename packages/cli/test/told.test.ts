/** What is told of a conversation is true: titles, costs, news to the model, warnings about git, whose tools count. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "@belay/engine";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => void (sandbox = new Sandbox()));
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const ENV = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000", PATH: "/usr/bin:/bin" };

function hook(agent: string, event: Record<string, unknown>, cwd = sandbox.project): any {
  const input = JSON.stringify({ session_id: "s1", cwd, ...event });
  const done = sandbox.belay(["hook", agent], { cwd, input, env: ENV });
  expect(done.status).toBe(0);
  return JSON.parse(done.stdout);
}

const prompt = (id: string, text = "do it") =>
  hook("claude-code", { hook_event_name: "UserPromptSubmit", prompt: text, prompt_id: id });

/** A turn of Claude Code with one shell command. */
function turn(id: string, work: () => void): any {
  const news = prompt(id, `turn ${id}`);
  const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: `t-${id}` };
  hook("claude-code", { hook_event_name: "PreToolUse", ...call });
  work();
  hook("claude-code", { hook_event_name: "PostToolUse", ...call });
  hook("claude-code", { hook_event_name: "Stop" });
  return news;
}

function git(...args: string[]): void {
  const done = spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
    cwd: sandbox.project,
  });
  expect(done.status).toBe(0);
}

describe("[R157] news to the model", () => {
  beforeEach(() => sandbox.protect());

  test("what was undone and redone, or restored and undone, is no news", () => {
    turn("p1", () => sandbox.write("a.txt", "two\n"));
    sandbox.ok("undo", "--yes");
    sandbox.ok("redo", "--yes");
    sandbox.ok("restore", "1", "--yes");
    sandbox.ok("undo", "--yes");
    expect(prompt("p2")).toEqual({});
  });

  test("what is still gone is told once, by the last that touched it", () => {
    turn("p1", () => sandbox.write("a.txt", "two\n"));
    turn("p2", () => sandbox.write("src/b.txt", "three\n"));
    sandbox.ok("undo", "--yes");
    sandbox.ok("restore", "1", "--yes");
    const { additionalContext: news } = prompt("p3").hookSpecificOutput;
    expect(news).toContain("Undid: turn p2");
    expect(news).toContain('"src/b.txt"');
    expect(news.match(/"src\/b\.txt"/g)).toHaveLength(1);
  });
});

test("[R157] an undo of a turn that committed says so, as a restore does", async () => {
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  await sandbox.protect();
  turn("p1", () => {
    sandbox.write("a.txt", "two\n");
    git("commit", "-qam", "second");
  });
  const { plan } = sandbox.json(["undo", "--dry-run"]);
  expect(plan.warnings).toEqual([expect.stringMatching(/^git was at .* then and is at .* now/)]);
  expect(sandbox.json(["restore", "1", "--dry-run"]).plan.warnings).toEqual(plan.warnings);
  sandbox.ok("undo", "--yes");
});

test("[R158] a cost that no agent told is not known, and not nothing", async () => {
  await sandbox.protect();
  prompt("p1");
  const agent = { agent_id: "a1", agent_type: "reviewer" };
  hook("claude-code", { hook_event_name: "SubagentStart", ...agent });
  hook("claude-code", { hook_event_name: "SubagentStop", ...agent });
  const [thread] = sandbox.json(["threads"]).threads;
  expect(sandbox.json(["thread", thread.id]).agents).toMatchObject([
    { role: "reviewer", cost: null, tokens: null },
  ]);
  expect(sandbox.ok("thread", thread.id)).not.toMatch(/0\.00|0 tokens/);
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  await workspace.turns.endAgent(thread.id, { id: "a1", cost: 0.25 });
  expect(sandbox.ok("thread", thread.id)).toMatch(/0\.25 \$/);
});

describe("[R158] titles", () => {
  const REMINDER = "<system-reminder>\nToday is Monday.\n</system-reminder>\n\n";

  test.each([
    ["before the words", `${REMINDER}${REMINDER}add a parser`],
    ["after them", `add a parser\n${REMINDER}`],
  ])("what Qwen Code tells its model is no title: %s", async (_, text) => {
    await sandbox.protect();
    hook("qwen-code", { hook_event_name: "UserPromptSubmit", prompt: text, prompt_id: "q1" });
    hook("qwen-code", { hook_event_name: "UserPromptSubmit", prompt: REMINDER, prompt_id: "q2" });
    const [thread] = sandbox.json(["threads"]).threads;
    expect(thread).toMatchObject({ title: "add a parser", messages: 1 });
    expect(sandbox.json(["list"]).checkpoints[0].description).toBe("Before user message: add a parser");
  });

  test("a subagent in a worktree of its own has a thread that one can read", async () => {
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    await sandbox.protect();
    git("worktree", "add", "-q", ".claude/worktrees/agent-7f3a", "-b", "one");
    const cwd = sandbox.path(".claude/worktrees/agent-7f3a");
    const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: "t1" };
    const run = { agent_id: "a1", agent_type: "reviewer" };
    hook("claude-code", { hook_event_name: "PreToolUse", ...call, ...run }, cwd);
    expect(sandbox.json(["threads"], 0, { cwd }).threads).toMatchObject([
      { title: "Subagent reviewer in agent-7f3a" },
    ]);
    // in the project itself the user's prompt is the title
    hook("claude-code", { hook_event_name: "PreToolUse", ...call, ...run });
    prompt("p1", "review it all");
    expect(sandbox.json(["threads"]).threads).toMatchObject([{ title: "review it all" }]);
  });
});

describe("[R158] tools that change no file take no checkpoint", () => {
  test.each([
    ["copilot-cli", "belay-checkpoint_list"],
    ["copilot-cli", "belay-checkpoint_restore"],
    ["codex", "spawn_agent"],
    ["codex", "wait_agent"],
    ["claude-code", "mcp__belay__checkpoint_show"],
  ])("%s: %s", async (agent, tool) => {
    await sandbox.protect();
    const event = { hook_event_name: "PreToolUse", tool_name: tool, tool_input: {}, tool_use_id: "t1" };
    hook(agent, event);
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
  });

  test.each([
    ["copilot-cli", "files-write_note"],
    ["codex", "files__write"],
  ])("%s: %s may, and takes one", async (agent, tool) => {
    await sandbox.protect();
    hook(agent, { hook_event_name: "PreToolUse", tool_name: tool, tool_input: {}, tool_use_id: "t1" });
    expect(sandbox.json(["list"]).checkpoints.length).toBeGreaterThan(1);
  });
});

test("[R156] a second 'continue' is a second message; the same one twice is one", async () => {
  await sandbox.protect();
  const begun = Date.now() - 60_000;
  const input = JSON.stringify({
    hook_event_name: "UserPromptSubmit",
    session_id: "s1",
    cwd: sandbox.project,
    prompt: "continue",
  });
  for (const [hookId, at] of [0, 300, 5000, 5300].entries()) {
    // what a hook calls its event: when it began
    const env = { ...ENV, BELAY_EVENT: `${begun + at}-${hookId + 1}` };
    expect(sandbox.belay(["hook", "claude-code"], { input, env }).status).toBe(0);
    sandbox.write("a.txt", `${hookId}\n`);
  }
  expect(sandbox.json(["threads"]).threads).toMatchObject([{ messages: 2 }]);
  expect(sandbox.json(["list", "--kind", "message"]).checkpoints).toHaveLength(2);
});

describe("[R797] agents in one directory", () => {
  beforeEach(() => sandbox.protect());

  const as = (session: string, event: Record<string, unknown>) =>
    hook("claude-code", { session_id: session, ...event });
  const edit = (session: string, id: string, path: string) => ({
    tool_name: "Edit",
    tool_input: { file_path: sandbox.path(path), old_string: "one", new_string: "two" },
    tool_use_id: `${session}-${id}`,
  });

  /** Both prompts, then one agent changes a file and goes on. */
  function together(): void {
    for (const session of ["s1", "s2"])
      as(session, { hook_event_name: "UserPromptSubmit", prompt: "go", prompt_id: `p-${session}` });
    as("s1", { hook_event_name: "PreToolUse", ...edit("s1", "1", "a.txt") });
    sandbox.write("a.txt", "by s1\n");
    as("s1", { hook_event_name: "PostToolUse", ...edit("s1", "1", "a.txt") });
  }

  test("one that is about to write what another changed is an event, and is told with `agents.tellOverlap`", async () => {
    writeFileSync(join(sandbox.home, "config.json"), JSON.stringify({ "agents.tellOverlap": "on" }));
    together();
    expect(as("s1", { hook_event_name: "PreToolUse", ...edit("s1", "2", "a.txt") })).toEqual({});
    expect(as("s2", { hook_event_name: "PreToolUse", ...edit("s2", "1", "src/b.txt") })).toEqual({});
    const told = as("s2", { hook_event_name: "PreToolUse", ...edit("s2", "2", "a.txt") });
    expect(told.hookSpecificOutput).toEqual({
      hookEventName: "PreToolUse",
      additionalContext: expect.stringContaining("Another agent in this directory changed a.txt"),
    });
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const byName = new Map((await workspace.threads.list()).map(({ externalId, id }) => [externalId, id]));
    for await (const event of workspace.events.read({ after: 0 })) {
      if (event.type !== "agents_overlap") continue;
      expect(event).toMatchObject({
        path: "a.txt",
        thread: byName.get("s2"),
        threads: [byName.get("s1")],
      });
      break;
    }
  });

  test("without that setting no agent is told, and what a turn that is over changed is no overlap", () => {
    together();
    expect(as("s2", { hook_event_name: "PreToolUse", ...edit("s2", "2", "a.txt") })).toEqual({});
    writeFileSync(join(sandbox.home, "config.json"), JSON.stringify({ agents: { tellOverlap: true } }));
    as("s1", { hook_event_name: "Stop" });
    expect(as("s2", { hook_event_name: "PreToolUse", ...edit("s2", "3", "a.txt") })).toEqual({});
  });
});
