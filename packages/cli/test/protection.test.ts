/** Where protection begins and ends: init without hooks, uninstall, attach; with and without the resident process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => void (sandbox = new Sandbox()));
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

const ALONE = { BELAY_RESIDENT: "off" };

/** A prompt of Codex, whose hooks are the user's: they run in every directory. */
function prompt(session: string, text: string, cwd = sandbox.project): void {
  const input = JSON.stringify({
    hook_event_name: "UserPromptSubmit",
    session_id: session,
    prompt: text,
    cwd,
  });
  const env = { ...ALONE, BELAY_WAIT_MS: "30000" };
  expect(sandbox.belay(["hook", "codex"], { cwd, input, env }).status).toBe(0);
}

function other(name = "other"): string {
  const directory = join(sandbox.base, name);
  mkdirSync(directory);
  writeFileSync(join(directory, "c.txt"), "three\n");
  return directory;
}

/** Types an answer whenever the terminal has come to a question. */
async function answering(
  args: string[],
  answers: Record<string, string>,
): Promise<{ status: unknown; screen: string }> {
  const words = [process.execPath, LAUNCHER, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", words, "/dev/null"], {
    cwd: sandbox.project,
    env: { ...sandbox.environment, TERM: "dumb" },
  });
  let screen = "";
  const left = new Map(Object.entries(answers));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    for (const [question, answer] of left) {
      if (!screen.includes(question)) continue;
      left.delete(question);
      child.stdin.write(answer);
    }
  });
  const [status] = (await once(child, "close")) as [number | null];
  return { status, screen };
}

describe("[R152] init answered with no to the hooks", () => {
  beforeEach(() => mkdirSync(join(sandbox.base, ".codex")));

  test("asks whether to protect without them, and Enter confirms", async () => {
    const done = await answering(["init"], { "Add hooks to": "n\n", "[Y/n]": "\n" });
    expect(done.screen).toContain("Protect it without hooks?");
    expect(done.status).toBe(0);
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
    expect(existsSync(join(sandbox.base, ".codex", "hooks.json"))).toBe(false);
    await sandbox.verify();
  });

  test("a second no leaves everything as it was", async () => {
    const done = await answering(["init"], { "Add hooks to": "n\n", "[Y/n]": "n\n" });
    expect(done).toMatchObject({ status: 3, screen: expect.stringContaining("Nothing was changed") });
    expect(sandbox.belay(["list"]).status).toBe(4);
  });

  test("where the directory is protected there is nothing left to ask", async () => {
    sandbox.ok("init", "--no-agents");
    const done = await answering(["init"], { "Add hooks to": "n\n" });
    expect(done.screen).not.toContain("without hooks");
    expect(done.status).toBe(3);
  });
});

describe.each(["alone", "with the resident process"])("[R151] uninstall, %s", (how) => {
  const start = () => how === "alone" || sandbox.ok("start");

  test("the directory is no longer protected: commands say so, hooks make no checkpoints", async () => {
    start();
    const { store } = sandbox.json(["init", "--agent", "codex", "--yes"]);
    prompt("s1", "first");
    const before = sandbox.json(["list"]).checkpoints.length;
    expect(before).toBeGreaterThan(1);
    expect(sandbox.ok("uninstall")).toMatch(/is no longer protected/);
    const { error } = sandbox.json(["status"], 4);
    expect(error).toMatchObject({ code: "WORKSPACE_NOT_FOUND", ended: { store } });
    expect(error.message).toContain("`belay uninstall` ended that");
    prompt("s1", "second");
    sandbox.write("a.txt", "two\n");
    expect(sandbox.ok("init", "--no-agents")).toMatch(/is protected/);
    const { checkpoints } = sandbox.json(["list"]);
    expect(checkpoints).toHaveLength(before + 1);
    expect(checkpoints[0]).toMatchObject({ kind: "initial", description: "Protected again" });
    expect(sandbox.json(["status"]).store).toBe(store);
    await sandbox.verify();
  });

  test("attach: the resident process does not go on with the old directory", async () => {
    start();
    const { workspace } = sandbox.json(["init", "--agent", "codex", "--yes"]);
    prompt("s1", "first");
    const copy = join(sandbox.base, "copy");
    cpSync(sandbox.project, copy, { recursive: true });
    expect(sandbox.json(["attach", workspace, "--yes"], 0, { cwd: copy })).toMatchObject({ workspace });
    const { checkpoints } = sandbox.json(["list"], 0, { cwd: copy });
    prompt("s1", "second");
    expect(sandbox.json(["list"], 0, { cwd: copy }).checkpoints).toEqual(checkpoints);
    writeFileSync(join(copy, "only-here.txt"), "x\n");
    prompt("s1", "third", copy);
    const { files } = sandbox.json(["diff", "1", "@"], 0, { cwd: copy });
    expect(files).toMatchObject([{ path: "only-here.txt", type: "added" }]);
  });
});

describe("[R151] uninstall says exactly what it did", () => {
  const hooks = () => join(sandbox.base, ".codex", "hooks.json");

  test("hooks that another project needs stay, and it is named; with the last one they go", () => {
    const elsewhere = other();
    sandbox.ok("init", "--agent", "codex", "--yes");
    expect(sandbox.belay(["init", "--agent", "codex", "--yes"], { cwd: elsewhere }).status).toBe(0);
    const text = sandbox.ok("uninstall");
    expect(text).toContain(`${hooks()} keeps Belay's hooks, which ${elsewhere} needs`);
    expect(text).not.toMatch(/taken out|deleted: nothing/);
    expect(readFileSync(hooks(), "utf8")).toContain("belay-hook");
    const last = sandbox.belay(["uninstall"], { cwd: elsewhere });
    expect(last.stdout).toContain(`${hooks()} was deleted: nothing but Belay's hooks was in it`);
    expect(existsSync(hooks())).toBe(false);
  });

  test("[R2363] --agent takes out the hooks of one agent alone; the directory stays protected", () => {
    sandbox.ok("init", "--agent", "codex,claude-code", "--yes");
    const claude = join(sandbox.project, ".claude", "settings.local.json");
    expect(sandbox.error(["uninstall", "--agent", "codex", "--purge", "--yes"], 2).hint).toContain(
      "Choose one",
    );
    expect(existsSync(hooks())).toBe(true);
    const text = sandbox.ok("uninstall", "--agent", "codex");
    expect(text).toContain(`${hooks()} was deleted: nothing but Belay's hooks was in it`);
    expect(text).toContain("stays protected");
    expect(existsSync(hooks())).toBe(false);
    expect(readFileSync(claude, "utf8")).toContain("belay-hook");
    sandbox.ok("checkpoint", "-m", "still protected");
    expect(sandbox.json(["uninstall", "--agent", "codex"])).toMatchObject({ agents: ["codex"], hooks: [] });
    // from below, as other commands
    const below = join(sandbox.project, "below");
    mkdirSync(below);
    expect(sandbox.belay(["uninstall", "--agent", "claude-code"], { cwd: below }).status).toBe(0);
    expect(existsSync(claude)).toBe(false);
    sandbox.ok("uninstall");
    expect(sandbox.error(["uninstall", "--agent", "codex"], 4)).toMatchObject({
      code: "WORKSPACE_NOT_FOUND",
    });
  });

  test("a project that is gone or not protected does not keep them", () => {
    const elsewhere = other();
    expect(sandbox.belay(["init", "--agent", "codex", "--yes"], { cwd: elsewhere }).status).toBe(0);
    sandbox.ok("init", "--agent", "codex", "--yes");
    expect(
      sandbox.belay(["uninstall", "--purge", "--yes", "--home", join(sandbox.base, "none")]).status,
    ).toBe(4);
    expect(sandbox.belay(["uninstall"], { cwd: elsewhere }).stdout).toContain(sandbox.project);
    expect(sandbox.ok("uninstall")).toContain("was deleted");
  });

  test("settings that were there before come back, and --purge works afterwards too", () => {
    mkdirSync(join(sandbox.base, ".codex"));
    writeFileSync(hooks(), '{ "mine": true }\n');
    const { store } = sandbox.json(["init", "--agent", "codex", "--yes"]);
    expect(sandbox.ok("uninstall")).toContain(`${hooks()} is as it was before Belay.`);
    expect(readFileSync(hooks(), "utf8")).toBe('{ "mine": true }\n');
    expect(sandbox.ok("workspaces")).toContain("no longer protected");
    expect(sandbox.ok("uninstall", "--purge", "--yes")).toMatch(/checkpoints are deleted/);
    expect(existsSync(store)).toBe(false);
    expect(sandbox.json(["workspaces"])).toEqual({ workspaces: [] });
  });

  test("an agent does not protect a worktree again that the user took out", () => {
    const git = (...args: string[]) => {
      const env = { ...sandbox.environment, GIT_CONFIG_GLOBAL: "/dev/null" };
      return spawn("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
        cwd: sandbox.project,
        env,
      });
    };
    return (async () => {
      await once(git("init", "-q"), "close");
      await once(git("add", "-A"), "close");
      await once(git("commit", "-qm", "first"), "close");
      sandbox.ok("init", "--no-agents");
      await once(git("worktree", "add", "-q", "../tree", "-b", "one"), "close");
      const tree = join(sandbox.base, "tree");
      prompt("s1", "work there", tree);
      expect(sandbox.belay(["list"], { cwd: tree }).status).toBe(0);
      expect(sandbox.belay(["uninstall"], { cwd: tree }).status).toBe(0);
      prompt("s1", "again", tree);
      expect(sandbox.belay(["list"], { cwd: tree }).status).toBe(4);
    })();
  });
});

describe("[R152] attach of a store whose directory still exists", () => {
  test("asks: exit 3 without --yes, and nothing changes", () => {
    const { workspace } = sandbox.json(["init"]);
    const elsewhere = other();
    const refused = sandbox.json(["attach", workspace], 3, { cwd: elsewhere }).error;
    expect(refused).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(refused.message).toContain(`${sandbox.project} still exists`);
    expect(sandbox.json(["status"]).workspace).toBe(workspace);
  });

  test("with --yes the old directory's commands say where its store went, and it can come back", () => {
    const { workspace } = sandbox.json(["init"]);
    const elsewhere = other();
    expect(sandbox.json(["attach", workspace, "--yes"], 0, { cwd: elsewhere })).toMatchObject({ workspace });
    for (const command of ["status", "undo", "list"]) {
      const { error } = sandbox.json([command], 4);
      expect(error).toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
        movedTo: { id: workspace, path: elsewhere },
      });
      expect(error.hint).toContain(`belay attach ${workspace}`);
    }
    sandbox.ok("attach", workspace, "--yes");
    expect(sandbox.json(["status"]).workspace).toBe(workspace);
    expect(sandbox.json(["status"], 4, { cwd: elsewhere }).error.movedTo.path).toBe(sandbox.project);
  });

  test("a directory that is protected again forgets that its store went", () => {
    const { workspace } = sandbox.json(["init"]);
    const elsewhere = other();
    expect(sandbox.belay(["attach", workspace, "--yes"], { cwd: elsewhere }).status).toBe(0);
    expect(sandbox.json(["init"]).workspace).not.toBe(workspace);
    expect(sandbox.json(["status"]).path).toBe(sandbox.project);
  });
});
