/** Code Buddy's checkpoints that outlive the process, in the store that every front shares. */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VersioningTracker } from "../src/agentsmithy.ts";
import {
  CheckpointManager,
  getPersistentCheckpointManager,
  PersistentCheckpointManager,
  resetPersistentCheckpointManager,
} from "../src/code-buddy.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

function manage(files: Readonly<Record<string, string>> = { a: "0\n" }) {
  const place = makePlace(files);
  place.enter();
  return { ...place, manager: new PersistentCheckpointManager({}, place.options) };
}

test("[C16] [C20] [C21] the first checkpoint protects the project; a restore is exact and can be undone", () => {
  const { manager, root, read, write, exists, lines, look } = manage();
  expect([manager.getCheckpoints(), manager.getHistoryDir()]).toEqual([[], ""]);
  expect(lines).toEqual([]);
  const checkpoint = manager.createCheckpoint("Before attempting complex refactor");
  expect(lines).toMatchObject([
    { event: "root_guessed", root },
    { event: "protected", root },
  ]);
  expect(checkpoint).toMatchObject({
    description: "Before attempting complex refactor",
    projectHash: hash("sha256", root, "hex").slice(0, 16),
    workingDirectory: root,
    files: [{ path: join(root, "a"), content: "0\n", existed: true }],
  });
  write("a", "1\n");
  write("b", "new\n");
  expect(manager.restore(checkpoint.id)).toMatchObject({
    success: true,
    restored: [join(root, "a"), `Deleted: ${join(root, "b")}`],
    checkpoint: { description: "Before attempting complex refactor" },
  });
  expect([read("a"), exists("b")]).toEqual(["0\n", false]);
  look((workspace) => workspace.undo());
  expect([read("a"), read("b")]).toEqual(["1\n", "new\n"]);
});

test("[C17] [C18] [C22] [C23] another process sees the same checkpoints in their order, and restores them", () => {
  const { manager, root, home, write, read } = manage();
  manager.createCheckpoint("first");
  write("a", "1\n");
  manager.checkpointBeforeEdit("a");
  write("a", "2\n");
  closeDropIn();
  const script = `
    const { PersistentCheckpointManager } = await import(${JSON.stringify(join(import.meta.dirname, "../dist/code-buddy.js"))});
    const manager = new PersistentCheckpointManager({}, { home: ${JSON.stringify(home)} });
    console.log(JSON.stringify([manager.getCheckpoints().map(({ description }) => description), manager.restoreLast().restored]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: root,
    encoding: "utf8",
    timeout: 30_000,
  });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual([["first", "Before editing: a"], [join(root, "a")]]);
  expect(read("a")).toBe("1\n");
  expect(manager.getCheckpoints().map(({ description }) => description)).toEqual([
    "first",
    "Before editing: a",
  ]);
});

test("[C25] at most so many: the oldest go, checkpoints of others stay; statistics", () => {
  const { options, root, enter } = makePlace({ a: "0\n" });
  enter();
  const manager = new PersistentCheckpointManager({ maxCheckpoints: 3 }, options);
  const other = new VersioningTracker(root, "other", options).create_checkpoint("of another front");
  for (const name of ["1", "2", "3", "4", "5"]) manager.createCheckpoint(name, ["a"]);
  expect(manager.getCheckpoints().map(({ description }) => description)).toEqual(["3", "4", "5"]);
  expect(new VersioningTracker(root, "other", options).list_checkpoints()).toEqual([other]);
  const stats = manager.getStats();
  expect(stats).toMatchObject({ count: 3, totalFiles: 3, storagePath: manager.getHistoryDir() });
  expect(stats.storageSize).toBeGreaterThan(0);
  expect(stats.newestTimestamp!.getTime()).toBeGreaterThanOrEqual(stats.oldestTimestamp!.getTime());
});

test("[C24] clearing drops what Code Buddy made, for a day restorable, and nothing else", () => {
  const { manager, look, write, root, options } = manage();
  const [first] = [manager.createCheckpoint("one"), manager.createCheckpoint("two")];
  const other = new VersioningTracker(root, "other", options).create_checkpoint("of another front");
  const cleared: string[] = [];
  manager.on("checkpoints-cleared", () => cleared.push("cleared"));
  expect([manager.deleteCheckpoint(first.id), manager.deleteCheckpoint(first.id)]).toEqual([true, false]);
  manager.clearCheckpoints();
  expect([manager.getCheckpoints(), cleared]).toEqual([[], ["cleared"]]);
  const left = look((workspace) => workspace.list().map(({ description }) => description));
  expect(left).toEqual([
    "of another front",
    expect.stringMatching(/^Initial snapshot before dialog/),
    "Initial checkpoint",
  ]);
  expect(new VersioningTracker(root, "other", options).list_checkpoints()).toEqual([other]);
  write("a", "1\n");
  expect(manager.restoreLast()).toEqual({
    success: false,
    restored: [],
    errors: ["No checkpoints available"],
  });
  expect(manager.restore(first.id)).toMatchObject({
    success: false,
    errors: [`Checkpoint not found: ${first.id}`],
  });
  look((workspace) => workspace.upkeep.unprune());
  expect(manager.getCheckpoints().map(({ description }) => description)).toEqual(["one", "two"]);
});

test("[C19] [C23] a list of checkpoints reads no content until it is looked at", () => {
  const { manager, write } = manage();
  for (const text of ["1\n", "2\n", "3\n"]) {
    write("a", text);
    manager.createCheckpoint(text.trim());
  }
  const [one, , three] = manager.getCheckpoints();
  const files = Object.getOwnPropertyDescriptor(one, "files");
  expect(files?.get).toBeDefined();
  expect([one!.files[0]!.content, three!.files[0]!.content]).toEqual(["1\n", "3\n"]);
  expect(one!.files[0]!.hash).toBe(hash("sha256", "1\n", "hex").slice(0, 16));
  expect(JSON.parse(JSON.stringify(one)).files[0]).toMatchObject({ content: "1\n", existed: true });
});

test("[R354] [C26] [C55] original 29: what the session's manager makes in a protected project, the persistent one and the others see", () => {
  const { manager, root, options, read, write, look } = manage();
  manager.createCheckpoint("protects");
  const session = new CheckpointManager({}, options);
  const checkpoint = session.checkpointBeforeEdit("a");
  write("a", "1\n");
  expect(manager.getCheckpoints().map(({ id }) => id)).toContain(checkpoint.id);
  expect(look((workspace) => workspace.list().map(({ description }) => description))).toContain(
    "Before editing: a",
  );
  expect(manager.restoreLast()).toMatchObject({ success: true, restored: [join(root, "a")] });
  look((workspace) => workspace.undo());
  expect(read("a")).toBe("1\n");
  expect(session.rewindToLast().success).toBe(true);
  expect(read("a")).toBe("0\n");
});

test("[C16] [C54] a history directory of its own keeps stores apart; one manager a process", () => {
  const { root, options, enter } = makePlace({ a: "0\n" });
  enter();
  const historyDir = join(root, "..", "history");
  const manager = getPersistentCheckpointManager({ historyDir }, options);
  expect(getPersistentCheckpointManager()).toBe(manager);
  manager.createCheckpoint("here");
  expect(manager.getHistoryDir()).toContain(join(historyDir, ".belay"));
  expect(manager.formatCheckpointList()).toMatch(
    /^Checkpoints \(persistent\):\n─+\n1\. \[[k-z]{8}\] .* - here \(1 file\)\n/,
  );
  expect(manager.formatCheckpointList().split("\n").at(-1)).toBe(`Storage: ${manager.getHistoryDir()}`);
  expect(new PersistentCheckpointManager({}, options).getCheckpoints()).toEqual([]);
  expect([
    manager.isAutoCheckpointEnabled(),
    manager.getCheckpoint("x"),
    manager.getRecentCheckpoints().length,
  ]).toEqual([true, null, 1]);
  manager.setAutoCheckpoint(false);
  expect(manager.isAutoCheckpointEnabled()).toBe(false);
  resetPersistentCheckpointManager();
});
