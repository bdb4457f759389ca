/** What a checkpoint of Code Buddy's undo knows, and the numbers that count unless others are given. */
import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test, vi } from "vitest";
import { CheckpointManager, type UndoResult } from "../src/code-buddy-undo.ts";
import { makePlace } from "./support/place.ts";

test("[C60] a redo is told when it is done; the state before an undo is kept as a checkpoint", async () => {
  const { root, options, write, read, look } = makePlace({ a: "0\n" });
  const manager = new CheckpointManager(root, { autoCheckpoint: false }, options);
  const told: [string, unknown][] = [];
  for (const name of ["undo:complete", "redo:complete"])
    manager.on(name, ({ success, restoredFiles }: UndoResult) => told.push([name, [success, restoredFiles]]));
  await manager.createCheckpoint({ operation: "edit" });
  write("a", "1\n");
  await manager.undo();
  await manager.redo();
  expect(told).toEqual([
    ["undo:complete", [true, ["a"]]],
    ["redo:complete", [true, ["a"]]],
  ]);
  expect(read("a")).toBe("1\n");
  const safety = look((workspace) =>
    workspace.list().find(({ description }) => description === "Before undo"),
  );
  expect(safety).toMatchObject({ kind: "safety" });
  look((workspace) => workspace.restoreTo(safety!.id));
  expect(read("a")).toBe("1\n");
});

test("[C60] a checkpoint knows its operation, its tool, git's branch and commit, and the one before it", async () => {
  const { root, options } = makePlace({ a: "0\n" });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: root,
      encoding: "utf8",
      timeout: 20_000,
    }).trim();
  git("init", "-q", "-b", "topic");
  git("add", ".");
  git("commit", "-qm", "first");
  const manager = new CheckpointManager(root, { autoCheckpoint: false }, options);
  const first = await manager.createCheckpoint({ operation: "create", tool: "create_file", automatic: true });
  expect(first.metadata).toEqual({
    workingDirectory: root,
    gitBranch: "topic",
    gitCommit: git("rev-parse", "HEAD"),
    operation: "create",
    tool: "create_file",
    automatic: true,
  });
  expect(first).not.toHaveProperty("parentId");
  const second = await manager.createCheckpoint({ operation: "refactor", tags: ["Green"] });
  expect(second.parentId).toBe(first.id);
  const found = (query: string) => manager.searchCheckpoints(query).map(({ id }) => id);
  expect([found("green"), found("REFACTOR"), found("nothing")]).toEqual([[second.id], [second.id], []]);
});

test("[C60] the timer takes one every five minutes", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { root, options, write } = makePlace({ a: "0\n" });
  const manager = new CheckpointManager(root, {}, options);
  onTestFinished(() => manager.dispose());
  await manager.createCheckpoint({ name: "by hand", operation: "edit" });
  write("a", "1\n");
  vi.advanceTimersByTime(299_999);
  expect(manager.getCheckpoints()).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(manager.getCheckpoints().map(({ name }) => name)).toEqual(["by hand", "Auto checkpoint"]);
});

test("[C60] a hundred checkpoints are kept", async () => {
  const { root, options } = makePlace({ a: "0\n" });
  const manager = new CheckpointManager(root, { autoCheckpoint: false }, options);
  for (let number = 1; number <= 101; number += 1)
    await manager.createCheckpoint({ name: `number ${number}`, operation: "edit" });
  const names = manager.getCheckpoints().map(({ name }) => name);
  expect([names.length, names[0], names.at(-1)]).toEqual([100, "number 2", "number 101"]);
});

test("[C60] what its patterns exclude and what is over its limit is not captured, is told, and never touched", async () => {
  const { root, options, write, read, lines } = makePlace({
    "a.txt": "0\n",
    "out/x": "0\n",
    "keep.gen": "0\n",
  });
  write(".belayignore", "!keep.gen\n");
  write("large", "x".repeat(11));
  const manager = new CheckpointManager(
    root,
    { autoCheckpoint: false, excludePatterns: ["out/", "*.gen"], maxFileSize: 10 },
    options,
  );
  const checkpoint = await manager.createCheckpoint({ operation: "edit" });
  expect(checkpoint.files.map(({ relativePath }) => relativePath)).toEqual([
    ".belayignore",
    "a.txt",
    "keep.gen",
  ]);
  expect(lines).toContainEqual(
    expect.objectContaining({ event: "not_captured", path: "large", reason: "too-large" }),
  );
  for (const path of ["a.txt", "out/x", "out/later", "large"]) write(path, "1\n");
  expect(await manager.restoreCheckpoint(checkpoint, "restore")).toMatchObject({ restoredFiles: ["a.txt"] });
  expect(["a.txt", "out/x", "out/later", "large"].map((path) => read(path))).toEqual([
    "0\n",
    "1\n",
    "1\n",
    "1\n",
  ]);
});

test("[C60] 10 MiB a file is the limit unless another is given", async () => {
  const { root, options, write } = makePlace({ a: "0\n" });
  write("fits", Buffer.alloc(10 * 1024 * 1024, 1));
  write("over", Buffer.alloc(10 * 1024 * 1024 + 1, 2));
  const manager = new CheckpointManager(root, { autoCheckpoint: false }, options);
  const { files } = await manager.createCheckpoint({ operation: "edit" });
  expect(files.map(({ relativePath }) => relativePath)).toEqual(["a", "fits"]);
});
