/** Odd users and umasks: containers run as a user without a name, and shells with any umask. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

/** Every directory at or below a path that another user may enter or that its owner may not use. */
function openDirectories(path: string): string[] {
  const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const isPrivate = (statSync(path).mode & 0o777) === 0o700;
  return [...(isPrivate ? [] : [path]), ...below.flatMap(({ name }) => openDirectories(join(path, name)))];
}

describe("[R146] with umask", () => {
  test.each(["000", "022", "777"])("%s every directory of ours is the user's alone", (umask) => {
    using sandbox = new Sandbox();
    const cache = join(sandbox.base, "cache");
    const event = JSON.stringify({
      hook_event_name: "UserPromptSubmit",
      session_id: "s",
      prompt: "x",
      cwd: sandbox.project,
    });
    const script = `umask ${umask}
      "$0" "$1" init --agent claude-code --yes >/dev/null || exit 1
      "$0" "$1" start >/dev/null || exit 1
      printf %s '${event}' | "$BELAY_HOME/bin/belay-hook" claude-code >/dev/null
      printf garbage | "$BELAY_HOME/bin/belay-hook" claude-code >/dev/null
      "$0" "$1" stop >/dev/null`;
    const ran = spawnSync("/bin/sh", ["-c", script, process.execPath, LAUNCHER], {
      cwd: sandbox.project,
      env: { ...sandbox.environment, XDG_CACHE_HOME: cache },
      encoding: "utf8",
    });
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    for (const name of ["bin", "agents", "run", "workspaces"])
      expect(existsSync(join(sandbox.home, name))).toBe(true);
    expect(openDirectories(sandbox.home)).toEqual([]);
    // what Node makes below it is reached through it only
    expect(statSync(join(cache, "belay")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(cache, "belay", "compiled")).length).toBeGreaterThan(0);
  });
});

test("[R146] compiled code is not kept where others could plant theirs", () => {
  using sandbox = new Sandbox();
  const cache = join(sandbox.base, "cache");
  mkdirSync(join(cache, "belay"), { recursive: true });
  chmodSync(join(cache, "belay"), 0o777);
  sandbox.belay(["--version"], { env: { XDG_CACHE_HOME: cache } });
  expect(existsSync(join(cache, "belay", "compiled"))).toBe(false);
});

const NAMELESS = 54_321;

describe.skipIf(process.getuid?.() !== 0)("[R147] a user without a name", () => {
  test.each([
    ["with a home directory", true],
    ["without one", false],
  ])("%s has a resident process", (_, hasHome) => {
    const base = mkdtempSync(join(tmpdir(), "belay-nameless-"));
    try {
      for (const name of ["project", "home", "user"]) mkdirSync(join(base, name));
      writeFileSync(join(base, "project", "a.txt"), "one\n");
      // the repository may lie where this user may not go
      const program = join(base, "program");
      cpSync(join(LAUNCHER, "../.."), program, {
        recursive: true,
        filter: (path) => !path.includes("node_modules"),
      });
      cpSync(process.execPath, join(base, "node"));
      spawnSync("chown", ["-R", `${NAMELESS}:${NAMELESS}`, base]);
      chmodSync(base, 0o755);
      const belay = (...args: string[]) =>
        spawnSync(join(base, "node"), [join(program, "bin", "belay.js"), ...args, "--json"], {
          cwd: join(base, "project"),
          uid: NAMELESS,
          gid: NAMELESS,
          env: {
            PATH: "/usr/bin:/bin",
            BELAY_HOME: join(base, "home"),
            BELAY_RESIDENT: "off",
            ...(hasHome && { HOME: join(base, "user") }),
          },
          encoding: "utf8",
        });
      expect(belay("init", "--no-agents")).toMatchObject({ status: 0, stderr: "" });
      const started = belay("start");
      expect(started).toMatchObject({ status: 0, stderr: "" });
      const { pid } = JSON.parse(started.stdout) as { pid: number };
      try {
        expect(JSON.parse(belay("status").stdout).resident).toMatchObject({ running: true, pid });
        expect(belay("doctor").status).toBe(0);
        expect(JSON.parse(belay("checkpoint").stdout)).toMatchObject({ unchanged: true });
      } finally {
        expect(belay("stop").status).toBe(0);
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});
