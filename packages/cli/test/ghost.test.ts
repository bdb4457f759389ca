/** `belay ghost`, and its routes. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
    cwd: sandbox.project,
    encoding: "utf8",
    timeout: 30_000,
  }).trim();

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

function makeRepository(): void {
  git("init", "-q", ".");
  git("add", ".");
  git("commit", "-qm", "first");
}

test("[C30, C34, C38] a ghost is made, listed, looked at with git, restored and dropped", () => {
  makeRepository();
  expect(sandbox.ok("ghost")).toContain("There are no ghosts.");
  sandbox.write("a.txt", "two\n");
  sandbox.write(".env", "SECRET=1\n");
  const said = sandbox.ok("ghost", "create", "-m", "before the refactoring");
  expect(said).toMatch(/^✓ Commit [0-9a-f]{10} has the files, without 1 path that git should not have\./);
  const [ghost] = sandbox.json(["ghost"]).ghosts;
  expect(ghost).toMatchObject({ description: "before the refactoring", checkpoint: ghost.id, leftOut: 1 });
  expect(sandbox.ok("ghost", "list")).toContain(ghost.commit.slice(0, 10));
  expect(git("diff", "--name-status", "HEAD", `refs/belay/ghost/${ghost.id}`)).toBe("M\ta.txt");
  sandbox.write("a.txt", "three\n");
  sandbox.write("new.txt", "new\n");
  expect(sandbox.ok("ghost", "restore", ghost.commit.slice(0, 8), "--yes")).toContain("Restored");
  expect(sandbox.read("a.txt")).toBe("two\n");
  sandbox.ok("undo", "--yes");
  expect(sandbox.read("new.txt")).toBe("new\n");
  expect(sandbox.ok("ghost", "drop", ghost.id)).toContain("1 ghost dropped; the checkpoints stay.");
  sandbox.ok("ghost", "create", "1");
  expect(sandbox.json(["ghost", "drop", "--all"])).toMatchObject({ dropped: 1 });
  expect(git("for-each-ref", "refs/belay")).toBe("");
  expect(sandbox.ok("show", ghost.id)).toContain("before the refactoring");
});

test("[R2502] forgetting names the ghosts that may hold it, and a preview does not", () => {
  makeRepository();
  sandbox.write("a.txt", "secret\n");
  sandbox.ok("checkpoint");
  const forget = (...words: string[]) => sandbox.belay(["forget", ...words]);
  expect(forget("a.txt", "--yes")).toMatchObject({ status: 0, stderr: expect.not.stringContaining("ghost") });
  sandbox.write("a.txt", "secret again\n");
  sandbox.ok("ghost", "create");
  expect(forget("a.txt", "--dry-run").stderr).not.toContain("ghost");
  expect(forget("a.txt", "--yes").stderr).toContain("1 ghost of this workspace, which may hold it");
  expect(git("show", `${git("for-each-ref", "--format=%(objectname)", "refs/belay")}:a.txt`)).toBe(
    "secret again",
  );
  sandbox.ok("ghost", "drop", "--all");
  sandbox.ok("checkpoint");
  expect(forget("a.txt", "--yes").stderr).not.toContain("ghost");
});

test("[C28, C39] where no ghost can be, the reason is said and nothing happens", () => {
  expect(sandbox.belay(["ghost", "create"])).toMatchObject({
    status: 3,
    stderr: expect.stringContaining("not in a git repository"),
  });
  expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
  makeRepository();
  expect(sandbox.belay(["ghost", "restore", "nothing"])).toMatchObject({ status: 4 });
  expect(sandbox.belay(["ghost", "drop"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["ghost", "haunt"])).toMatchObject({ status: 2 });
});

test("[R372] [R1785] ghosts whose store is lost are imported: their ids and commits restore, what they never had stays, twice is once", () => {
  makeRepository();
  sandbox.write("a.txt", "two\n");
  sandbox.write("src/deep.txt", "deep\n");
  sandbox.ok("ghost", "create", "-m", "first ghost");
  sandbox.write("a.txt", "three\n");
  sandbox.write("later.txt", "later\n");
  sandbox.ok("ghost", "create", "-m", "second ghost");
  const [second, first] = sandbox.json(["ghost"]).ghosts;
  // what is here is not imported
  expect(sandbox.json(["import", "ghost", "."])).toMatchObject({ kind: "ghost", checkpoints: 0 });

  rmSync(sandbox.home, { recursive: true });
  sandbox.write(".env", "SECRET=1\n");
  sandbox.ok("init", "--no-agents", "--yes");
  expect(sandbox.belay(["show", first.id]).status).toBe(4);
  expect(sandbox.json(["import", "."])).toMatchObject({ kind: "ghost", checkpoints: 2, skipped: [] });
  expect(sandbox.json(["import", "ghost", "."])).toMatchObject({ alreadyThere: 2 });
  expect(sandbox.json(["show", first.commit]).checkpoint).toMatchObject({
    description: "first ghost",
    origin: "ghost",
  });
  sandbox.ok("restore", first.id, "--yes");
  expect([sandbox.read("a.txt"), sandbox.read("src/deep.txt"), sandbox.read("later.txt")]).toEqual([
    "two\n",
    "deep\n",
    undefined,
  ]);
  expect(sandbox.read(".env")).toBe("SECRET=1\n");
  sandbox.ok("restore", second.id, "--yes");
  expect(sandbox.read("later.txt")).toBe("later\n");

  // [R1785] a lost store again: going back to a ghost imports it by itself, a look does not
  rmSync(sandbox.home, { recursive: true });
  sandbox.ok("init", "--no-agents", "--yes");
  const short = first.commit.slice(0, 9);
  expect(sandbox.belay(["ghost", "restore", short, "--dry-run"]).status).not.toBe(0);
  expect(sandbox.belay(["show", first.id]).status).toBe(4);
  expect(sandbox.ok("ghost", "restore", short, "--yes")).toContain("Restored");
  expect([sandbox.read("a.txt"), sandbox.read("later.txt"), sandbox.read(".env")]).toEqual([
    "two\n",
    undefined,
    "SECRET=1\n",
  ]);
  sandbox.ok("undo", "--yes");
  expect(sandbox.read("later.txt")).toBe("later\n");
});
