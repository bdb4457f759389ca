/** The supervisor's classes: the calls of its document, and what Belay does where the original is wrong. */
import { execFileSync } from "node:child_process";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  CheckpointInterceptor,
  CheckpointManager,
  CheckpointStorage,
  RollbackEngine,
  type Checkpoint,
} from "../src/supervisor.ts";
import { makePlace } from "./support/place.ts";

const S1 = { id: "s1", messageIndex: 4 };

function supervised(files: Readonly<Record<string, string>> = { "a.ts": "x\n" }) {
  const place = makePlace(files);
  const options = { projectDir: place.root, ...place.options };
  return {
    ...place,
    manager: new CheckpointManager(options),
    engine: new RollbackEngine(options),
    supervisor: options,
  };
}

test("[Y31] [Y35] [Y36] [Y37] [Y39] a checkpoint has the document's fields; its files are those that differ from the present", async () => {
  const { manager, write, root } = supervised({ "a.ts": "x\n", "same.ts": "same\n" });
  chmodSync(join(root, "a.ts"), 0o755);
  const taken = await manager.createAutoCheckpoint(S1, {
    toolName: "Bash",
    affectedPaths: ["a.ts"],
    description: "Before Bash: npm test",
    toolUseId: "toolu_1",
  });
  write("a.ts", "y\n");
  write("new.bin", Buffer.from([0, 255]));
  const checkpoint = await manager.getCheckpoint("s1", taken!.id);
  expect(checkpoint).toEqual({
    id: expect.stringMatching(/^[k-z]{16}$/),
    sessionId: "s1",
    type: "auto",
    messageIndex: 4,
    toolUseId: "toolu_1",
    files: [
      {
        path: "a.ts",
        content: "x\n",
        encoding: "utf-8",
        mode: 0o755,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { path: "new.bin", content: null, encoding: "utf-8", mode: 0, hash: "deleted" },
    ],
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    sizeBytes: 7,
    description: "Before Bash: npm test",
    rolledBack: false,
    notCaptured: [],
  });
  expect(await manager.getCheckpoint("s1", taken!.id.slice(0, 6))).toMatchObject({ id: taken!.id });
  await expect(manager.getCheckpoint("s2", taken!.id)).rejects.toMatchObject({
    code: "CHECKPOINT_NOT_FOUND",
  });
  await expect(manager.getCheckpoint("s1", "nothing")).rejects.toMatchObject({
    code: "CHECKPOINT_NOT_FOUND",
  });
});

test("[Y31] [Y42] manual checkpoints, annotations, lists without contents, deletion", async () => {
  const { manager, write, look } = supervised();
  expect(await manager.listCheckpoints("s1")).toEqual([]);
  const first = await manager.createManualCheckpoint(S1, { name: "good", annotation: "before the refactor" });
  expect(first).toMatchObject({ type: "manual", name: "good", annotation: "before the refactor" });
  write("a.ts", "y\n");
  await manager.createAutoCheckpoint(S1, {
    toolName: "Edit",
    affectedPaths: ["a.ts"],
    description: "Before Edit: a.ts",
  });
  const listed = await manager.listCheckpoints("s1");
  expect(listed.map(({ type }) => type)).toEqual(["manual", "auto"]);
  expect(Object.getOwnPropertyDescriptor(listed[0], "files")?.get).toBeTypeOf("function");
  await manager.updateAnnotation("s1", first.id, { annotation: "after all" });
  expect(await manager.getCheckpoint("s1", first.id)).toMatchObject({
    name: "good",
    annotation: "after all",
  });
  await manager.deleteCheckpoint("s1", first.id);
  expect((await manager.listCheckpoints("s1")).map(({ type }) => type)).toEqual(["auto"]);
  expect(look((workspace) => workspace.list().length)).toBeGreaterThan(1);
});

test("[Y06] automatic checkpoints can be off, and the fifty-first manual one is refused", async () => {
  const { supervisor } = supervised();
  const manager = new CheckpointManager({ ...supervisor, autoCheckpoint: false });
  expect(
    await manager.createAutoCheckpoint(S1, { toolName: "Bash", affectedPaths: [], description: "x" }),
  ).toBeNull();
  for (let count = 0; count < 50; count += 1) await manager.createManualCheckpoint(S1);
  await expect(manager.createManualCheckpoint(S1)).rejects.toMatchObject({
    code: "LIMIT_REACHED",
    facts: { limit: 50 },
  });
  await manager.createManualCheckpoint({ id: "s2" });
});

test("[Y38] [Y51] git's state is recorded, and a plan warns of uncommitted changes in the document's words", async () => {
  const { manager, engine, root, write } = supervised();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: root,
      encoding: "utf8",
    });
  git("init", "-q", "-b", "main");
  git("add", "a.ts");
  git("commit", "-qm", "one");
  write("b.ts", "b\n");
  git("add", "b.ts");
  const taken = await manager.createManualCheckpoint(S1);
  expect(taken.git).toEqual({
    branch: "main",
    commitHash: git("rev-parse", "HEAD").trim(),
    hasUncommittedChanges: true,
    stagedFiles: ["b.ts"],
  });
  write("a.ts", "y\n");
  const { warnings } = await engine.createRollbackPlan(S1, taken);
  expect(warnings).toContain("You have uncommitted git changes that may conflict with rollback");
});

test("[R354] [Y33] [Y40] [Y41] [Y50] original 10: a plan looks at the whole tree: files that a command made are deleted, whatever the checkpoint named", async () => {
  const { manager, engine, write, remove, read, exists } = supervised({ "a.ts": "x\n", "gone.ts": "gone\n" });
  const taken = await manager.createAutoCheckpoint(S1, {
    toolName: "Edit",
    affectedPaths: ["a.ts"],
    description: "Before Edit",
  });
  write("a.ts", "y\n");
  write("new.ts", "new\n");
  remove("gone.ts");
  const plan = await engine.createRollbackPlan(S1, taken!);
  expect(plan).toMatchObject({
    checkpointId: taken!.id,
    operations: [
      { type: "restore", path: "a.ts", content: "x\n", fromContent: "y\n" },
      { type: "create", path: "gone.ts", content: "gone\n" },
      { type: "delete", path: "new.ts", fromContent: "new\n" },
    ],
    affectedFiles: ["a.ts", "gone.ts", "new.ts"],
    planId: expect.any(String),
    kept: [],
    conflicts: [],
  });
  expect(await engine.verify(plan)).toEqual({
    ok: false,
    problems: ["a.ts differs from the checkpoint", "gone.ts is missing", "new.ts is still there"],
  });
  // [Y33] a plan that went through JSON is carried out while the process lives
  await engine.executeRollback(JSON.parse(JSON.stringify(plan)));
  expect([read("a.ts"), read("gone.ts"), exists("new.ts")]).toEqual(["x\n", "gone\n", false]);
  expect(await engine.verify(plan)).toEqual({ ok: true, problems: [] });
  await expect(engine.executeRollback(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
});

test("[Y52] a rollback that cannot be carried out as it was shown changes nothing and says so; one that was can be undone", async () => {
  const { manager, engine, write, read, lines, look } = supervised({ "a.ts": "x\n", "b.ts": "x\n" });
  const taken = await manager.createManualCheckpoint(S1);
  write("a.ts", "y\n");
  const plan = await engine.createRollbackPlan(S1, taken);
  write("a.ts", "z\n");
  await expect(engine.executeRollback(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
  expect(read("a.ts")).toBe("z\n");
  expect(lines.at(-1)).toMatchObject({ level: "error", event: "rollback_failed", checkpoint: taken.id });
  await engine.executeRollback(await engine.createRollbackPlan(S1, taken));
  expect(read("a.ts")).toBe("x\n");
  look((workspace) => workspace.undo());
  expect(read("a.ts")).toBe("z\n");
});

test("[R354] [Y28] [Y46] [Y47] [Y48] [Y49] original 12: what a command changes is captured, whatever its text says, and can be undone", async () => {
  const { manager, write, exists, read, look } = supervised();
  const interceptor = new CheckpointInterceptor(manager);
  await interceptor.beforeToolExecution(S1, "Read", { file_path: "a.ts" });
  expect(await manager.listCheckpoints("s1")).toEqual([]);
  await interceptor.beforeToolExecution(S1, "Bash", { command: "node build.js  &&\n ls" });
  write("made/by-a-script.txt", "x\n");
  await interceptor.afterToolExecution(S1, "Bash", { command: "node build.js" });
  await interceptor.beforeToolExecution(S1, "Write", { file_path: join(manager.root.directory, "a.ts") });
  write("a.ts", "y\n");
  await interceptor.afterToolExecution(S1, "Write", {});
  await interceptor.beforeToolExecution(S1, "NotebookEdit", { notebook_path: "n.ipynb" });
  const listed = await manager.listCheckpoints("s1");
  expect(listed.map(({ description }) => description)).toEqual([
    "Before Bash: node build.js && ls",
    expect.stringMatching(/^Before Write: .*a\.ts$/),
    "Before NotebookEdit: n.ipynb",
  ]);
  expect(listed[0]!.files.map(({ path, content }) => [path, content])).toEqual([
    ["a.ts", "x\n"],
    ["made/by-a-script.txt", null],
  ]);
  look((workspace) => workspace.undo());
  expect([read("a.ts"), exists("made/by-a-script.txt")]).toEqual(["x\n", false]);
});

test("[R354] [Y43] [Y44] original 11: contents that a caller stores come back, bytes included; absent is not the same as not captured", async () => {
  const { supervisor, write, read, exists, engine, manager } = supervised({
    "a.ts": "now\n",
    "new.ts": "n\n",
    "other.ts": "o\n",
  });
  const storage = new CheckpointStorage("s1", supervisor);
  const stored: Checkpoint = {
    id: "cp-1",
    sessionId: "s1",
    type: "manual",
    name: "mine",
    messageIndex: 2,
    files: [
      { path: "a.ts", content: "x\n", encoding: "utf-8", mode: 0o755, hash: "" },
      {
        path: "logo.bin",
        content: Buffer.from([0, 254]).toString("base64"),
        encoding: "base64",
        mode: 0o644,
        hash: "",
      },
      { path: "new.ts", content: null, encoding: "utf-8", mode: 0, hash: "deleted" },
      { path: "never.ts", content: null, encoding: "utf-8", mode: 0, hash: "deleted" },
    ],
    createdAt: "2026-05-01T10:00:00.000Z",
    sizeBytes: 4,
  };
  await storage.storeCheckpoint(stored);
  await storage.storeCheckpoint(stored);
  const loaded = await storage.loadCheckpoint("cp-1");
  expect(loaded).toMatchObject({
    type: "manual",
    name: "mine",
    messageIndex: 2,
    createdAt: stored.createdAt,
  });
  expect(loaded.files.map(({ path, content, encoding }) => ({ path, content, encoding }))).toEqual(
    stored.files.map(({ path, content, encoding }) => ({ path, content, encoding })),
  );
  expect(await manager.listCheckpoints("s1")).toHaveLength(1);
  write("made-later.ts", "later\n");
  await engine.executeRollback(await engine.createRollbackPlan(S1, loaded));
  expect([read("a.ts"), exists("new.ts"), read("other.ts"), read("made-later.ts")]).toEqual([
    "x\n",
    false,
    "o\n",
    "later\n",
  ]);
  expect(statSync(join(supervisor.projectDir, "a.ts")).mode & 0o777).toBe(0o755);
  await expect(storage.loadCheckpoint("cp-2")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  await expect(
    storage.storeCheckpoint({ ...stored, id: "cp-3", files: [{ ...stored.files[0]!, path: "/etc/passwd" }] }),
  ).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
});

test("[Y45] pruning drops old checkpoints before tools; manual ones and the newest stay", async () => {
  let now = Date.now() - 10 * 86_400_000;
  const place = makePlace({ "a.ts": "x\n" });
  const options = { projectDir: place.root, ...place.options, clock: () => now };
  const manager = new CheckpointManager(options);
  const about = { toolName: "Edit", affectedPaths: [], description: "Before Edit" };
  await manager.createManualCheckpoint(S1, { name: "kept" });
  for (let count = 0; count < 4; count += 1) await manager.createAutoCheckpoint(S1, about);
  now = Date.now();
  await manager.createAutoCheckpoint(S1, about);
  expect(await manager.prune(7 * 86_400_000, 2)).toBe(3);
  expect((await manager.listCheckpoints("s1")).map(({ type }) => type)).toEqual(["manual", "auto", "auto"]);
  await new CheckpointStorage("s1", options).pruneOldCheckpoints(0, 1);
  expect((await manager.listCheckpoints("s1")).map(({ type }) => type)).toEqual(["manual", "auto"]);
  place.look((workspace) => expect(workspace.upkeep.unprune()).toHaveLength(4));
});

test("[Y32] [Y43] a comparison of two checkpoints, and of one with the disk", async () => {
  const { manager, write } = supervised();
  const first = await manager.createManualCheckpoint(S1);
  write("a.ts", "y\n");
  const second = await manager.createManualCheckpoint(S1);
  write("a.ts", "z\n");
  const between = await manager.diff("s1", first.id, second.id);
  expect(between.files).toMatchObject([{ path: "a.ts", type: "modified", linesAdded: 1, linesDeleted: 1 }]);
  expect((await manager.diff("s1", first.id)).files[0]!.diff).toContain("+z");
});
