import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeTree } from "./describe-tree.ts";
import { ID, LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = new Sandbox();
  mkdirSync(sandbox.path("empty"));
  symlinkSync("src/b.txt", sandbox.path("link"));
  sandbox.write(`${"deep/".repeat(30)}${"n".repeat(200)}`, "long name\n");
  sandbox.write("tool", "#!/bin/sh\n");
  chmodSync(sandbox.path("tool"), 0o755);
  sandbox.write("large", "0123456789abcdef".repeat(200_000));
  writeFileSync(Buffer.concat([Buffer.from(`${sandbox.project}/`), Buffer.from([0xfc, 0x0a])]), "bytes");
  await sandbox.protect();
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

function expectUnpacked(archive: { file: string } | { bytes: Buffer }): void {
  const target = join(sandbox.base, "unpacked");
  mkdirSync(target);
  if ("file" in archive) execFileSync("tar", ["-x", "-p", "-f", archive.file, "-C", target]);
  else execFileSync("tar", ["-x", "-p", "-C", target], { input: archive.bytes });
  expect(describeTree(target)).toEqual(describeTree(sandbox.project));
}

test("--tar writes a file that the real tar unpacks to the same tree", () => {
  const file = join(sandbox.base, "out.tar");
  expect(sandbox.json(["export", "1", "--tar", file])).toEqual({
    checkpoint: expect.stringMatching(ID),
    format: "tar",
    file,
    files: expect.any(Number),
    bytes: expect.any(Number),
  });
  expectUnpacked({ file });
});

test("without --tar the archive goes to stdout", () => {
  const bytes = execFileSync(process.execPath, [LAUNCHER, "export", "@"], {
    cwd: sandbox.project,
    env: sandbox.environment,
    maxBuffer: 1e9,
  });
  expectUnpacked({ bytes });
});

test("an archive that cannot be written is no half archive", () => {
  expect(
    sandbox.error(["export", "1", "--tar", join(sandbox.base, "no", "such", "out.tar")], 1),
  ).toMatchObject({ code: "OUTPUT_FAILED" });
  expect(sandbox.error(["export", "1", "--tar", sandbox.base, "--yes"], 1)).toMatchObject({
    code: "OUTPUT_FAILED",
  });
  expect(readdirSync(sandbox.base).filter((name) => name.includes("part"))).toEqual([]);
});

test("a reader that goes away early ends it quietly; a full disk is an error", () => {
  const inShell = (redirection: string) =>
    spawnSync("bash", ["-c", `"$0" "$1" export 1 ${redirection}`, process.execPath, LAUNCHER], {
      cwd: sandbox.project,
      env: sandbox.environment,
      encoding: "utf8",
    });
  expect(inShell("| head -c 100 | wc -c; echo ${PIPESTATUS[0]}")).toMatchObject({
    stdout: "100\n1\n",
    stderr: "",
  });
  const full = inShell("> /dev/full");
  expect(full.status).toBe(1);
  expect(full.stderr).toMatch(/could not be written: ENOSPC/);
});

test("a file that exists is overwritten only after confirmation", () => {
  expect(sandbox.error(["export", "1", "--tar", "a.txt"], 3)).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
  });
  expect(sandbox.read("a.txt")).toBe("one\n");
  sandbox.ok("export", "1", "--tar", "a.txt", "--yes");
  expect(sandbox.read("a.txt")).not.toBe("one\n");
});

test("--patch of the first checkpoint has nothing to compare with; --json needs a file", () => {
  expect(sandbox.error(["export", "1", "--patch"], 1)).toMatchObject({ code: "NO_PARENT" });
  expect(sandbox.json(["export", "1"], 2).error).toMatchObject({ code: "USAGE" });
  expect(sandbox.error(["export", "99", "--patch"], 4)).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  expect(sandbox.belay(["export", "--thread", "x"]).status).toBe(2);
});

test("--patch --json has the text", () => {
  sandbox.write("a.txt", "changed\n");
  sandbox.ok("checkpoint");
  expect(sandbox.json(["export", "@", "--patch"])).toMatchObject({
    format: "patch",
    patch: expect.stringContaining("+changed\n"),
  });
  expect(existsSync(sandbox.path("patch"))).toBe(false);
});

test("[R180] --patch of a turn is what the turn changed; where nothing changed, stderr says so", async () => {
  {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { id } = await workspace.threads.create({ agent: "test" });
    await workspace.turns.prompt(id, { content: "go" });
    for (const [toolUseId, content] of Object.entries({ t1: "first\n", t2: "second\n" })) {
      await workspace.turns.beginTool(id, { tool: "Write", toolUseId });
      sandbox.write("a.txt", content);
      await workspace.turns.endTool(id, { toolUseId });
    }
    await workspace.turns.end(id);
  }
  const patch = sandbox.ok("export", "T1", "--patch");
  expect(patch).toBe(sandbox.ok("diff", "T1"));
  execFileSync("git", ["apply", "-R"], { cwd: sandbox.project, input: patch });
  expect(sandbox.read("a.txt")).toBe("one\n");
  const unchanged = sandbox.belay(["export", "@", "--patch"]);
  expect([unchanged.status, unchanged.stdout, unchanged.stderr]).toEqual([
    0,
    "",
    "@ changed nothing, so there is no patch.\n",
  ]);
});

test("[A23] [A24] [A60] [Y30] a conversation becomes a git repository: main is what was approved, sessions are branches", async () => {
  let approved: number;
  {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const { id } = await workspace.threads.create({ agent: "test", title: "feature" });
    await workspace.turns.prompt(id, { content: "one" });
    sandbox.write("a.txt", "approved\n");
    await workspace.turns.end(id);
    const { checkpoint } = await workspace.checkpoint({ thread: id, name: "good", note: "all tests pass" });
    expect(checkpoint.session).toBe("session_1");
    approved = (await workspace.approvals.approve(id, { message: "First part" })).checkpointsApproved;
    await workspace.turns.prompt(id, { content: "two" });
    sandbox.remove("src/b.txt");
    sandbox.write("new.txt", "pending\n");
    await workspace.turns.end(id);
  }
  const { threads } = sandbox.json(["threads"]);
  const target = join(sandbox.base, "exported");
  const { branches } = sandbox.json(["export", "--thread", threads[0].id, "--git", target]);
  // [A33] every command counts alike: before and after the turn, by hand; the approval is the merge
  expect(branches).toEqual([
    { branch: "main", commits: 2 },
    { branch: "session_1", commits: 3 },
    { branch: "session_2", commits: 2 },
  ]);
  expect(approved).toBe(3);
  const { sessions } = sandbox.json(["thread", threads[0].id]);
  expect(sessions.map(({ checkpoints }: { checkpoints: number }) => checkpoints)).toEqual([3, 2]);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: target, encoding: "utf8" });
  expect(
    git("branch", "-a")
      .split("\n")
      .map((line) => line.slice(2))
      .filter(Boolean),
  ).toEqual(["main", "session_1", "session_2"]);
  expect(git("log", "--merges", "--format=%s", "main")).toBe("First part\n");
  expect(git("show", "main:a.txt")).toBe("approved\n");
  expect(git("diff", "--name-status", "main", "session_2")).toBe("A\tnew.txt\nD\tsrc/b.txt\n");
  expect(git("log", "session_1", "--format=%B")).toContain("all tests pass\n\nBelay-Checkpoint: ");
  expect(git("log", "main..session_2", "--format=%s").split("\n").length).toBeGreaterThan(1);
  expect(git("fsck", "--strict")).toBe("");
  expect(readdirSync(target)).toContain("link");
  expect(sandbox.error(["export", "--thread", threads[0].id, "--git", target], 3).message).toContain(
    "not empty",
  );
  expect(sandbox.error(["export", "--git", target], 3).message).toContain("exists and is not empty");
});

test("all branches become a git repository: each is a branch of the same name, from where it began", async () => {
  sandbox.write("a.txt", "on main\n");
  sandbox.ok("checkpoint", "-m", "one");
  sandbox.ok("branch", "an/idea");
  sandbox.ok("switch", "an/idea");
  sandbox.write("idea.txt", "idea\n");
  sandbox.ok("checkpoint", "-m", "two");
  sandbox.ok("branch", "empty");
  const target = join(sandbox.base, "all");
  expect(sandbox.json(["export", "--git", target])).toMatchObject({
    thread: null,
    format: "git",
    branches: [{ branch: "main" }, { branch: "an/idea" }, { branch: "empty", commits: 0 }],
  });
  const git = (...args: string[]) => execFileSync("git", args, { cwd: target, encoding: "utf8" });
  expect(git("for-each-ref", "--format=%(refname)")).toBe(
    "refs/heads/an/idea\nrefs/heads/empty\nrefs/heads/main\n",
  );
  expect(git("show", "an/idea:idea.txt")).toBe("idea\n");
  expect(git("merge-base", "main", "an/idea").trim()).toBe(git("rev-parse", "main~1").trim());
  expect(git("rev-parse", "empty")).toBe(git("rev-parse", "an/idea"));
  expect(git("fsck", "--strict")).toBe("");
});
