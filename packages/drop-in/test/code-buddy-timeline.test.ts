/** Code Buddy's timeline of a session. */
import { expect, test } from "vitest";
import { CheckpointManager, PersistentCheckpointManager } from "../src/code-buddy.ts";
import { SessionTimeline } from "../src/code-buddy-timeline.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

test("[C63] turns with their words, tools, files and checkpoints, from the thread", async () => {
  const { root, options, write, look } = makePlace({ a: "0\n" });
  const timeline = new SessionTimeline("s1", { directory: root, ...options });
  expect(await timeline.list("s1")).toEqual([]);
  const ts = "2026-01-01T00:00:00Z";
  await timeline.record({
    turn: 1,
    ts,
    role: "user",
    textPreview: `change it ${"x".repeat(500)}`,
    toolCalls: [],
    filesTouched: [],
  });
  write("a", "1\n");
  const toolCalls = [{ name: "str_replace", ok: true }];
  await timeline.record({
    turn: 1,
    ts,
    role: "assistant",
    textPreview: "Done.",
    toolCalls,
    filesTouched: ["a"],
  });
  await timeline.record({
    turn: 2,
    ts,
    role: "user",
    textPreview: "and now?",
    toolCalls: [],
    filesTouched: [],
  });
  closeDropIn();
  const [first, answer, second] = await timeline.list("s1");
  expect(first).toMatchObject({
    turn: 1,
    ts,
    role: "user",
    filesTouched: ["a"],
    checkpointId: expect.any(String),
  });
  expect(Array.from(first!.textPreview)).toHaveLength(400);
  expect(answer).toMatchObject({
    turn: 1,
    role: "assistant",
    textPreview: "Done.",
    toolCalls,
    filesTouched: ["a"],
  });
  expect(await timeline.get("s1", 2)).toEqual(second);
  expect(await timeline.get("s1", 9)).toBeUndefined();
  expect(look((workspace) => workspace.resolve(first!.checkpointId!).kind)).toBe("message");
  look((workspace) => workspace.undo());
  expect(await timeline.list("s1")).toHaveLength(3);
});

test("[C63] [R353] an entry keeps the id that a manager gave its checkpoint, also one whose store dies with the process", async () => {
  const place = makePlace({ a: "0\n" });
  place.enter();
  const fleeting = new CheckpointManager({}, place.options).checkpointBeforeEdit("a").id;
  const { id } = new PersistentCheckpointManager({}, place.options).createCheckpoint("before");
  const timeline = new SessionTimeline("s1", { directory: place.root, ...place.options });
  const entry = { turn: 1, ts: "2026-01-01T00:00:00Z", textPreview: "x", toolCalls: [], filesTouched: [] };
  await timeline.record({ ...entry, role: "user", checkpointId: id });
  await timeline.record({ ...entry, role: "assistant", checkpointId: fleeting });
  const listed = await timeline.list("s1");
  expect(listed.map(({ checkpointId }) => checkpointId)).toEqual([id, fleeting]);
  await timeline.record({ ...entry, turn: 2, role: "user", checkpointId: fleeting });
  expect((await timeline.get("s1", 2))?.checkpointId).toBe(fleeting);
  await timeline.record({ ...entry, turn: 3, role: "user" });
  expect((await timeline.get("s1", 3))?.checkpointId).toMatch(/^[k-z]{16}$/);
});
