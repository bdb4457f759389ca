/** init, status, workspaces, attach, uninstall: which directory is protected, and by which store. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, ISO_TIME, LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(() => void (sandbox = new Sandbox()));
afterEach(() => sandbox[Symbol.dispose]());

describe("init", () => {
  test("protects the directory and takes the initial checkpoint", async () => {
    expect(sandbox.ok("init", "--no-agents")).toMatch(/is protected \(2 files/);
    expect(sandbox.json(["list"]).checkpoints).toMatchObject([{ seq: 1, kind: "initial", files: 2 }]);
    await sandbox.verify();
  });

  test("--json tells workspace, store and checkpoint; a second time nothing is created", async () => {
    const first = sandbox.json(["init"]);
    expect(first).toMatchObject({
      workspace: expect.any(String),
      path: sandbox.project,
      store: expect.stringContaining(sandbox.home),
      created: true,
      checkpoint: { kind: "initial", seq: 1, workspace: first.workspace, gaps: [], gapsTotal: 0 },
      durationMs: expect.any(Number),
    });
    expect(sandbox.json(["init"])).toMatchObject({ created: false, workspace: first.workspace });
    expect(sandbox.ok("init")).toMatch(/already protected/);
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
    await sandbox.verify();
  });

  test("writes nothing into the project", () => {
    sandbox.ok("init");
    expect(existsSync(sandbox.path(".belay"))).toBe(false);
    expect(sandbox.belay(["diff", "--name-only"]).stdout).toBe("");
  });

  test("inside a protected directory needs --nested", () => {
    sandbox.ok("init");
    const inner = sandbox.path("src");
    const refused = sandbox.belay(["init", "--json"], { cwd: inner });
    expect(refused.status).toBe(3);
    const hint = expect.stringContaining("--nested");
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code: "WORKSPACE_REFUSED", hint });
    expect(sandbox.belay(["init", "--nested"], { cwd: inner }).status).toBe(0);
    expect(sandbox.json(["workspaces"]).workspaces).toHaveLength(2);
    expect(sandbox.json(["status"], 0, { cwd: inner }).path).toBe(inner);
  });

  test("refuses / and the home directory", () => {
    for (const cwd of ["/", sandbox.base]) {
      const refused = sandbox.belay(["init", "--json"], { cwd });
      expect(refused.status).toBe(3);
      expect(JSON.parse(refused.stdout).error).toMatchObject({ code: "WORKSPACE_REFUSED" });
    }
  });

  test("--home decides where everything goes, before $BELAY_HOME", () => {
    const elsewhere = join(sandbox.base, "elsewhere");
    sandbox.ok("--home", elsewhere, "init");
    expect(existsSync(sandbox.home)).toBe(false);
    expect(sandbox.ok("list", "--home", elsewhere)).toMatch(/initial/);
    expect(sandbox.belay(["list"]).status).toBe(4);
  });
});

describe("init --dry-run", () => {
  test("names the directory and the settings that would change, and changes nothing", () => {
    const settings = sandbox.path(".claude/settings.local.json");
    expect(sandbox.json(["init", "--dry-run", "--agent", "claude-code"])).toEqual({
      dryRun: true,
      path: sandbox.project,
      created: true,
      files: [{ agent: "claude-code", path: settings, action: "create" }],
    });
    expect(sandbox.ok("init", "--dry-run", "--agent", "claude-code")).toContain(`Claude Code: ${settings}`);
    expect(existsSync(settings)).toBe(false);
    expect(existsSync(sandbox.home)).toBe(false);
  });

  test("in a protected directory there is nothing left to protect", async () => {
    await sandbox.protect();
    expect(sandbox.json(["init", "--dry-run", "--no-agents"])).toMatchObject({ created: false, files: [] });
    await sandbox.verify();
  });

  test("refuses what init refuses", async () => {
    await sandbox.protect();
    const refused = (directory: string) =>
      sandbox.error(["-C", directory, "init", "--dry-run", "--no-agents"], 3).code;
    expect(refused("/")).toBe(sandbox.error(["-C", "/", "init", "--no-agents"], 3).code);
    expect(refused(sandbox.path("src"))).toBe(
      sandbox.error(["-C", sandbox.path("src"), "init", "--no-agents"], 3).code,
    );
    await sandbox.verify();
  });
});

test("init without a terminal names the settings that it would change", () => {
  const { stderr, status } = sandbox.belay(["init", "--agent", "claude-code"]);
  expect(status).not.toBe(0);
  expect(stderr).toContain(`Claude Code: ${sandbox.path(".claude/settings.local.json")}`);
  expect(stderr).toContain("--dry-run");
  expect(existsSync(sandbox.path(".claude"))).toBe(false);
});

test.each([
  ["list"],
  ["status"],
  ["workspaces"],
  ["doctor"],
  ["config"],
  ["threads"],
  ["undo", "--dry-run"],
  ["init", "--dry-run"],
])("a command that only looks makes no home: %s %s", (...command) => {
  sandbox.belay(["--home", join(sandbox.base, "other/home"), ...command]);
  expect(existsSync(join(sandbox.base, "other"))).toBe(false);
});

describe("status", () => {
  test("--json has the contract's shape", () => {
    sandbox.ok("init");
    sandbox.write("a.txt", "changed\n");
    sandbox.write("node_modules/x/index.js", "x");
    const status = sandbox.json(["status"]);
    expect(status).toMatchObject({
      workspace: expect.any(String),
      thread: null,
      session: null,
      hasUnapproved: null,
      changedFiles: [{ path: "a.txt", type: "modified" }],
      changedFilesTotal: 1,
      gaps: [],
      gapsTotal: 0,
      excluded: [{ path: "node_modules", rule: expect.any(String) }],
      resident: { running: false, pid: null, watching: false },
      disk: { bytes: expect.any(Number), capBytes: 10 * 1024 ** 3 },
      newest: { seq: 1 },
      canUndo: null,
      canRedo: null,
    });
  });

  test("says what changed, what stays out and what to do next", () => {
    sandbox.ok("init");
    expect(sandbox.ok("status")).toMatch(/no changes/);
    sandbox.write("new.txt", "x\n");
    const text = sandbox.ok("status");
    expect(text).toContain(sandbox.project);
    expect(text).toMatch(/A {2}new\.txt/);
    expect(text).toMatch(/→ `belay diff`/);
  });

  test("works from below the root and with -C", () => {
    sandbox.ok("init");
    expect(sandbox.json(["status"], 0, { cwd: sandbox.path("src") }).path).toBe(sandbox.project);
    expect(sandbox.json(["-C", sandbox.path("src"), "status"], 0, { cwd: "/" }).path).toBe(sandbox.project);
  });
});

test("workspaces lists every protected directory, also those that are gone", () => {
  expect(sandbox.ok("workspaces")).toMatch(/Nothing is protected yet/);
  expect(sandbox.json(["workspaces"])).toEqual({ workspaces: [] });
  const { workspace } = sandbox.json(["init"]);
  expect(sandbox.json(["workspaces"]).workspaces).toMatchObject([
    {
      id: workspace,
      path: sandbox.project,
      exists: true,
      checkpoints: 1,
      createdAt: expect.stringMatching(ISO_TIME),
    },
  ]);
  rmSync(sandbox.project, { recursive: true });
  expect(sandbox.belay(["workspaces"], { cwd: sandbox.base }).stdout).toMatch(/gone/);
});

describe("a project that went elsewhere", () => {
  test("is found again after a move", () => {
    const { workspace } = sandbox.json(["init"]);
    const moved = join(sandbox.base, "moved");
    renameSync(sandbox.project, moved);
    const status = sandbox.belay(["status", "--json"], { cwd: moved });
    expect(status.status).toBe(0);
    expect(JSON.parse(status.stdout)).toMatchObject({ workspace, path: moved });
    expect(status.stderr).toMatch(/moved/);
  });

  test("attach gives a copy the store of what is gone", () => {
    const { workspace } = sandbox.json(["init"]);
    const copy = join(sandbox.base, "copy");
    cpSync(sandbox.project, copy, { recursive: true });
    rmSync(sandbox.project, { recursive: true });
    const lost = sandbox.belay(["status", "--json"], { cwd: copy });
    expect(lost.status).toBe(4);
    expect(JSON.parse(lost.stdout).error).toMatchObject({
      code: "WORKSPACE_NOT_FOUND",
      candidates: [{ id: workspace, path: sandbox.project }],
    });
    const attached = sandbox.json(["attach", workspace.slice(0, 6)], 0, { cwd: copy });
    expect(attached).toMatchObject({ workspace, path: copy, checkpoints: 1 });
    // the name of the store's directory, as `status` shows it, is the workspace too
    const { store } = sandbox.json(["status"], 0, { cwd: copy });
    expect(sandbox.json(["attach", basename(store)], 0, { cwd: copy })).toMatchObject({ workspace });
    expect(sandbox.json(["list"], 0, { cwd: copy }).checkpoints).toHaveLength(1);
  });

  test("attach with an unknown id is refused", () => {
    expect(sandbox.error(["attach", "kkkkkkkk"], 4)).toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
    const { workspace } = sandbox.json(["init"]);
    // nothing of a project that stands where it always did has to be brought back
    expect(sandbox.error(["attach", "kkkkkkkk"], 4).hint).toBe(
      `\`belay attach ${workspace}\` takes the store of ${sandbox.project}.`,
    );
  });
});

describe("uninstall", () => {
  test("keeps files and checkpoints", () => {
    const { workspace, store } = sandbox.json(["init"]);
    expect(sandbox.json(["uninstall"])).toEqual({
      workspace,
      path: sandbox.project,
      store,
      purged: false,
      forks: [],
      hooks: [],
    });
    expect(existsSync(store)).toBe(true);
    expect(sandbox.read("a.txt")).toBe("one\n");
    expect(sandbox.json(["init"])).toMatchObject({ workspace, store, created: true });
    const { checkpoints } = sandbox.json(["list"]);
    expect(checkpoints).toMatchObject([{ seq: 2 }, { id: expect.stringMatching(ID), seq: 1 }]);
  });

  test("--purge asks first, then deletes the store and nothing else", () => {
    const { store } = sandbox.json(["init"]);
    expect(sandbox.error(["uninstall", "--purge"], 3)).toMatchObject({
      code: "CONFIRMATION_REQUIRED",
      hint: expect.stringContaining("--yes"),
    });
    expect(existsSync(store)).toBe(true);
    expect(sandbox.ok("uninstall", "--purge", "--yes")).toMatch(/checkpoints are deleted/);
    expect(existsSync(store)).toBe(false);
    expect(sandbox.read("a.txt")).toBe("one\n");
    expect(sandbox.json(["workspaces"]).workspaces).toEqual([]);
  });
});

describe("[R151] uninstall of a directory with forks", () => {
  test("in a fork it is refused, and nothing ends", () => {
    sandbox.ok("init");
    sandbox.ok("fork", "idea");
    const fork = sandbox.ok("fork", "path", "idea").trim();
    for (const words of [["uninstall"], ["uninstall", "--purge", "--yes"]])
      expect(sandbox.error(["-C", fork, ...words], 3)).toMatchObject({
        code: "WORKSPACE_REFUSED",
        message: expect.stringContaining(`a fork of ${sandbox.project}`),
        hint: expect.stringContaining("`belay fork remove <name>`"),
      });
    expect(sandbox.json(["status"])).toMatchObject({ forks: 1 });
  });

  test("in the project it names the forks that stay", () => {
    sandbox.ok("init");
    sandbox.ok("fork", "idea");
    const fork = sandbox.ok("fork", "path", "idea").trim();
    expect(sandbox.ok("uninstall")).toContain(`Its fork ${fork} stays, and is not protected either.`);
    expect(existsSync(fork)).toBe(true);
  });
});

describe("a project that was deleted", () => {
  test("comes back by its name", () => {
    sandbox.ok("init");
    rmSync(sandbox.project, { recursive: true });
    expect(
      sandbox.belay(["-C", sandbox.project, "restore", "1", "--yes"], { cwd: sandbox.base }).status,
    ).toBe(0);
    expect(sandbox.read("src/b.txt")).toBe("two\n");
  });

  test("comes back from the very shell that stood in it", () => {
    sandbox.ok("init");
    const script = `rm -rf "$PWD"; "$0" "$1" restore 1 --yes`;
    const ran = spawnSync("bash", ["-c", script, process.execPath, LAUNCHER], {
      cwd: sandbox.project,
      env: sandbox.environment,
      encoding: "utf8",
    });
    expect(ran).toMatchObject({ status: 0, stderr: expect.stringContaining("no longer exists") });
    expect(sandbox.read("src/b.txt")).toBe("two\n");
  });

  test("a directory with a wrong name is only not protected", () => {
    expect(sandbox.error(["-C", "no-such-directory", "list"], 4)).toMatchObject({
      code: "WORKSPACE_NOT_FOUND",
    });
  });
});
