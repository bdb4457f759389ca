/** What a command says happened is what happened: to a path that cannot be restored, to a pause, to a redo. */
import { describe, expect, test } from "vitest";
import { openWorkspace } from "@belay/engine";
import { Sandbox } from "./sandbox.ts";

const ENV = { BELAY_RESIDENT: "off", BELAY_WAIT_MS: "30000", PATH: "/usr/bin:/bin" };

function hook(sandbox: Sandbox, event: Record<string, unknown>): any {
  const input = JSON.stringify({ session_id: "s1", cwd: sandbox.project, ...event });
  const done = sandbox.belay(["hook", "claude-code"], { input, env: ENV });
  expect(done.status).toBe(0);
  return JSON.parse(done.stdout);
}

const prompt = (sandbox: Sandbox, id: string, session = "s1") =>
  hook(sandbox, {
    hook_event_name: "UserPromptSubmit",
    prompt: `turn ${id}`,
    prompt_id: id,
    session_id: session,
  });

/** A turn of Claude Code with one shell command. */
function turn(sandbox: Sandbox, id: string, work: () => void): void {
  prompt(sandbox, id);
  const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: `t-${id}` };
  hook(sandbox, { hook_event_name: "PreToolUse", ...call });
  work();
  hook(sandbox, { hook_event_name: "PostToolUse", ...call });
  hook(sandbox, { hook_event_name: "Stop" });
}

describe("[R198] a restore of chosen paths that can restore nothing", () => {
  test.each([
    ["on disk", false],
    ["gone from the disk", true],
  ])("names what was forgotten, and is refused; the file is %s", async (_, isGone) => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n", "secret.key": "password\n" });
    sandbox.ok("forget", "secret.key", "--yes");
    if (isGone) sandbox.remove("secret.key");
    for (const how of [["--yes"], [], ["--dry-run"]]) {
      const { status, stdout } = sandbox.belay(["restore", "1", "secret.key", ...how]);
      expect(stdout).toContain("secret.key was forgotten and cannot be restored");
      expect(stdout).not.toMatch(/could not capture|already|Nothing to do/);
      expect(status).toBe(3);
    }
    expect(sandbox.json(["restore", "1", "secret.key", "--yes"], 3)).toMatchObject({
      outcome: "unchanged",
      leftOut: [{ path: "secret.key", reason: "forgotten" }],
    });
    expect(sandbox.ok("restore", "1", "a.txt", "--yes")).toMatch(/Nothing to do: the files already are/);
    expect(sandbox.ok("restore", "1", "--yes")).toMatch(/Nothing to do: everything else already is/);
    await sandbox.verify();
  });

  test("MCP says why, too", async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n", "secret.key": "password\n" });
    sandbox.ok("forget", "secret.key", "--yes");
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { createMcpHost } = await import("../src/agents/mcp-workspace.ts");
    const host = createMcpHost((work) => work(workspace));
    const { warnings } = await host.preview("1", ["secret.key"]);
    expect(warnings).toContain("secret.key was forgotten and cannot be restored");
  });
});

test("[R150] protected since the first checkpoint, however many conversations began later", async () => {
  using sandbox = new Sandbox();
  const { createSystem } = await import("@belay/engine");
  const system = { ...createSystem(), now: () => Date.UTC(2020, 4, 5, 12) };
  await (await openWorkspace(sandbox.project, { home: sandbox.home, system })).close();
  prompt(sandbox, "p1", "s1");
  prompt(sandbox, "p2", "s2");
  expect(
    sandbox.json(["list", "--all"]).checkpoints.filter((c: any) => c.kind === "initial").length,
  ).toBeGreaterThan(1);
  expect(sandbox.ok("status")).toMatch(/protected +since 2020-05-05/);
});

test("[R199] revert of a path that the step did not change is not found, and records nothing", async () => {
  using sandbox = await Sandbox.protected();
  turn(sandbox, "p1", () => sandbox.write("a.txt", "two\n"));
  const before = sandbox.json(["list", "--all"]).checkpoints;
  for (const how of ["--yes", "--dry-run"])
    expect(sandbox.error(["revert", "@", "nosuch", how], 4)).toMatchObject({
      code: "PATH_NOT_IN_CHECKPOINT",
      message: expect.stringContaining("nosuch"),
    });
  expect(sandbox.json(["list", "--all"]).checkpoints).toEqual(before);
  sandbox.ok("revert", "@", "a.txt", "--yes");
  expect(sandbox.read("a.txt")).toBe("one\n");
});

test("[R199] git's own files are said to be out of reach, not to be missing", async () => {
  using sandbox = await Sandbox.protected({ "a.txt": "one\n", ".git/config": "[core]\n" });
  sandbox.write("a.txt", "two\n");
  await sandbox.checkpoint();
  for (const command of ["restore", "revert"])
    expect(sandbox.error([command, "2", ".git/config", "--yes"], 4).message).toContain(
      ".git is never captured or changed by Belay",
    );
});
