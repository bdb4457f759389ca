import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.txt": "two\n", "src/c.txt": "three\n" });
  sandbox.write("a.txt", "changed\n");
  sandbox.remove("src/b.txt");
  sandbox.write("later.txt", "later\n");
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const presentState = () => [sandbox.read("a.txt"), sandbox.read("src/b.txt"), sandbox.read("later.txt")];
const CHANGED = ["changed\n", undefined, "later\n"];
const ORIGINAL = ["one\n", "two\n", undefined];

test("[L21] --yes brings the checkpoint back exactly, and the way back is kept", () => {
  const result = sandbox.json(["restore", "1", "--yes"]);
  expect(presentState()).toEqual(ORIGINAL);
  expect(result).toEqual({
    outcome: "applied",
    paths: null,
    restoredTo: expect.stringMatching(ID),
    safetyCheckpoint: expect.stringMatching(ID),
    newCheckpoint: expect.stringMatching(ID),
    created: 1,
    modified: 1,
    deleted: 1,
    bytesWritten: "one\n".length + "two\n".length,
    merged: [],
    mergedTotal: 0,
    kept: [],
    keptTotal: 0,
    leftOut: [],
    leftOutTotal: 0,
    skipped: [],
    skippedTotal: 0,
    conflicts: [],
    conflictsTotal: 0,
    displaced: [],
    displacedTotal: 0,
    doubts: [],
    doubtsTotal: 0,
    warnings: expect.any(Array),
    durationMs: expect.any(Number),
  });
  sandbox.ok("restore", result.safetyCheckpoint, "--yes");
  expect(presentState()).toEqual(CHANGED);
});

/** Has a file open, and writes to it a while after it has been taken away: a restore waits longer for it to end. */
const LATE_WRITER = `
  const fs = require("node:fs");
  const file = fs.openSync(process.argv[1], "a");
  console.log("open");
  while (!fs.readlinkSync("/proc/self/fd/" + file).includes(".belay-stage-"));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  fs.writeSync(file, "late\\n");`;

test.skipIf(!existsSync("/proc/self/fd"))(
  "[R110, R112] what a program writes to a replaced file is in a checkpoint that is named with the way to it",
  async () => {
    const writer = spawn(process.execPath, ["-e", LATE_WRITER, sandbox.path("a.txt")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(writer.stdout, "data");
    const { status, stdout } = sandbox.belay(["restore", "1", "--yes"]);
    writer.kill("SIGKILL");
    expect(status).toBe(3);
    expect(presentState()).toEqual(ORIGINAL);
    const [, checkpoint] = /^ +a\.txt +checkpoint ([k-z]{16})$/m.exec(stdout)!;
    expect(stdout).not.toContain("Nothing was changed");
    const [, diff, restore] = /`belay (diff .+?)` shows it, `belay (restore .+?)` brings/.exec(stdout)!;
    expect(sandbox.ok(...diff!.split(" "))).toContain("late");
    sandbox.ok("gc", "--yes");
    sandbox.ok(...restore!.split(" "), "--yes");
    expect(sandbox.read("a.txt")).toBe("changed\nlate\n");
    expect(sandbox.json(["show", checkpoint!]).checkpoint).toMatchObject({ kind: "safety" });
  },
);

test("--dry-run shows the plan and changes nothing", () => {
  const { plan } = sandbox.json(["restore", "1", "--dry-run"]);
  expect(plan).toMatchObject({
    id: expect.any(String),
    checkpointId: expect.stringMatching(ID),
    kept: [],
    conflicts: [],
    gaps: [],
    doubts: [],
    otherThreads: [],
  });
  expect(plan.operations).toEqual(
    expect.arrayContaining([
      { type: "restore", path: "a.txt" },
      { type: "create", path: "src/b.txt" },
      { type: "delete", path: "later.txt" },
    ]),
  );
  expect(plan.affectedFiles.sort()).toEqual(["a.txt", "later.txt", "src/b.txt"]);
  const text = sandbox.ok("restore", "1", "--dry-run");
  expect(text).toMatch(/~ restore {2}a\.txt/);
  expect(text).toMatch(/Would change 3 files: 1 created, 1 changed, 1 deleted/);
  expect(presentState()).toEqual(CHANGED);
});

test("[Y19] several files need confirmation, and there is no terminal: exit 3, nothing changed", () => {
  expect(sandbox.error(["restore", "1"], 3)).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
    hint: expect.stringContaining("--yes"),
  });
  expect(presentState()).toEqual(CHANGED);
});

test("[Y19] one file needs no question", () => {
  expect(sandbox.ok("restore", "1", "a.txt")).toMatch(
    /~ restore {2}a\.txt\n✓ Restored a\.txt from 1 .+ \(1 changed/,
  );
  expect(presentState()).toEqual(["one\n", undefined, "later\n"]);
});

test("chosen paths are relative to the current directory; the rest stays", () => {
  expect(sandbox.belay(["restore", "1", "b.txt"], { cwd: sandbox.path("src") }).status).toBe(0);
  expect(presentState()).toEqual(["changed\n", "two\n", "later\n"]);
  sandbox.write("src/c.txt", "also changed\n");
  sandbox.ok("restore", "1", "src", "later.txt", "--yes");
  expect(sandbox.read("src/c.txt")).toBe("three\n");
  expect(presentState()).toEqual(["changed\n", "two\n", undefined]);
});

test("[R184] a restore of chosen paths is called that: in the answer, the list, the step and the undo", () => {
  const what = "src/b.txt from checkpoint 1 (Initial checkpoint)";
  const preview = sandbox.json(["restore", "1", "src/b.txt", "--dry-run"]).plan;
  expect(preview).toMatchObject({ paths: ["src/b.txt"], description: `Restored ${what}` });
  const done = sandbox.json(["restore", "1", "src/b.txt"]);
  expect(done).toMatchObject({ outcome: "applied", paths: ["src/b.txt"] });
  const descriptions = sandbox.json(["list"]).checkpoints.map((each: any) => each.description);
  expect(descriptions.slice(0, 2)).toEqual([`Restored ${what}`, `Before restoring ${what}`]);
  expect(sandbox.json(["show", "@"]).checkpoint.description).toBe(`Restored ${what}`);
  expect(sandbox.json(["status"]).canUndo.description).toBe(`Restored ${what}`);
  expect(sandbox.ok("undo")).toContain(`Restored ${what}`);
  const many = sandbox.ok("restore", "1", "a.txt", "src", "later.txt", "--dry-run");
  expect(many).toMatch(/^Restore a\.txt, src and 1 more from 1 /);
  expect(sandbox.json(["restore", "1", ".", "--dry-run"]).plan).toMatchObject({
    paths: null,
    description: "Restored to checkpoint 1 (Initial checkpoint)",
  });
});

test("--keep-new deletes nothing", () => {
  const result = sandbox.json(["restore", "1", "--keep-new", "--yes"]);
  expect(presentState()).toEqual(["one\n", "two\n", "later\n"]);
  expect(result).toMatchObject({
    outcome: "applied",
    deleted: 0,
    kept: [{ path: "later.txt", reason: "keep-new" }],
    keptTotal: 1,
  });
});

test("[R24] a state that is there already is left alone", () => {
  sandbox.ok("restore", "1", "--yes");
  const before = statSync(sandbox.path("a.txt")).mtimeMs;
  expect(sandbox.json(["restore", "1"])).toMatchObject({
    outcome: "unchanged",
    created: 0,
    modified: 0,
    deleted: 0,
  });
  expect(sandbox.ok("restore", "1")).toMatch(/Nothing to do/);
  expect(statSync(sandbox.path("a.txt")).mtimeMs).toBe(before);
});

test("what was never captured is never touched", () => {
  sandbox.write(".gitignore", "ignored/\n");
  sandbox.write("ignored/precious.txt", "mine\n");
  sandbox.write("node_modules/x/index.js", "x");
  sandbox.ok("restore", "1", "--yes");
  expect(sandbox.read("ignored/precious.txt")).toBe("mine\n");
  expect(sandbox.read("node_modules/x/index.js")).toBe("x");
});

test("types, modes, symbolic links, empty directories and odd names come back", async () => {
  const odd = Buffer.concat([Buffer.from(`${sandbox.project}/`), Buffer.from([0xff, 0x0a, 0x22])]);
  writeFileSync(odd, "odd");
  mkdirSync(sandbox.path("empty"));
  symlinkSync("a.txt", sandbox.path("link"));
  sandbox.write("tool", "#!/bin/sh\n");
  chmodSync(sandbox.path("tool"), 0o755);
  await sandbox.checkpoint({ name: "odd" });
  sandbox.remove("empty");
  sandbox.remove("link");
  sandbox.remove("tool");
  sandbox.write("link/now-a-directory", "x");
  writeFileSync(odd, "changed");
  sandbox.ok("restore", "odd", "--yes");
  expect(readFileSync(odd, "utf8")).toBe("odd");
  expect(lstatSync(sandbox.path("empty")).isDirectory()).toBe(true);
  expect(readlinkSync(sandbox.path("link"))).toBe("a.txt");
  expect(statSync(sandbox.path("tool")).mode & 0o777).toBe(0o755);
});

describe("bad input changes nothing", () => {
  test.each([
    [["restore", "99", "--yes"], 4, "CHECKPOINT_NOT_FOUND"],
    [["restore", "no-such", "--yes"], 4, "CHECKPOINT_NOT_FOUND"],
    [["restore", "1", "../outside", "--yes"], 2, "PATH_OUTSIDE"],
    [["restore", "1", "/etc/passwd", "--yes"], 2, "PATH_OUTSIDE"],
    [["restore", "1", "", "--yes"], 2, "USAGE"],
    [["restore", "1", "never-existed", "--yes"], 4, "PATH_NOT_IN_CHECKPOINT"],
    [["restore", "1", "--thread", "unknown", "--yes"], 4, "THREAD_NOT_FOUND"],
  ])("belay %j: exit %i", (args, status, code) => {
    expect(sandbox.error(args, status)).toMatchObject({ code });
    expect(presentState()).toEqual(CHANGED);
  });
});

test("[R844] files outside go with a whole restore only", () => {
  const before = presentState();
  for (const words of [["src"], ["-i"], ["--keep-new"], ["--leave-others"]])
    expect(sandbox.error(["restore", "1", "--outside", "--yes", ...words], 2)).toMatchObject({
      message: expect.stringContaining("--outside goes with a whole restore"),
    });
  expect(presentState()).toEqual(before);
});

test("[Y87] [R844] [R1403] --outside: shown apart, written after a confirmation of its own, taken back by the safety checkpoint, forgotten by path", async () => {
  const file = join(sandbox.base, "elsewhere.toml");
  writeFileSync(file, "old\n");
  sandbox.ok("config", "outside.capture", "on");
  await sandbox.checkpoint({ name: "with-outside", outside: [file] });
  writeFileSync(file, "new\n");
  const content = () => readFileSync(file, "utf8");
  expect(sandbox.ok("show", "with-outside")).toMatch(/Outside the workspace\s+.*elsewhere\.toml/);

  expect(sandbox.json(["restore", "with-outside", "--dry-run"]).plan).toMatchObject({
    outside: [{ path: file, type: "restore" }],
    writesOutside: false,
  });
  expect(sandbox.ok("restore", "with-outside", "--dry-run")).toContain("--outside writes it back too");
  expect(sandbox.json(["restore", "with-outside", "--yes"])).toMatchObject({ outcome: "unchanged" });
  expect(sandbox.belay(["restore", "with-outside", "--outside"]).status).toBe(3);
  expect(content()).toBe("new\n");

  const done = sandbox.json(["restore", "with-outside", "--outside", "--yes"]);
  expect(done).toMatchObject({
    outcome: "applied",
    outside: { written: [{ path: file, type: "restore" }], skipped: [] },
  });
  expect(content()).toBe("old\n");
  expect(sandbox.ok("restore", done.safetyCheckpoint, "--outside", "--yes")).toContain(
    "1 outside the workspace",
  );
  expect(content()).toBe("new\n");

  expect(sandbox.ok("forget", file, "--yes")).toContain(`Purged ${file} from`);
  expect(sandbox.json(["show", "with-outside"]).outside).toEqual([]);
  expect(sandbox.error(["forget", file, "--yes"], 4)).toMatchObject({ code: "PATH_NOT_IN_CHECKPOINT" });
  expect(content()).toBe("new\n");
});
