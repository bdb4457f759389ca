/** Mimir's snapshots: every method of its interface against real files. */
import { hash } from "node:crypto";
import { chmodSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  AgentOrchestrator,
  SnapshotManager,
  type Snapshot,
  type SnapshotDiff,
  type SnapshotManagerOptions,
} from "../src/mimir.ts";
import { makePlace } from "./support/place.ts";

const C = "conv-1";

function mimir(options: SnapshotManagerOptions = {}) {
  const place = makePlace({ "src/auth.ts": "one\ntwo\nthree\n", "logo.png": "\0\x01" });
  const manager = new SnapshotManager({ directory: place.root, ...place.options, ...options });
  return { ...place, manager };
}

test("[M01] [M02] [M08] [M09] [M12] [M13] [M14] [M16] [M20] [M22] [M23] [M39] a snapshot has the document's fields and every file", async () => {
  const { manager, look, lines } = mimir();
  expect(await manager.listSnapshots(C)).toEqual([]);
  const made = await manager.createSnapshot(C, "manual", "Before refactoring");
  expect(lines).toMatchObject([{ event: "protected" }]);
  const snapshot = await manager.getSnapshot(C, made.id);
  expect(snapshot).toEqual({
    id: expect.stringMatching(/^snap-[k-z]{16}$/),
    timestamp: expect.any(Date),
    type: "manual",
    files: [
      {
        path: "logo.png",
        content: Buffer.from([0, 1]),
        hash: hash("sha256", Buffer.from([0, 1]), "hex"),
        mimeType: "image/png",
      },
      {
        path: "src/auth.ts",
        content: Buffer.from("one\ntwo\nthree\n"),
        hash: hash("sha256", "one\ntwo\nthree\n", "hex"),
        mimeType: "text/x-typescript",
      },
    ],
    conversation: { messageCount: 0, lastMessageId: "", artifacts: [] },
    description: "Before refactoring",
    tags: [],
    size: 16,
  });
  const [listed] = await manager.listSnapshots(C);
  expect(Object.getOwnPropertyDescriptor(listed, "files")?.get).toBeTypeOf("function");
  expect(look((workspace) => workspace.resolve(made.id.slice("snap-".length)).kind)).toBe("manual");
});

test("[M10] [M17] [M18] snapshots belong to their conversation, newest first; types are kept", async () => {
  const { manager, look } = mimir();
  await manager.createSnapshot(C, "manual", "first");
  await manager.createSnapshot(C, "auto-checkpoint", "Before bash");
  await manager.createSnapshot(C, "auto-checkpoint", "Auto-fix attempt 1 (low)");
  await manager.createSnapshot("conv-2", "auto-agent");
  const listed = await manager.listSnapshots(C);
  expect(listed.map(({ type, description }) => [type, description])).toEqual([
    ["auto-checkpoint", "Auto-fix attempt 1 (low)"],
    ["auto-checkpoint", "Before bash"],
    ["manual", "first"],
  ]);
  expect(look((workspace) => workspace.list().map(({ kind }) => kind))).toEqual(
    expect.arrayContaining(["auto-fix", "timer", "agent"]),
  );
  const error = await manager.getSnapshot("conv-2", listed[0]!.id).catch((each: unknown) => each);
  expect(error).toMatchObject({
    message: `Snapshot ${listed[0]!.id} not found in conversation conv-2`,
    code: "CHECKPOINT_NOT_FOUND",
  });
  await expect(manager.getSnapshot("nothing", "snap-kkkk")).rejects.toThrow(
    "not found in conversation nothing",
  );
});

test("[M04] [M15] [M21] [M38] [M41] an agent has a snapshot before it, which stays and is named when the agent fails", async () => {
  const { manager } = mimir();
  const said: string[] = [];
  const logger = {
    debug: (text: string) => void said.push(text),
    error: (text: string) => void said.push(text),
  };
  const orchestrator = new AgentOrchestrator({ snapshotManager: manager, conversationId: C, logger });
  const good = { id: "ag-1", role: "thinker", execute: async () => ({ cost: 0.5, tokens: 20, answer: 1 }) };
  expect(await orchestrator.executeAgent(good, "think")).toMatchObject({ answer: 1 });
  const bad = { id: "ag-2", role: "coder", execute: () => Promise.reject(new Error("no")) };
  await expect(orchestrator.executeAgent(bad, "code")).rejects.toThrow("no");
  const [second, first] = await manager.listSnapshots(C);
  expect(first).toMatchObject({
    type: "auto-agent",
    agent: { id: "ag-1", role: "thinker", status: "completed", cost: 0.5, tokens: 20 },
  });
  expect(second).toMatchObject({ agent: { id: "ag-2", status: "failed" } });
  expect(said).toEqual([
    `Snapshot created: ${first!.id} (before thinker)`,
    `Snapshot created: ${second!.id} (before coder)`,
    `Agent ag-2 failed. Snapshot ${second!.id} available for rollback.`,
  ]);
});

test("[R354] [M25] [M34] [M35] [M36] original 14: the timeline compares each snapshot with the one before it, by lines", async () => {
  const { manager, write } = mimir();
  await manager.createSnapshot(C, "manual", "first");
  const before = await manager.createAgentSnapshot(C, "ag-1", { role: "thinker" });
  write("src/auth.ts", "one\nTWO\nthree\nfour\n");
  write("new.ts", "a\nb\n");
  await manager.endAgent(C, "ag-1", { status: "completed" });
  const after = await manager.createSnapshot(C, "manual", "after");
  const { snapshots, currentSnapshotId } = await manager.getTimeline(C);
  expect(currentSnapshotId).toBe(after.id);
  expect(snapshots.map(({ snapshot }) => snapshot.description)).toEqual([
    "after",
    expect.stringContaining("thinker"),
    "first",
  ]);
  expect(snapshots[0]!.fileChanges).toEqual([
    { path: "new.ts", type: "added", linesAdded: 2, linesDeleted: 0 },
    { path: "src/auth.ts", type: "modified", linesAdded: 2, linesDeleted: 1 },
  ]);
  expect(snapshots[1]!.agents).toEqual([
    {
      agentId: "ag-1",
      role: "thinker",
      startTime: expect.any(Date),
      endTime: expect.any(Date),
      status: "completed",
      snapshotsBefore: [before.id],
      snapshotsAfter: [after.id],
    },
  ]);
  expect(snapshots[2]!.fileChanges).toEqual([]);
});

test("[M24] the current snapshot is the one last restored to, until something is captured", async () => {
  const { manager, write } = mimir();
  expect(await manager.getCurrentSnapshot(C)).toBeNull();
  const first = await manager.createSnapshot(C, "manual", "first");
  write("src/auth.ts", "other\n");
  const second = await manager.createSnapshot(C, "manual", "second");
  expect((await manager.getCurrentSnapshot(C))?.id).toBe(second.id);
  await manager.restore(C, first.id);
  expect((await manager.getCurrentSnapshot(C))?.id).toBe(first.id);
  const third = await manager.createSnapshot(C, "manual", "third");
  expect((await manager.getCurrentSnapshot(C))?.id).toBe(third.id);
});

test("[R354] [M26] [M31] original 13: a restore brings back files exactly, marks messages and removes none", async () => {
  const told: [string, Snapshot["conversation"]][] = [];
  const { manager, write, read, exists, look } = mimir({
    onConversationRestored: (id, to) => void told.push([id, to]),
  });
  await manager.createSnapshot(C, "manual", "start");
  const thread = look((workspace) => workspace.threads.get(C).id);
  look((workspace) => workspace.turns.prompt(thread, { content: "Do it", messageId: "msg-1" }));
  const snapshot = await manager.createSnapshot(C, "manual", "after one message");
  expect(snapshot.conversation).toEqual({ messageCount: 1, lastMessageId: "msg-1", artifacts: [] });
  look((workspace) => workspace.turns.prompt(thread, { content: "More", messageId: "msg-2" }));
  write("src/auth.ts", "broken\n");
  write("made.ts", "later\n");
  await manager.restore(C, snapshot.id);
  expect([read("src/auth.ts"), exists("made.ts")]).toEqual(["one\ntwo\nthree\n", false]);
  const messages = look((workspace) => workspace.threads.history(thread).messages);
  expect(messages.map(({ content, rolledBack }) => [content, rolledBack])).toEqual([
    ["Do it", false],
    ["More", true],
  ]);
  expect(told).toEqual([[C, snapshot.conversation]]);
  look((workspace) => workspace.undo());
  expect(read("made.ts")).toBe("later\n");
  await manager.restore(C, snapshot.id, { conversationOnly: true });
  expect(read("made.ts")).toBe("later\n");
  await manager.restore(C, snapshot.id, { filesOnly: true });
  expect(exists("made.ts")).toBe(false);
  expect(told).toHaveLength(2);
});

test("[M27] [M32] single files go back, and others stay", async () => {
  const { manager, write, read, exists } = mimir();
  const { id } = await manager.createSnapshot(C, "manual");
  write("src/auth.ts", "x\n");
  write("logo.png", "y");
  write("new.ts", "new\n");
  await manager.restoreFiles(C, id, ["src/auth.ts"]);
  expect([read("src/auth.ts"), read("logo.png"), exists("new.ts")]).toEqual(["one\ntwo\nthree\n", "y", true]);
  await manager.restore(C, id, { selectiveFiles: ["logo.png"] });
  expect(read("logo.png")).toBe("\0\x01");
  write("src/auth.ts", "x\n");
  await manager.restoreFiles(C, id, []);
  expect(read("src/auth.ts")).toBe("x\n");
  await expect(manager.restoreFiles(C, id, ["/etc/passwd"])).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
});

test("[M33] [M36] the preview of a file that was moved says which one goes and which one comes, with their lines", async () => {
  const { manager, root } = mimir();
  const { id } = await manager.createSnapshot(C, "manual");
  renameSync(join(root, "src/auth.ts"), join(root, "src/login.ts"));
  await manager.restore(C, id, { preview: true });
  expect(manager.lastPreview!.files).toEqual([
    {
      path: "src/login.ts",
      type: "deleted",
      diff: "--- a/src/login.ts\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n",
      linesAdded: 0,
      linesDeleted: 3,
    },
    {
      path: "src/auth.ts",
      type: "added",
      diff: "--- /dev/null\n+++ b/src/auth.ts\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n",
      linesAdded: 3,
      linesDeleted: 0,
    },
  ]);
});

test("[M33] a preview is shown first: nothing happens without confirmation", async () => {
  const asked: SnapshotDiff[] = [];
  let answer = false;
  const { manager, write, read } = mimir({
    confirm: async (preview) => {
      asked.push(preview);
      return answer;
    },
  });
  const { id } = await manager.createSnapshot(C, "manual");
  write("src/auth.ts", "one\n");
  await manager.restore(C, id, { preview: true });
  expect(read("src/auth.ts")).toBe("one\n");
  expect(asked[0]!.files).toMatchObject([
    { path: "src/auth.ts", type: "modified", linesAdded: 2, linesDeleted: 0 },
  ]);
  expect(manager.lastPreview).toEqual(asked[0]);
  answer = true;
  await manager.restore(C, id, { preview: true });
  expect(read("src/auth.ts")).toBe("one\ntwo\nthree\n");
});

test("[M28] [M37] differences are unified diffs: binary, moved and mode-only changes in the document's terms", async () => {
  const { manager, write, root } = mimir({
    contextStorage: {
      getMessages: async () => [{ id: "m1" }, { id: "m2" }],
      getArtifacts: async () => ["a1"],
    },
  });
  const from = await manager.createSnapshot(C, "manual");
  write("logo.png", "\0\x02");
  renameSync(join(root, "src/auth.ts"), join(root, "src/login.ts"));
  const to = await manager.createSnapshot(C, "manual");
  const { files, conversationDiff } = await manager.diff(C, from.id, to.id);
  expect(files).toEqual([
    { path: "logo.png", type: "modified", diff: "Binary files differ", linesAdded: 0, linesDeleted: 0 },
    {
      path: "src/auth.ts",
      type: "deleted",
      diff: "--- a/src/auth.ts\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n",
      linesAdded: 0,
      linesDeleted: 3,
    },
    {
      path: "src/login.ts",
      type: "added",
      diff: "--- /dev/null\n+++ b/src/login.ts\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n",
      linesAdded: 3,
      linesDeleted: 0,
    },
  ]);
  expect(conversationDiff).toEqual({ messagesAdded: 0, artifactsAdded: [] });
  expect(to.conversation).toEqual({ messageCount: 2, lastMessageId: "m2", artifacts: ["a1"] });
  write("src/login.ts", "one\ntwo\nthree\nfour\n");
  chmodSync(join(root, "logo.png"), 0o755);
  const last = await manager.createSnapshot(C, "manual");
  const { files: changed } = await manager.diff(C, to.id, last.id);
  expect(changed[0]).toMatchObject({ path: "logo.png", type: "modified", linesAdded: 0, linesDeleted: 0 });
  expect(changed[1]!.diff).toMatch(/^--- a\/src\/login\.ts\n\+\+\+ b\/src\/login\.ts\n@@ /);
});

test("[M19] [M30] deleting a conversation deletes its snapshots; the older constructor works too", async () => {
  const { manager, root, options } = mimir();
  await manager.createSnapshot(C, "manual");
  await manager.createSnapshot("conv-2", "manual");
  await manager.deleteConversation(C);
  expect(await manager.listSnapshots(C)).toEqual([]);
  expect(await manager.listSnapshots("conv-2")).toHaveLength(1);
  expect(await manager.usage()).toEqual({ bytes: expect.any(Number), capBytes: expect.any(Number) });
  process.env["BELAY_HOME"] = options.home;
  try {
    const old = new SnapshotManager({}, {}, { getMessages: async () => [] }, root);
    expect(await old.listSnapshots("conv-2")).toHaveLength(1);
  } finally {
    delete process.env["BELAY_HOME"];
  }
});
