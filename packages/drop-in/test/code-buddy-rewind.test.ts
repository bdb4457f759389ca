/** Code Buddy's rewind modes, carried out. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { PersistentCheckpointManager } from "../src/code-buddy.ts";
import { RewindManager } from "../src/code-buddy-rewind.ts";
import { makePlace } from "./support/place.ts";

test("[C62] conversation, code, full and fork are all real", () => {
  const { root, options, enter, write, read, look } = makePlace({ a: "0\n" });
  enter();
  const checkpoint = new PersistentCheckpointManager({}, options).createCheckpoint("turn 1");
  const manager = new RewindManager(options);
  const conversation = { messages: ["hello"], turnIndex: 1 };
  const point = manager.createRewindPoint(conversation, { checkpointId: checkpoint.id, files: new Map() });
  expect(point).toBe("rw-1");
  expect(manager.getLatestPoint()).toMatchObject({
    id: "rw-1",
    turnIndex: 1,
    messages: ["hello"],
    description: "Turn 1",
  });
  write("a", "1\n");
  write("b", "new\n");
  expect(manager.rewind(point, "conversation")).toEqual({
    success: true,
    mode: "conversation",
    restoredTurn: 1,
  });
  expect(read("a")).toBe("1\n");
  expect(manager.rewind(point, "fork")).toEqual({
    success: true,
    mode: "fork",
    branchId: "rw-1-1",
    restoredTurn: 1,
  });
  expect(look((workspace) => workspace.branches().map(({ name }) => name))).toEqual(["main", "rw-1-1"]);
  expect(read("a")).toBe("1\n");
  const restoredFiles = [join(root, "a"), `Deleted: ${join(root, "b")}`];
  expect(manager.rewind(point, "code")).toEqual({ success: true, mode: "code", restoredFiles });
  write("a", "2\n");
  expect(manager.rewind(point, "full")).toEqual({
    success: true,
    mode: "full",
    restoredTurn: 1,
    restoredFiles: [join(root, "a")],
  });
  look((workspace) => workspace.undo());
  expect(read("a")).toBe("2\n");
  expect(manager.rewind("rw-9", "full")).toMatchObject({
    success: false,
    error: "Rewind point not found: rw-9",
  });
  manager.clearHistory();
  expect(manager.getRewindPoints()).toEqual([]);
});

test("[C62] files that no checkpoint has are taken over, and come back", () => {
  const { options, enter, read, write } = makePlace({ a: "now\n", b: "stays\n" });
  enter();
  const manager = new RewindManager(options);
  const files = new Map([["a", "then\n"]]);
  const point = manager.createRewindPoint({ messages: [], turnIndex: 0 }, { checkpointId: "mine-17", files });
  write("b", "by hand\n");
  expect(manager.rewind(point, "code")).toMatchObject({ success: true });
  expect([read("a"), read("b")]).toEqual(["then\n", "by hand\n"]);
});
