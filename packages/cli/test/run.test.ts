import { spawn } from "node:child_process";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(() => sandbox[Symbol.dispose]());

test("a turn around a command: before, after, one summary line, its output untouched", async () => {
  const ran = sandbox.belay([
    "run",
    "--",
    "sh",
    "-c",
    "echo out; echo err >&2; echo new > new.txt; rm a.txt",
  ]);
  expect(ran).toEqual({
    status: 0,
    stdout: "out\n",
    stderr: "err\nbelay: 2 files changed (+1 ~0 -1), undo with: belay undo\n",
  });
  const { checkpoints } = sandbox.json(["list", "--kind", "turn"]);
  expect(checkpoints.map((row: any) => row.phase)).toEqual(["after", "before"]);
  expect(checkpoints[0]).toMatchObject({
    thread: expect.any(String),
    description: expect.stringContaining("sh -c"),
  });
  await sandbox.verify();
});

test("options end at the command: its own are its own", () => {
  expect(sandbox.belay(["run", "echo", "--json", "--help", "--", "x"]).stdout).toBe("--json --help -- x\n");
  expect(sandbox.belay(["run", "--agent", "me", "echo", "--agent"]).stdout).toBe("--agent\n");
});

test("nothing changed is said; --quiet says nothing", () => {
  expect(sandbox.belay(["run", "true"]).stderr).toBe("belay: no files changed\n");
  expect(sandbox.belay(["run", "-q", "--", "sh", "-c", "echo x > x"]).stderr).toBe("");
});

test("--json: the result is the last line of stderr, stdout is the command's", () => {
  const ran = sandbox.belay([
    "run",
    "--json",
    "--",
    "sh",
    "-c",
    "echo out; echo err >&2; echo x > x; exit 5",
  ]);
  expect(ran).toMatchObject({ status: 5, stdout: "out\n" });
  const [first, result] = ran.stderr.trimEnd().split("\n");
  expect(first).toBe("err");
  expect(JSON.parse(result!)).toMatchObject({
    exitCode: 5,
    protected: true,
    changed: true,
    changes: { added: 1, modified: 0, deleted: 0, linesAdded: 1, linesDeleted: 0 },
    before: { kind: "turn", phase: "before" },
    after: { kind: "turn", phase: "after" },
  });
});

describe("the exit code is the command's", () => {
  test.each([
    [["sh", "-c", "exit 0"], 0],
    [["sh", "-c", "exit 42"], 42],
    [["sh", "-c", "kill -TERM $$"], 128 + 15],
    [["sh", "-c", "kill -KILL $$"], 128 + 9],
    [["no-such-command-anywhere"], 127],
    [["./not-executable"], 126],
  ])("%j → %i", (command, status) => {
    sandbox.write("not-executable", "x");
    expect(sandbox.belay(["run", "--", ...command]).status).toBe(status);
  });

  test("a command that cannot be started is named", () => {
    expect(sandbox.belay(["run", "no-such-command-anywhere"]).stderr).toMatch(
      /^belay: no-such-command-anywhere could not be started \(ENOENT\)/,
    );
  });
});

test("stdin reaches the command, and -C is where it runs", () => {
  const ran = sandbox.belay(["-C", sandbox.path("src"), "run", "--", "sh", "-c", "cat; pwd"], {
    cwd: "/",
    input: "typed\n",
  });
  expect(ran.stdout).toBe(`typed\n${sandbox.path("src")}\n`);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s goes to the command, and its work is kept as a step",
  async (signal) => {
    const script = `trap 'echo got > got.txt; exit 7' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`;
    const child = spawn(process.execPath, [LAUNCHER, "run", "--", "sh", "-c", script], {
      cwd: sandbox.project,
      env: sandbox.environment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.on("data", () => child.kill(signal));
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(7);
    expect(sandbox.read("got.txt")).toBe("got\n");
    sandbox.ok("undo");
    expect(sandbox.read("got.txt")).toBeUndefined();
  },
);

describe("[N2] a broken Belay never keeps the command from running", () => {
  test("a store that is not one", () => {
    const { store } = sandbox.json(["status"]);
    for (const name of ["store.db", "store.db-wal", "store.db-shm"])
      rmSync(join(store, name), { force: true });
    writeFileSync(join(store, "store.db"), "not a database");
    const ran = sandbox.belay(["run", "--", "sh", "-c", "echo it ran; exit 3"]);
    expect(ran).toMatchObject({ status: 3, stdout: "it ran\n" });
    expect(ran.stderr).toMatch(/WITHOUT PROTECTION/);
  });

  test("a store that breaks while the command runs: said afterwards, never run twice", () => {
    const { store } = sandbox.json(["status"]);
    const ran = sandbox.belay([
      "run",
      "--json",
      "--",
      "sh",
      "-c",
      `rm -rf '${store}'; echo once >> count.txt; exit 4`,
    ]);
    expect(ran.status).toBe(4);
    expect(ran.stderr).toMatch(/WAS NOT RECORDED/);
    expect(JSON.parse(ran.stderr.trimEnd().split("\n").at(-1)!)).toMatchObject({
      exitCode: 4,
      protected: false,
      error: { code: expect.any(String) },
    });
    expect(sandbox.read("count.txt")).toBe("once\n");
  });

  test.skipIf(process.getuid?.() === 0)("a home that cannot be read", () => {
    chmodSync(sandbox.home, 0);
    const ran = sandbox.belay(["run", "--", "echo", "it ran"]);
    chmodSync(sandbox.home, 0o700);
    expect(ran).toMatchObject({ status: 0, stdout: "it ran\n" });
  });
});

test("an unprotected directory is refused before the command runs", () => {
  sandbox.ok("uninstall", "--purge", "--yes");
  expect(sandbox.belay(["run", "--", "sh", "-c", "echo x > ran.txt"]).status).toBe(4);
  expect(existsSync(sandbox.path("ran.txt"))).toBe(false);
});
