/** Mimir's retention, on a clock that the test moves. */
import { expect, test } from "vitest";
import { SnapshotManager, SnapshotRetentionManager, type MimirConfig } from "../src/mimir.ts";
import { makePlace } from "./support/place.ts";

const HOUR = 3_600_000;

function onClock(config: MimirConfig = {}) {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const place = makePlace({ "a.ts": "a\n" });
  const make = () =>
    new SnapshotManager({ directory: place.root, ...place.options, clock: () => clock.now, config });
  return { clock, make, manager: make(), look: place.look };
}

const OFF = { snapshots: { retention: { autoCleanup: false, pruneOnStartup: false } } };

test("[M07] [M29] [M74] [M77] newest first: the first five stay, of the rest those of the last day; tagged ones stay", async () => {
  const { clock, manager, look } = onClock(OFF);
  const oldest = await manager.createSnapshot("c", "manual", "oldest");
  for (let count = 1; count <= 6; count += 1) await manager.createSnapshot("c", "manual", `old ${count}`);
  await manager.tagSnapshot("c", oldest.id, "pinned");
  clock.now += 25 * HOUR;
  await manager.createSnapshot("c", "manual", "new");
  expect(await manager.prune("c", { keepForHours: 24, keepMinimum: 5 })).toBe(2);
  expect((await manager.listSnapshots("c")).map(({ description }) => description)).toEqual([
    "new",
    "old 6",
    "old 5",
    "old 4",
    "old 3",
    "oldest",
  ]);
  expect(look((workspace) => workspace.upkeep.unprune())).toHaveLength(2);
});

test("[M30] [M76] all conversations are pruned before the first call of a new process", async () => {
  const { clock, make, manager } = onClock({
    snapshots: { retention: { perConversation: { keepMinimum: 1 } } },
  });
  for (const conversation of ["a", "b"])
    for (const name of ["1", "2"]) await manager.createSnapshot(conversation, "manual", name);
  clock.now += 25 * HOUR;
  const next = make();
  await next.createSnapshot("c", "manual");
  expect((await next.listSnapshots("a")).map(({ description }) => description)).toEqual(["2"]);
  expect((await next.listSnapshots("b")).map(({ description }) => description)).toEqual(["2"]);
});

test("[M75] a conversation is pruned when it is first used, unless that is off", async () => {
  const { clock, make, manager, look } = onClock({
    snapshots: { retention: { perConversation: { keepMinimum: 1 }, pruneOnStartup: false } },
  });
  for (const name of ["1", "2"]) await manager.createSnapshot("a", "manual", name);
  clock.now += 25 * HOUR;
  const next = make();
  await next.createSnapshot("b", "manual");
  expect(look((workspace) => workspace.list({ kind: "manual" }))).toHaveLength(3);
  await next.createSnapshot("a", "manual", "3");
  expect((await next.listSnapshots("a")).map(({ description }) => description)).toEqual(["3", "2"]);
});

test("[M74] the retention manager goes by its configuration, and a wrong type names its key", async () => {
  const { clock, manager } = onClock(OFF);
  for (const name of ["1", "2", "3"]) await manager.createSnapshot("a", "manual", name);
  clock.now += 2 * HOUR;
  const retention = new SnapshotRetentionManager(manager, {
    snapshots: { retention: { perConversation: { keepForHours: 1, keepMinimum: 1 } } },
  });
  expect(await retention.pruneConversation("a", { keepForHours: 3, keepMinimum: 0 })).toBe(0);
  expect(await retention.pruneAllConversations()).toBe(2);
  const wrong = { snapshots: { retention: { perConversation: { keepForHours: "24" as never } } } };
  expect(() => new SnapshotManager({ config: wrong })).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      facts: expect.objectContaining({ key: "snapshots.retention.perConversation.keepForHours" }),
    }),
  );
});

test.each([
  ["listSnapshots", (manager: SnapshotManager) => manager.listSnapshots("a")],
  ["getTimeline", (manager: SnapshotManager) => manager.getTimeline("a")],
  ["getSnapshot", (manager: SnapshotManager) => manager.getSnapshot("a", "snap-kkkk").catch(() => null)],
])("[M75] [M76] %s is a first use as well, of all conversations or of its own", async (_, use) => {
  for (const [pruneOnStartup, left] of [
    [true, 2],
    [false, 3],
  ] as const) {
    const { clock, make, manager, look } = onClock({
      snapshots: { retention: { perConversation: { keepMinimum: 1 }, pruneOnStartup } },
    });
    for (const conversation of ["a", "b"])
      for (const name of ["1", "2"]) await manager.createSnapshot(conversation, "manual", name);
    clock.now += 25 * HOUR;
    await use(make());
    expect(look((workspace) => workspace.list({ kind: "manual" }))).toHaveLength(left);
  }
});

test("[M29] [M30] to prune as the first call says how many went", async () => {
  const { clock, make, manager } = onClock({
    snapshots: { retention: { perConversation: { keepMinimum: 1 } } },
  });
  for (const name of ["1", "2", "3"]) await manager.createSnapshot("a", "manual", name);
  clock.now += 25 * HOUR;
  expect(await make().pruneAll()).toBe(2);
});
