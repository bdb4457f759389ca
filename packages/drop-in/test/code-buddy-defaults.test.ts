/** The numbers and words that Code Buddy's managers have without being told. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  CheckpointManager,
  CheckpointVersioning,
  GhostSnapshotManager,
  PersistentCheckpointManager,
} from "../src/code-buddy.ts";
import { makePlace } from "./support/place.ts";

function inPlace(files: Readonly<Record<string, string>> = { a: "0\n" }) {
  const place = makePlace(files);
  place.enter();
  return place;
}

function numbers(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}

test("[C04] [C11] [C14] a session keeps 50 checkpoints, shows the last 10 of them, and takes them by itself", () => {
  const manager = new CheckpointManager({}, inPlace().options);
  for (const name of numbers(1, 51)) manager.createCheckpoint(name, ["a"]);
  const described = (list: { description: string }[]) => list.map(({ description }) => description);
  expect(described(manager.getCheckpoints())).toEqual(numbers(2, 51));
  expect(described(manager.getRecentCheckpoints())).toEqual(numbers(42, 51));
  expect(manager.isAutoCheckpointEnabled()).toBe(true);
});

test("[C25] a project keeps 100 checkpoints, shows the last 10 of them, and takes them by itself", () => {
  const manager = new PersistentCheckpointManager({}, inPlace().options);
  for (const name of numbers(1, 101)) manager.createCheckpoint(name, ["a"]);
  expect(manager.getCheckpoints().map(({ description }) => description)).toEqual(numbers(2, 101));
  expect(manager.getRecentCheckpoints().map(({ description }) => description)).toEqual(numbers(92, 101));
  expect([manager.isAutoCheckpointEnabled(), manager.getStats().count]).toEqual([true, 100]);
});

test.each([CheckpointManager, PersistentCheckpointManager])(
  "[C07] [C08] %o says what the file is saved for",
  (Manager) => {
    const { root, options } = inPlace();
    const manager = new Manager({}, options);
    expect(manager.checkpointBeforeEdit("deep/a.ts").description).toBe("Before editing: a.ts");
    expect(manager.checkpointBeforeCreate("deep/b.ts")).toMatchObject({
      description: "Before creating: b.ts",
      files: [{ path: join(root, "deep/b.ts"), content: "", existed: false }],
    });
    expect(manager.checkpointBeforeCreate("c.ts", "my words").description).toBe("my words");
  },
);

test("[C48] [C50] a branch keeps 100 versions and shows the last 50 of them", () => {
  const { options } = inPlace();
  const checkpoint = new PersistentCheckpointManager({}, options).createCheckpoint("the only state");
  const versioning = new CheckpointVersioning({ autoSave: false }, options);
  for (const name of numbers(1, 101)) versioning.createVersion(checkpoint, { name });
  expect(versioning.getStats().totalVersions).toBe(100);
  const shown = versioning.getVersionHistory().map(({ name }) => name);
  expect(shown).toEqual(numbers(52, 101).toReversed());
  expect(versioning.getVersionHistory({ limit: 1000 }).at(-1)).toMatchObject({ name: "2", parentId: null });
});

test("[C40] a version knows who made it, in which session and with which tool", () => {
  const { options } = inPlace();
  const checkpoint = new PersistentCheckpointManager({}, options).createCheckpoint("state");
  const versioning = new CheckpointVersioning({}, options);
  const metadata = { sessionId: "s1", toolName: "str_replace", custom: { ticket: 7 } };
  const { id } = versioning.createVersion(checkpoint, { metadata });
  expect(versioning.getVersion(id)!.metadata).toEqual({
    author: expect.stringMatching(/./),
    tags: [],
    ...metadata,
  });
});

test("[C36] fifty ghosts are kept, and as many refs", async () => {
  const { root, options, write } = inPlace();
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", timeout: 20_000 }).trim();
  git("init", "-q");
  const manager = new GhostSnapshotManager(root, options);
  await manager.initialize();
  for (const name of numbers(1, 52)) {
    write("a", `${name}\n`);
    await manager.createSnapshot(name);
  }
  expect(manager.listSnapshots().map(({ description }) => description)).toEqual(numbers(3, 52));
  expect(git("for-each-ref", "refs/belay/ghost").split("\n")).toHaveLength(50);
});
