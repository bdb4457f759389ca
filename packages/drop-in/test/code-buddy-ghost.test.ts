/** Code Buddy's ghost snapshots, in real repositories. */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  getGhostSnapshotManager,
  GhostSnapshotManager,
  resetGhostSnapshotManager,
} from "../src/code-buddy.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

function repository() {
  const place = makePlace({ tracked: "one\n" });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t.invalid", ...args], {
      cwd: place.root,
      encoding: "utf8",
      timeout: 30_000,
    }).trim();
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "first");
  return { ...place, git, manager: new GhostSnapshotManager(place.root, place.options) };
}

test("[C28] [C29] [C30] [C31] [C32] [C33] a snapshot is a commit that no branch has; index, HEAD and hooks stay", async () => {
  const { root, git, manager, write } = repository();
  expect([manager.isGitRepo, await manager.initialize(), manager.isGitRepo]).toEqual([false, true, true]);
  const clean = await manager.createSnapshot("Turn 1");
  expect(clean).toEqual({
    id: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[k-z]{4}$/),
    commitHash: git("rev-parse", "HEAD"),
    description: "Turn 1",
    timestamp: expect.any(Date),
    turn: 1,
  });
  writeFileSync(join(root, ".git/hooks/pre-commit"), "#!/bin/sh\ntouch ran\n");
  chmodSync(join(root, ".git/hooks/pre-commit"), 0o755);
  const before = ["HEAD", "index", "logs/HEAD"].map((name) => readFileSync(join(root, ".git", name)));
  write("tracked", "two\n");
  write("untracked", "new\n");
  const dirty = await manager.createSnapshot("Turn 2");
  expect(git("show", `${dirty!.commitHash}:untracked`)).toBe("new");
  expect(git("log", "-1", "--format=%s", dirty!.commitHash)).toBe("[ghost] Turn 2");
  expect(git("branch", "--contains", dirty!.commitHash)).toBe("");
  expect(git("for-each-ref", "--format=%(objectname)", "refs/belay/ghost")).toContain(dirty!.commitHash);
  expect(["HEAD", "index", "logs/HEAD"].map((name) => readFileSync(join(root, ".git", name)))).toEqual(
    before,
  );
  expect(git("status", "--porcelain")).not.toContain("ran");
});

test("[R354] [C34] [C35] [C37] [C38] [I15] original 26: one turn each way, the last one's result too; also after a restart", async () => {
  const { manager, root, options, read, write, exists } = repository();
  await manager.createSnapshot("Turn 1");
  write("tracked", "after 1\n");
  await manager.createSnapshot("Turn 2");
  write("tracked", "after 2\n");
  write("made", "by turn 2\n");
  expect(manager.getTimeline()).toMatchObject({ currentIndex: 1, canUndo: true, canRedo: false });
  expect(await manager.undoLastTurn()).toMatchObject({ description: "Turn 2" });
  expect([read("tracked"), exists("made")]).toEqual(["after 1\n", false]);
  closeDropIn();
  const again = new GhostSnapshotManager(root, options);
  expect(again.listSnapshots().map(({ description, turn }) => [description, turn])).toEqual([
    ["Turn 1", 1],
    ["Turn 2", 2],
  ]);
  expect(again.getTimeline()).toMatchObject({ currentIndex: 0, canUndo: true, canRedo: true });
  expect(await again.undoLastTurn()).toMatchObject({ description: "Turn 1" });
  expect(read("tracked")).toBe("one\n");
  expect([await again.undoLastTurn(), again.lastError]).toEqual([null, "There is nothing to undo."]);
  expect(await again.redoLastTurn()).toMatchObject({ description: "Turn 1" });
  expect(await again.redoLastTurn()).toMatchObject({ description: "Turn 2" });
  expect([read("tracked"), read("made"), again.lastError]).toEqual(["after 2\n", "by turn 2\n", null]);
  const [first] = again.listSnapshots();
  expect(await again.restoreSnapshot(first!.id)).toBe(true);
  expect([read("tracked"), exists("made")]).toEqual(["one\n", false]);
  expect([await again.restoreSnapshot("x"), again.lastError]).toEqual([false, "Snapshot not found: x"]);
});

test("[C39] [C54] outside git there is none, and the reason is said; nothing is protected", async () => {
  const { root, options, lines } = makePlace({ a: "0\n" });
  const manager = getGhostSnapshotManager(root, options);
  expect(getGhostSnapshotManager(root)).toBe(manager);
  expect(await manager.initialize()).toBe(false);
  expect(await manager.createSnapshot("Turn 1")).toBeNull();
  expect(manager.lastError).toBe(`${root} is not in a git repository.`);
  expect(lines).toMatchObject([{ event: "ghost", reason: manager.lastError }]);
  expect(manager.getTimeline()).toEqual({ snapshots: [], currentIndex: -1, canUndo: false, canRedo: false });
  resetGhostSnapshotManager();
});

test("[R2603] [C34] a snapshot whose checkpoint was pruned comes back from its commit, as often as it is wanted, and can be undone", async () => {
  const { root, manager, read, write, exists, look } = repository();
  await manager.createSnapshot("Turn 1");
  write("tracked", "two\n");
  write("made", "by turn 1\n");
  chmodSync(join(root, "made"), 0o755);
  const second = await manager.createSnapshot("Turn 2");
  write("tracked", "three\n");
  write("later", "by turn 2\n");
  await manager.createSnapshot("Turn 3");
  look((workspace) => {
    for (const ghost of workspace.ghosts() as { checkpoint: string | null; description: string }[])
      if (ghost.description === "Turn 2") workspace.upkeep.deleteCheckpoint(ghost.checkpoint!);
  });
  write("tracked", "four\n");
  for (let time = 0; time < 2; time += 1) {
    expect([await manager.restoreSnapshot(second!.id), manager.lastError]).toEqual([true, null]);
    expect([read("tracked"), read("made"), exists("later")]).toEqual(["two\n", "by turn 1\n", false]);
    expect(statSync(join(root, "made")).mode & 0o777).toBe(0o755);
    look((workspace) => workspace.undo());
    expect([read("tracked"), read("later")]).toEqual(["four\n", "by turn 2\n"]);
  }
  expect(
    look((workspace) => workspace.list({}).filter(({ origin }) => origin === "ghost").length),
  ).toBeLessThan(2);
  expect(look((workspace) => workspace.upkeep.verify({ full: true }).ok)).toBe(true);
});
