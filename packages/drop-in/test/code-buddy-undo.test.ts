/** Code Buddy's undo and redo, which are the engine's. */
import { expect, onTestFinished, test, vi } from "vitest";
import { CheckpointManager, createCheckpointManager, type CheckpointConfig } from "../src/code-buddy-undo.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

function manage(config: Partial<CheckpointConfig> = { autoCheckpoint: false }) {
  const place = makePlace({ a: "0\n" });
  const manager = createCheckpointManager(place.root, config, place.options);
  const events: string[] = [];
  for (const name of [
    "checkpoint:created",
    "checkpoint:deleted",
    "undo:noop",
    "redo:noop",
    "undo:complete",
    "redo:complete",
    "restore:complete",
  ])
    manager.on(name, () => events.push(name));
  onTestFinished(() => manager.dispose());
  return { ...place, manager, events };
}

test("[C60] one step each way, the last one's result too; hand edits elsewhere stay; also after a restart", async () => {
  const { manager, root, options, read, write, exists, events } = manage();
  expect([await manager.undo(), await manager.redo()]).toEqual([null, null]);
  const first = await manager.createCheckpoint({ name: "one", operation: "edit", tool: "str_replace" });
  write("a", "1\n");
  const second = await manager.createCheckpoint({ operation: "create", description: "a new file" });
  expect(second).toMatchObject({ name: "Checkpoint 2", description: "a new file", parentId: first.id });
  write("b", "new\n");
  expect([manager.canUndo(), manager.canRedo()]).toEqual([true, false]);
  expect(await manager.undo()).toMatchObject({
    success: true,
    checkpoint: { id: second.id },
    restoredFiles: ["b"],
  });
  expect([read("a"), exists("b")]).toEqual(["1\n", false]);
  closeDropIn();
  const again = new CheckpointManager(root, { autoCheckpoint: false }, options);
  expect(again.getCurrentCheckpoint()).toMatchObject({ name: "one" });
  expect(await again.undo()).toMatchObject({
    success: true,
    checkpoint: { id: first.id },
    restoredFiles: ["a"],
  });
  expect(read("a")).toBe("0\n");
  expect(await again.redo()).toMatchObject({ success: true, checkpoint: { id: first.id } });
  expect(await again.redo()).toMatchObject({ success: true, checkpoint: { id: second.id } });
  expect([read("a"), read("b"), again.canRedo()]).toEqual(["1\n", "new\n", false]);
  expect(events).toEqual([
    "undo:noop",
    "redo:noop",
    "checkpoint:created",
    "checkpoint:created",
    "undo:complete",
  ]);
});

test("[C60] names, tags, search, comparison, restore, deletion, the most there may be", async () => {
  const { manager, write, read, events } = manage({ autoCheckpoint: false, maxCheckpoints: 3 });
  const first = await manager.createCheckpoint({ name: "one", operation: "edit", tags: ["start"] });
  write("a", "1\n");
  const second = await manager.createCheckpoint({ operation: "edit" });
  expect(first).toMatchObject({ tags: ["start"], metadata: { operation: "edit", automatic: false } });
  expect(first.files).toMatchObject([{ relativePath: "a", size: 2, mode: 0o644 }]);
  await manager.renameCheckpoint(second.id, "the second");
  await manager.tagCheckpoint(second.id, "later");
  expect(manager.searchCheckpoints("SECOND")).toMatchObject([{ id: second.id, tags: ["later"] }]);
  expect(await manager.getDiff(first.id, second.id)).toMatchObject([
    {
      path: "a",
      type: "modified",
      oldContent: "0\n",
      newContent: "1\n",
      diff: expect.stringContaining("+1"),
    },
  ]);
  await expect(manager.getDiff(first.id, "x")).rejects.toThrow("Checkpoint not found");
  write("a", "2\n");
  expect(await manager.restoreCheckpoint(second, "restore")).toMatchObject({
    success: true,
    restoredFiles: ["a"],
  });
  expect([read("a"), events.at(-1)]).toEqual(["1\n", "restore:complete"]);
  for (const name of ["3", "4"]) await manager.createCheckpoint({ name, operation: "edit" });
  expect(manager.getCheckpoints().map(({ name }) => name)).toEqual(["the second", "3", "4"]);
  await manager.deleteCheckpoint(second.id);
  expect([manager.getCheckpoint(second.id), events.at(-1)]).toEqual([undefined, "checkpoint:deleted"]);
  expect(manager.formatStatus()).toMatch(/^Checkpoints: 2\nCurrent: 4 \([k-z]{8}\)\nUndo: \w+, redo: no$/);
});

test("[C26] [C60] one timer a directory and process; it records nothing while nothing changed", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { manager, root, options, write } = manage({ autoCheckpointInterval: 1000 });
  const other = new CheckpointManager(root, { autoCheckpointInterval: 1000 }, options);
  await manager.createCheckpoint({ name: "first", operation: "edit" });
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(5000);
  expect(manager.getCheckpoints()).toHaveLength(1);
  write("a", "1\n");
  vi.advanceTimersByTime(1000);
  expect(manager.getCheckpoints()).toMatchObject([
    { name: "first" },
    { metadata: { automatic: true, operation: "auto" } },
  ]);
  vi.advanceTimersByTime(5000);
  expect(manager.getCheckpoints()).toHaveLength(2);
  other.dispose();
  manager.dispose();
  expect(vi.getTimerCount()).toBe(0);
});

test("[C60] switched off; operations before which a checkpoint should be taken", async () => {
  const { manager } = manage({ enabled: false });
  await expect(manager.createCheckpoint({ operation: "edit" })).rejects.toThrow("Checkpoints are disabled");
  expect(manager.shouldAutoCheckpoint("delete file")).toBe(false);
  const on = manage().manager;
  expect(["delete file", "read file"].map((operation) => on.shouldAutoCheckpoint(operation))).toEqual([
    true,
    false,
  ]);
});
