import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "@belay/engine";
import { describeTree } from "./describe-tree.ts";
import { ID, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "1\n2\n3\n", "b.txt": "b\n", "src/c.txt": "c\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

test("none: the newest checkpoint and the disk; one: it and the disk; two: each other", async () => {
  sandbox.write("a.txt", "1\ntwo\n3\n");
  await sandbox.checkpoint();
  expect(sandbox.belay(["diff"])).toMatchObject({ status: 0, stdout: "", stderr: "No differences.\n" });
  expect(sandbox.ok("diff", "1")).toMatch(/^-2\n\+two\n/m);
  sandbox.write("a.txt", "1\nTWO\n3\n");
  expect(sandbox.ok("diff")).toMatch(/^-two\n\+TWO\n/m);
  expect(sandbox.ok("diff", "1", "2")).toMatch(/^-2\n\+two\n/m);
  expect(sandbox.ok("diff", "2", "1")).toMatch(/^-two\n\+2\n/m);
});

test("--json has the contract's shape", () => {
  sandbox.write("a.txt", "1\ntwo\n3\n");
  sandbox.remove("b.txt");
  sandbox.write("new.txt", "n\n");
  const diff = sandbox.json(["diff"]);
  expect(diff).toMatchObject({
    from: expect.stringMatching(ID),
    to: null,
    filesTotal: 3,
    summary: { added: 1, modified: 1, deleted: 1, linesAdded: 2, linesDeleted: 2 },
  });
  expect(diff.files.find((file: any) => file.path === "a.txt")).toEqual({
    path: "a.txt",
    type: "modified",
    linesAdded: 1,
    linesDeleted: 1,
    binary: false,
    tooLarge: false,
    attribution: null,
    diff: expect.stringMatching(
      /^diff --git a\/a\.txt b\/a\.txt\n[^]*@@ -1,3 \+1,3 @@\n 1\n-2\n\+two\n 3\n$/,
    ),
  });
});

test("--stat and --name-only", () => {
  sandbox.write("a.txt", "1\ntwo\n3\n");
  sandbox.write("src/new.txt", "n\n");
  expect(sandbox.ok("diff", "--name-only")).toBe("a.txt\nsrc/new.txt\n");
  const stat = sandbox.ok("diff", "--stat");
  expect(stat).toMatch(
    /M {2}a\.txt +\+1 -1\n {2}A {2}src\/new\.txt +\+1\n2 files changed \(\+1 ~1 -0\), 2 lines added, 1 deleted/,
  );
  expect(sandbox.json(["diff", "--name-only"]).files[0]).not.toHaveProperty("diff");
});

test("paths after -- are relative to the current directory", () => {
  sandbox.write("a.txt", "x\n");
  sandbox.write("src/c.txt", "x\n");
  const names = (args: string[], cwd = sandbox.project) =>
    sandbox.belay(["diff", "--name-only", ...args], { cwd }).stdout;
  expect(names(["--", "src"])).toBe("src/c.txt\n");
  expect(names(["--", "c.txt"], sandbox.path("src"))).toBe("src/c.txt\n");
  expect(names(["--", "../a.txt"], sandbox.path("src"))).toBe("a.txt\n");
  expect(names(["1", "--", "a.txt"])).toBe("a.txt\n");
  expect(sandbox.error(["diff", "--", "../elsewhere"], 2)).toMatchObject({
    code: "PATH_OUTSIDE",
    path: "../elsewhere",
  });
});

test("unknown checkpoints are not found", () => {
  expect(sandbox.error(["diff", "99"], 4)).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  expect(sandbox.error(["diff", "1", "nope"], 4)).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
});

describe("a diff that is not shown on a terminal is a patch", () => {
  test("git apply turns the one state into the other", async () => {
    const copy = join(sandbox.base, "copy");
    cpSync(sandbox.project, copy, { recursive: true });
    sandbox.write("a.txt", "1\ntwo\n3\nno newline at the end");
    sandbox.remove("b.txt");
    sandbox.write("empty", "");
    sandbox.write("name with spaces", "x\n");
    writeFileSync(sandbox.path("latin1.txt"), Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x0a]));
    chmodSync(sandbox.path("src/c.txt"), 0o755);
    symlinkSync("a.txt", sandbox.path("link"));
    await sandbox.checkpoint();
    for (const args of [
      ["diff", "1", "2"],
      ["export", "2", "--patch"],
    ]) {
      const target = join(sandbox.base, args[0]!);
      cpSync(copy, target, { recursive: true });
      const patch = execFileSync(process.execPath, [join(import.meta.dirname, "../bin/belay.js"), ...args], {
        cwd: sandbox.project,
        env: sandbox.environment,
      });
      execFileSync("git", ["apply", "-"], { cwd: target, input: patch });
      expect(describeTree(target)).toEqual(describeTree(sandbox.project));
    }
  });
});

test("[R180] binary and huge files have no lines to show, and are in the patch all the same", () => {
  const copy = join(sandbox.base, "copy");
  cpSync(sandbox.project, copy, { recursive: true });
  writeFileSync(sandbox.path("a.txt"), Buffer.from([0, 1, 2]));
  sandbox.write("b.txt", `${"x".repeat(79)}\n`.repeat(30_000));
  const files = sandbox.json(["diff"]).files;
  expect(files).toMatchObject([
    { path: "a.txt", binary: true, linesAdded: null, diff: null },
    { path: "b.txt", tooLarge: true, linesAdded: null, diff: null },
  ]);
  expect(sandbox.ok("diff", "--stat")).toMatch(/binary\n[^]*too large to compare/);
  execFileSync("git", ["apply", "-"], { cwd: copy, input: sandbox.ok("diff") });
  expect(describeTree(copy)).toEqual(describeTree(sandbox.project));
});

test("[R180] what a patch cannot hold is said on stderr", () => {
  chmodSync(sandbox.path("a.txt"), 0o600);
  expect(sandbox.belay(["diff"])).toEqual({
    status: 0,
    stdout: "",
    stderr:
      "warning: not in the patch: a.txt: permissions 644 → 600: git knows only whether a file is executable\n",
  });
});

test("[R182] a path that was not captured says so in words", () => {
  sandbox.ok("config", "limits.fileBytes", "1KiB");
  sandbox.write("b.txt", "x".repeat(5000));
  expect(sandbox.belay(["checkpoint"]).stderr).toBe(
    "Not captured:\n  b.txt  4.9 KiB, over the limit of 1 KiB (limits.fileBytes)\n",
  );
  expect(sandbox.ok("show", "@")).toMatch(/M {2}b\.txt +not captured: larger than the limit for a file/);
  sandbox.write("new.txt", "n\n");
  expect(sandbox.ok("restore", "1", "--keep-new", "--dry-run")).toMatch(/new\.txt +it came later/);
});

describe("paths without --", () => {
  test("are told from checkpoints by git's rule: from the first path on, everything is one", async () => {
    sandbox.write("a.txt", "1\ntwo\n3\n");
    sandbox.write("src/c.txt", "C\n");
    sandbox.remove("b.txt");
    expect(sandbox.ok("diff", "--name-only", "src")).toBe("src/c.txt\n");
    expect(sandbox.ok("diff", "--name-only", "1", "src", "a.txt")).toBe("a.txt\nsrc/c.txt\n");
    expect(sandbox.ok("diff", "--name-only", "b.txt")).toBe("b.txt\n");
    expect(sandbox.ok("diff", "--name-only", "*.txt")).toBe("a.txt\nb.txt\nsrc/c.txt\n");
    expect(sandbox.belay(["diff", "--name-only", "c.txt"], { cwd: sandbox.path("src") }).stdout).toBe(
      "src/c.txt\n",
    );
  });

  test("[R2345] a file that is gone needs no -- after the checkpoint that had it, or the turn that deleted it", async () => {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const thread = await workspace.threads.create({ agent: "claude-code", externalId: "1" });
    await workspace.turns.run({ thread: thread.id, prompt: "Tidy up" }, () =>
      Promise.resolve(sandbox.remove("src")),
    );
    expect(sandbox.ok("diff", "1", "src/c.txt", "--name-only")).toBe("src/c.txt\n");
    expect(sandbox.ok("diff", "1", "@", "src", "--name-only")).toBe("src/c.txt\n");
    expect(sandbox.ok("diff", "T1", "src/c.txt")).toMatch(/^deleted file mode[^]*^-c$/m);
    expect(sandbox.belay(["diff", "@", "src/c.txt"]).stderr).toContain("neither a checkpoint nor a file");
  });

  test("what could be both, or is neither, is refused with what to type", async () => {
    await sandbox.checkpoint({ name: "src" });
    const both = sandbox.belay(["diff", "src"]);
    expect(both).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('"src" is both a checkpoint and a path.'),
    });
    expect(both.stderr).toContain("belay diff -- src");
    expect(sandbox.belay(["diff", "--", "src"]).status).toBe(0);
    const neither = sandbox.belay(["diff", "src/gone.txt"]);
    expect(neither).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("neither a checkpoint nor a file"),
    });
    expect(sandbox.belay(["diff", "1", "src/gone.txt"]).stderr).toContain("belay diff 1 -- src/gone.txt");
    expect(sandbox.belay(["diff", "nothing"]).status).toBe(4);
    expect(sandbox.belay(["diff", "1", "2", "@"]).status).toBe(2);
  });
});
