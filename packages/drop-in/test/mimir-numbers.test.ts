/** What Mimir's classes do without a configuration, and what they count. */
import { expect, test } from "vitest";
import { SnapshotManager, SnapshotRetentionManager, type IContextStorage } from "../src/mimir.ts";
import { makePlace } from "./support/place.ts";

const HOUR = 3_600_000;
const C = "conv-1";

/** Seven snapshots of a conversation, six of them made at the same hour and one a day later. */
async function aDayLater() {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const place = makePlace({ "a.ts": "a\n" });
  // nothing goes by itself: the test asks for it
  const config = { snapshots: { retention: { autoCleanup: false, pruneOnStartup: false } } };
  const options = { directory: place.root, ...place.options, clock: () => clock.now, config };
  const manager = new SnapshotManager(options);
  for (let count = 1; count <= 6; count += 1) await manager.createSnapshot(C, "manual", `old ${count}`);
  clock.now += 24 * HOUR - 1;
  await manager.createSnapshot(C, "manual", "new");
  const left = async () => (await manager.listSnapshots(C)).map(({ description }) => description);
  return { clock, manager, left };
}

const KEPT = ["new", "old 6", "old 5", "old 4", "old 3"];

test("[M07] [M30] [M74] [M77] without a configuration 24 hours and the last five stay", async () => {
  const { clock, manager, left } = await aDayLater();
  expect(await manager.pruneAll()).toBe(0);
  expect(await left()).toHaveLength(7);
  clock.now += 2;
  expect(await manager.pruneAll()).toBe(2);
  expect(await left()).toEqual(KEPT);
});

test("[M07] [M74] the retention manager goes by the same numbers", async () => {
  const { clock, manager, left } = await aDayLater();
  const retention = new SnapshotRetentionManager(manager);
  expect(await retention.pruneAllConversations()).toBe(0);
  clock.now += 2;
  expect(await retention.pruneAllConversations()).toBe(2);
  expect(await left()).toEqual(KEPT);
});

test("[M14] [M37] a comparison counts the messages and names the artifacts that came in between", async () => {
  const { root, options } = makePlace({ "a.ts": "a\n" });
  const talk = { messages: [{ id: "m1" }], artifacts: ["a1"] };
  const contextStorage: IContextStorage = {
    getMessages: async () => [...talk.messages],
    getArtifacts: async () => [...talk.artifacts],
  };
  const manager = new SnapshotManager({ directory: root, ...options, contextStorage });
  const from = await manager.createSnapshot(C, "manual");
  talk.messages.push({ id: "m2" }, { id: "m3" });
  talk.artifacts.push("a2");
  const to = await manager.createSnapshot(C, "manual");
  expect(to.conversation).toEqual({ messageCount: 3, lastMessageId: "m3", artifacts: ["a1", "a2"] });
  const { conversationDiff } = await manager.diff(C, from.id, to.id);
  expect(conversationDiff).toEqual({ messagesAdded: 2, artifactsAdded: ["a2"] });
  expect((await manager.diff(C, to.id, from.id)).conversationDiff).toEqual({
    messagesAdded: 0,
    artifactsAdded: [],
  });
});

test("[M16] a snapshot has the tags that it was given", async () => {
  const { root, options } = makePlace({ "a.ts": "a\n" });
  const manager = new SnapshotManager({ directory: root, ...options });
  const { id } = await manager.createSnapshot(C, "manual", "the good one");
  await manager.tagSnapshot(C, id, "release");
  expect(await manager.getSnapshot(C, id)).toMatchObject({ description: "the good one", tags: ["release"] });
});

test("[M35] an agent's activity lasts from its beginning to its end; of one that runs, until now", async () => {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const { root, options } = makePlace({ "a.ts": "a\n" });
  const manager = new SnapshotManager({ directory: root, ...options, clock: () => clock.now });
  await manager.createAgentSnapshot(C, "ag-1", { role: "thinker" });
  clock.now += 5000;
  await manager.endAgent(C, "ag-1", { status: "completed" });
  clock.now += 5000;
  await manager.createAgentSnapshot(C, "ag-2", { role: "coder" });
  clock.now += 7000;
  const { snapshots } = await manager.getTimeline(C);
  const activities = snapshots.flatMap(({ agents = [] }) => agents);
  expect(
    activities.map(({ agentId, startTime, endTime }) => [agentId, endTime.getTime() - startTime.getTime()]),
  ).toEqual([
    ["ag-2", 7000],
    ["ag-1", 5000],
  ]);
});
