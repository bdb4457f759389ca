/** A project that was deleted as a whole: what is said of it, from inside and from elsewhere. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => void (sandbox = new Sandbox()));
afterEach(() => sandbox[Symbol.dispose]());

describe("[R211] a protected directory that is gone", () => {
  const back = () => `belay -C ${sandbox.project} restore @`;
  beforeEach(() => {
    sandbox.ok("init", "--no-agents");
    rmSync(sandbox.project, { recursive: true });
  });

  test("status from its parent says how it comes back, before attach", () => {
    const { stderr, status } = sandbox.belay(["status"], { cwd: sandbox.base });
    expect(status).toBe(4);
    expect(stderr).toContain(back());
    expect(stderr.indexOf(back())).toBeLessThan(stderr.indexOf("belay attach"));
  });

  test("the one below the current directory is named first", () => {
    const first = join(sandbox.base, "another");
    mkdirSync(first);
    expect(sandbox.belay(["init", "--no-agents"], { cwd: first }).status).toBe(0);
    rmSync(first, { recursive: true });
    mkdirSync(sandbox.project);
    mkdirSync(sandbox.path("in"));
    const inside = sandbox.path("in");
    sandbox.belay(["init", "--no-agents", "--nested"], { cwd: inside });
    sandbox.ok("uninstall");
    rmSync(inside, { recursive: true });
    const { error } = sandbox.json(["list"], 4);
    expect(error.candidates.map(({ path }: { path: string }) => path)).toEqual([inside, first]);
  });

  test("doctor from its parent says so too", () => {
    const { stdout } = sandbox.belay(["doctor"], { cwd: sandbox.base });
    expect(stdout).toContain(back());
  });

  test("hints from outside name it; from inside they need not", () => {
    const outside = sandbox.belay(["-C", sandbox.project, "status"], { cwd: sandbox.base });
    expect(outside.stdout).toContain(`\`${back()}\``);
    const refused = sandbox.json(["-C", sandbox.project, "checkpoint"], 3, { cwd: sandbox.base }).error;
    expect(refused.hint).toContain(`\`${back()}\``);
    mkdirSync(sandbox.project);
    const ran = spawnSync("bash", ["-c", `rm -rf "$PWD"; "$0" "$1" status`, process.execPath, LAUNCHER], {
      cwd: sandbox.project,
      env: sandbox.environment,
      encoding: "utf8",
    });
    expect(ran.stdout).toContain("`belay restore @`");
  });

  test("in a shell that stands in it, the installed command brings it back", () => {
    mkdirSync(sandbox.project);
    const script = `rm -rf "$PWD"; "$0" status; "$0" log; "$0" restore @ --yes; ls; cd "$PWD"; ls; "$0" restore @`;
    const ran = spawnSync("bash", ["-c", script, join(dirname(LAUNCHER), "belay")], {
      cwd: sandbox.project,
      env: sandbox.environment,
      encoding: "utf8",
    });
    expect(ran.stdout).toMatch(/`belay restore @` brings it back[^]*Initial checkpoint[^]*2 created/);
    // the first `ls` lists the deleted directory
    expect(ran.stdout.match(/^a\.txt$/gm)).toHaveLength(1);
    expect(ran.stderr.match(/Your shell still stands in .*`cd "\$PWD"`/g)).toHaveLength(1);
    expect(ran.stdout.trimEnd()).toMatch(/Nothing to do: the files are already in that state\.$/);
    expect(sandbox.read("src/b.txt")).toBe("two\n");
  });

  test("where nothing tells which directory was deleted, that is said", () => {
    mkdirSync(sandbox.project);
    const ran = spawnSync(
      "bash",
      ["-c", 'rm -rf "$PWD"; unset PWD; "$0" "$1" status', process.execPath, LAUNCHER],
      {
        cwd: sandbox.project,
        env: sandbox.environment,
        encoding: "utf8",
      },
    );
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("The current directory was deleted, and nothing here tells its name.");
    expect(ran.stderr).toContain("`belay workspaces`");
  });

  test("no agent's missing hooks are blamed for it", () => {
    mkdirSync(join(sandbox.base, ".codex"));
    for (const command of ["status", "doctor"]) {
      const { stdout } = sandbox.belay(["-C", sandbox.project, command], { cwd: sandbox.base });
      expect(stdout).not.toContain("no agent has Belay's hooks");
      expect(stdout).toContain(back());
    }
  });
});

describe("[R212] `.git` is not captured", () => {
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: sandbox.project });
  const WARNING = "`.git` is gone and does not come back";

  beforeEach(() => {
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    sandbox.ok("init", "--no-agents");
  });

  test("status, preview and restore say so when the project is gone", () => {
    rmSync(sandbox.project, { recursive: true });
    const at = (...args: string[]) => sandbox.belay(["-C", sandbox.project, ...args], { cwd: sandbox.base });
    const { error } = JSON.parse(at("--json", "checkpoint").stdout);
    expect(error.hint).not.toContain("everything");
    expect(at("status").stderr).toContain(WARNING);
    expect(JSON.parse(at("--json", "restore", "@", "--dry-run").stdout).plan.warnings).toEqual([
      expect.stringContaining(WARNING),
    ]);
    const restored = at("restore", "@", "--yes");
    expect(restored.status).toBe(0);
    expect(restored.stdout + restored.stderr).toContain(WARNING);
  });

  test("undo says so, but not while the repository still exists", () => {
    sandbox.ok("run", "--", "sh", "-c", "echo changed > a.txt");
    expect(sandbox.json(["undo", "--dry-run"]).plan.warnings).toEqual([]);
    expect(sandbox.json(["status"]).warnings).toEqual([]);
    sandbox.remove(".git");
    expect(sandbox.json(["undo", "--dry-run"]).plan.warnings).toContainEqual(
      expect.stringContaining(WARNING),
    );
  });
});

test("[R211] no process is said to watch a directory that is gone", async () => {
  sandbox.ok("init", "--no-agents");
  sandbox.ok("start");
  const told = () => sandbox.belay(["-C", sandbox.project, "status"], { cwd: sandbox.base }).stdout;
  try {
    await expect.poll(told, { timeout: 30_000 }).toMatch(/resident +process \d+, watching these files$/m);
    rmSync(sandbox.project, { recursive: true });
    expect(told()).toMatch(/resident +process \d+$/m);
  } finally {
    sandbox.belay(["stop"], { cwd: sandbox.base });
  }
});
