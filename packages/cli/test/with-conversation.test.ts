/** `restore --with-conversation`: the agent's conversation first, then files and messages; or nothing at all. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

let sandbox: Sandbox;
beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const ENV = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000", PATH: "/usr/bin:/bin" };
const SESSION = "0b5c1a52-0000-4000-8000-000000000001";

/** Where Claude Code keeps what was said in a session that was started in a directory. */
function transcriptFor(cwd: string): string {
  return join(sandbox.base, ".claude", "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"), `${SESSION}.jsonl`);
}

function prompt(agent: string, cwd: string, id: string): void {
  const input = JSON.stringify({
    hook_event_name: agent === "gemini-cli" ? "BeforeAgent" : "UserPromptSubmit",
    session_id: SESSION,
    prompt: `words of ${id}`,
    prompt_id: id,
    cwd,
    transcript_path: transcriptFor(cwd),
  });
  expect(sandbox.belay(["hook", agent], { cwd, input, env: ENV }).status).toBe(0);
}

function writeTranscript(path: string): void {
  const entry = (uuid: string, parentUuid: string | null, promptId: string) =>
    `${JSON.stringify({ type: "user", uuid, parentUuid, promptId, sessionId: SESSION })}\n`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, entry("u1", null, "p1") + entry("u2", "u1", "p2"));
}

/** Two prompts, and a change after each. */
function talk(agent: string, cwd: string): void {
  prompt(agent, cwd, "p1");
  sandbox.write("a.txt", "after the first\n");
  prompt(agent, cwd, "p2");
  sandbox.write("a.txt", "after the second\n");
}

const rolledBack = () => {
  const [thread] = sandbox.json(["threads"]).threads;
  const { messages } = sandbox.json(["thread", thread.id]);
  return messages.map((message: { rolledBack: boolean }) => message.rolledBack);
};

describe("[R154] a session of Claude Code that was started in a subdirectory", () => {
  test.each([
    ["where the hooks said", (path: string) => path],
    ["elsewhere by now, under its id", (path: string) => path.replace(/[^/]*(?=\/[^/]*$)/, "-moved")],
  ])("is forked: its transcript is %s", (_, place) => {
    const cwd = sandbox.path("src");
    const path = place(transcriptFor(cwd));
    writeTranscript(path);
    talk("claude-code", cwd);
    const done = sandbox.belay(["restore", "p2", "--with-conversation", "--yes"], { env: ENV });
    expect(done.status).toBe(0);
    const resume = /claude --resume (\S+)/.exec(done.stderr)?.[1];
    expect(existsSync(join(dirname(path), `${resume}.jsonl`))).toBe(true);
    expect(sandbox.read("a.txt")).toBe("after the first\n");
    expect(rolledBack()).toEqual([false, true]);
  });

  test.each([[["--yes"]], [[]]])("without its transcript nothing is rolled back (%j)", (more) => {
    const cwd = sandbox.path("src");
    talk("claude-code", cwd);
    const before = sandbox.json(["list"]).checkpoints.length;
    for (const scope of ["--with-conversation", "--conversation-only"]) {
      const { error } = sandbox.json(["restore", "p2", scope, ...more], 3, { env: ENV });
      expect(error).toMatchObject({ code: "CONVERSATION_NOT_FORKED" });
      expect(error.message).toContain("transcript of this conversation does not exist. Nothing was changed.");
    }
    expect(sandbox.read("a.txt")).toBe("after the second\n");
    expect(rolledBack()).toEqual([false, false]);
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(before);
  });

  test("a refused restore leaves the conversation alone", () => {
    const cwd = sandbox.path("src");
    const path = transcriptFor(cwd);
    writeTranscript(path);
    talk("claude-code", cwd);
    sandbox.write("c.txt", "new\n");
    expect(sandbox.error(["restore", "p2", "--with-conversation"], 3).code).toBe("CONFIRMATION_REQUIRED");
    expect(readdirSync(dirname(path))).toHaveLength(1);
    rmSync(sandbox.path("c.txt"));
  });
});

test("[R154] an agent that cannot fork: that is said before files go back", () => {
  talk("gemini-cli", sandbox.project);
  const prompts = sandbox.json(["list", "--kind", "message"]).checkpoints;
  const done = sandbox.belay(["restore", prompts[0].id, "--with-conversation", "--yes"], { env: ENV });
  expect(done).toMatchObject({ status: 0, stderr: expect.stringContaining("Only files can be rewound") });
  expect(sandbox.read("a.txt")).toBe("after the first\n");
});

test("[R154] Codex that is not there: nothing is rolled back", () => {
  talk("codex", sandbox.project);
  const { error } = sandbox.json(["restore", "p2", "--with-conversation", "--yes"], 3, { env: ENV });
  expect(error.message).toContain("codex is not installed");
  expect(sandbox.read("a.txt")).toBe("after the second\n");
});

test.skipIf(!hasTmux)("[R154] the timeline shows the line that goes on from there", async () => {
  const path = transcriptFor(sandbox.project);
  writeTranscript(path);
  talk("claude-code", sandbox.project);
  const env = { ...sandbox.environment, ...ENV, LANG: "C.UTF-8", TERM: "xterm-256color" };
  using window = new TmuxWindow([process.execPath, LAUNCHER, "timeline"], { cwd: sandbox.project, env });
  const shows = async (text: string | RegExp) => {
    await expect.poll(() => window.screen({ joined: true }), { interval: 50 }).toMatch(text);
  };
  await shows(/› .* words of p2/);
  window.type("Enter");
  await shows("y restore 1 file");
  window.type("b");
  await shows(/\(b\) both[^]*y restore 1 file/);
  // a key that comes too soon after another answers nothing
  await new Promise((done) => setTimeout(done, 1000));
  window.type("y");
  await shows(/The conversation goes on with:\n +claude --resume [\w-]{36}\n/);
  expect(readdirSync(dirname(path))).toHaveLength(2);
});
