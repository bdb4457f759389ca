/** Moldable's commands: the scenario of its document, and what Belay does where the original is wrong. */
import { lstatSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { findWorkspaceSync } from "@belay/engine/sync";
import { beforeEach, expect, test } from "vitest";
import { closeDropIn, configureDropIn } from "../src/index.ts";
import {
  cleanup_checkpoints,
  configureMoldable,
  create_checkpoint,
  delete_app_checkpoints,
  get_manifest,
  get_snapshot,
  invoke,
  list_checkpoints,
  restore_checkpoint,
} from "../src/moldable.ts";
import { makePlace, type Place } from "./support/place.ts";

let place: Place;
const APP = "my-todo-app";
const CONVERSATION = "conv-1";

beforeEach(() => {
  place = makePlace({ "button.tsx": "button\n" });
  configureDropIn(place.options);
  configureMoldable({});
});

const create = (message: string, conversation = CONVERSATION) =>
  create_checkpoint(APP, place.root, conversation, message);
const restore = (message: string) => restore_checkpoint(APP, CONVERSATION, message);

test("[L01] [L07] [L08] [L09] [L05] the document's scenario: restoring B takes out everything from there on", async () => {
  await create("A");
  place.write("button.tsx", "basic\n");
  await create("B");
  place.write("button.tsx", "styled\n");
  place.write("global.css", "css\n");
  await create("C");
  place.write("header.tsx", "header\n");
  await create("D");
  place.write("header.tsx", "blue\n");
  const result = await restore("B");
  expect(result).toMatchObject({ filesRestored: 1, filesDeleted: 2, bytesWritten: 6, kept: [], skipped: [] });
  expect(result.safetyCheckpoint).toMatch(/^[k-z]{16}$/);
  expect([place.read("button.tsx"), place.exists("global.css"), place.exists("header.tsx")]).toEqual([
    "basic\n",
    false,
    false,
  ]);
  place.look((workspace) => workspace.undo());
  expect(place.read("header.tsx")).toBe("blue\n");
});

test("[R354] [L06] [L10] [L15] original 17: the last answer is undone exactly, and the list says which answers changed something", async () => {
  await create("A");
  await create("B");
  place.write("made.tsx", "made\n");
  expect(
    (await list_checkpoints(APP, CONVERSATION)).map(({ messageId, hasChanges }) => [messageId, hasChanges]),
  ).toEqual([
    ["A", false],
    ["B", true],
  ]);
  await restore("B");
  expect(place.exists("made.tsx")).toBe(false);
  await create("C");
  place.write("made.tsx", "again\n");
  place.look((workspace) => workspace.undo());
  expect(place.exists("made.tsx")).toBe(false);
});

test("[R354] [L13] [L19] [L20] original 18: ids are unique, one entry a message, and the newer one counts", async () => {
  const first = await create("A");
  expect(first).toEqual({
    id: expect.stringMatching(/^snap-[k-z]{16}$/),
    messageId: "A",
    fileCount: 1,
    totalBytes: 7,
    blobsCreated: 1,
    blobsReused: 0,
  });
  place.write("second.tsx", "second\n");
  const again = await create("A");
  expect(again).toMatchObject({ fileCount: 2, blobsCreated: 1, blobsReused: 1 });
  expect(again.id).not.toBe(first.id);
  expect(await list_checkpoints(APP, CONVERSATION)).toEqual([
    {
      id: again.id,
      messageId: "A",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      fileCount: 2,
      totalBytes: 14,
      hasChanges: false,
    },
  ]);
  expect(await list_checkpoints(APP, "another")).toEqual([]);
});

test("[L14] [L16] [L17] the manifest and a snapshot have the document's fields; absent files are known as absent", async () => {
  await create("A");
  place.write("later.tsx", "later\n");
  symlinkSync("button.tsx", join(place.root, "link"));
  await create("B");
  expect(await get_manifest(APP, CONVERSATION)).toMatchObject({
    conversationId: CONVERSATION,
    appId: APP,
    createdAt: expect.stringMatching(/Z$/),
    snapshots: [{ messageId: "A" }, { messageId: "B" }],
  });
  const snapshot = await get_snapshot(APP, CONVERSATION, "A");
  expect(snapshot).toEqual({
    id: expect.stringMatching(/^snap-/),
    messageId: "A",
    conversationId: CONVERSATION,
    appId: APP,
    appDir: place.root,
    createdAt: expect.stringMatching(/Z$/),
    files: [
      {
        path: "button.tsx",
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        size: 7,
        mode: 33188,
        exists: true,
      },
      { path: "later.tsx", hash: null, size: 0, mode: 0, exists: false },
      { path: "link", hash: null, size: 0, mode: 0, exists: false },
    ],
  });
  // [L44] a link is a link
  expect((await get_snapshot(APP, CONVERSATION, "B")).files.find(({ path }) => path === "link")?.mode).toBe(
    0o120777,
  );
});

test("[R354] [L21] original 20: only files that differ are written, and the others keep their times", async () => {
  place.write("same.tsx", "same\n");
  await create("A");
  place.write("button.tsx", "other\n");
  const before = new Date(1_700_000_000_000);
  utimesSync(join(place.root, "same.tsx"), before, before);
  expect(await restore("A")).toMatchObject({ filesRestored: 1, filesDeleted: 0, bytesWritten: 7 });
  expect(statSync(join(place.root, "same.tsx")).mtimeMs).toBe(before.getTime());
  expect(await restore("A")).toMatchObject({
    filesRestored: 0,
    filesDeleted: 0,
    bytesWritten: 0,
    safetyCheckpoint: null,
  });
});

test("[R354] [L17] [L45] original 19: what is over a limit is reported, never part of a restore and never deleted", async () => {
  configureMoldable({ limits: { fileBytes: 1000 } });
  place.write("big.bin", "x".repeat(2000));
  await create("A");
  expect(place.lines).toContainEqual(
    expect.objectContaining({ event: "not_captured", path: "big.bin", reason: "too-large" }),
  );
  place.write("button.tsx", "other\n");
  place.write("big.bin", "y".repeat(3000));
  await restore("A");
  expect([place.read("button.tsx"), place.read("big.bin").length]).toEqual(["button\n", 3000]);
  // [L17] and it is not known as absent where another snapshot has it
  place.write("big.bin", "small\n");
  await create("B");
  const known = async (message: string) =>
    (await get_snapshot(APP, CONVERSATION, message)).files.map(({ path, exists }) => [path, exists]);
  expect(await known("A")).toEqual([["button.tsx", true]]);
  expect(await known("B")).toEqual([
    ["big.bin", true],
    ["button.tsx", true],
  ]);
});

test("[R354] [L22] [L36] [L38] original 21: cleaning up keeps the newest, and frees content only after a day", async () => {
  let now = Date.now();
  configureDropIn({ ...place.options, clock: () => now });
  for (const message of ["A", "B", "later", "C"]) {
    place.write("button.tsx", `${message}\n`);
    await create(message);
  }
  const cleaned = await cleanup_checkpoints(APP, CONVERSATION, 1);
  expect(cleaned).toMatchObject({
    snapshotsDeleted: 3,
    blobsDeleted: 0,
    bytesFreed: 0,
    blobsPending: 1,
    bytesPending: 2,
  });
  expect((await list_checkpoints(APP, CONVERSATION)).map(({ messageId }) => messageId)).toEqual(["C"]);
  now += 25 * 3_600_000;
  const later = await cleanup_checkpoints(APP, CONVERSATION, 1);
  expect(later.snapshotsDeleted).toBe(0);
  expect(later.blobsDeleted).toBeGreaterThan(0);
  await restore("C");
  expect(place.read("button.tsx")).toBe("C\n");
});

test("[L34] over fifty in a conversation the oldest go; [L35] those of a closed conversation go after a week", async () => {
  let now = Date.now();
  configureDropIn({ ...place.options, clock: () => now });
  await create("old", "closed");
  for (let message = 1; message <= 52; message += 1) await create(`m${message}`);
  const listed = await list_checkpoints(APP, CONVERSATION);
  expect([listed.length, listed[0]!.messageId, listed.at(-1)!.messageId]).toEqual([50, "m3", "m52"]);
  expect(await list_checkpoints(APP, "closed")).toHaveLength(1);
  now += 8 * 86_400_000;
  await create("m53");
  expect(await list_checkpoints(APP, "closed")).toEqual([]);
  expect(await list_checkpoints(APP, CONVERSATION)).toHaveLength(50);
  // closed by its host: what is a week old goes, what is younger stays
  place.look((workspace) => {
    const [thread] = workspace.threads
      .list()
      .filter(({ externalId }) => externalId.endsWith(`/${CONVERSATION}`));
    workspace.threads.close(thread!.id);
  });
  await create("elsewhere", "another");
  expect((await list_checkpoints(APP, CONVERSATION)).map(({ messageId }) => messageId)).toEqual(["m53"]);
});

test("[L02] [L11] [L23] [L37] conversations are grouped by workspace and app; deleting an app's drops its own only", async () => {
  await create("A");
  await create("B", "conv-2");
  await create_checkpoint("other-app", place.root, CONVERSATION, "A");
  configureMoldable({ workspaceId: "work" });
  await create("A");
  expect(
    place.look((workspace) =>
      workspace.threads
        .list()
        .map(({ externalId }) => externalId)
        .sort(),
    ),
  ).toEqual([
    "personal/my-todo-app/conv-1",
    "personal/my-todo-app/conv-2",
    "personal/other-app/conv-1",
    "work/my-todo-app/conv-1",
  ]);
  configureMoldable({});
  await delete_app_checkpoints(APP);
  expect(await list_checkpoints(APP, CONVERSATION)).toEqual([]);
  expect(await list_checkpoints("other-app", CONVERSATION)).toHaveLength(1);
});

test("[R2430] [L23] deleting an app's checkpoints ends its turn: a later edit by hand is not undone with it", async () => {
  await create("A");
  place.write("button.tsx", "answer\n");
  await create("B");
  await delete_app_checkpoints(APP);
  place.write("by-hand.tsx", "mine\n");
  place.look((workspace) => {
    expect(workspace.undo().steps).toMatchObject([{ kind: "turn" }]);
  });
  expect([place.read("button.tsx"), place.read("by-hand.tsx")]).toEqual(["button\n", "mine\n"]);
});

test.each(["the process that made them", "another process"])(
  "[R2436] [L23] [L37] an app whose directory was removed first loses its checkpoints too, in %s",
  async (process) => {
    await create("A");
    await create_checkpoint("other-app", place.root, CONVERSATION, "A");
    if (process === "another process") {
      closeDropIn();
      configureMoldable({});
    }
    rmSync(place.root, { recursive: true });
    await delete_app_checkpoints(APP);
    closeDropIn();
    using left = findWorkspaceSync(place.root, { home: place.home });
    expect(left.threads.list().map(({ externalId }) => externalId)).toEqual(["personal/other-app/conv-1"]);
    expect(left.list({ kind: "message" })).toHaveLength(1);
  },
);

test("[L43] ids are never part of a path; unknown ones and foreign directories are refused", async () => {
  await create("../../etc/passwd", "../../../x");
  expect(readdirSync(place.root)).toEqual(["button.tsx"]);
  expect(lstatSync(place.home).isDirectory()).toBe(true);
  await expect(create("A", "")).rejects.toThrow("The id of the conversation");
  await expect(create_checkpoint("x".repeat(501), place.root, "c", "m")).rejects.toThrow("The id of the app");
  for (const message of ["", "m".repeat(501)])
    await expect(create(message)).rejects.toThrow(
      "The id of the message is empty or longer than 500 characters",
    );
  await expect(restore("nothing")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  await expect(create_checkpoint(APP, join(place.root, "missing"), "c", "m")).rejects.toThrow(Error);
});

test("[L19] invoke takes the shell's arguments, also those that Belay does not need", async () => {
  const args = {
    appId: APP,
    appDir: place.root,
    conversationId: CONVERSATION,
    messageId: "A",
    modifiedFiles: ["x"],
  };
  expect(await invoke("create_checkpoint", args)).toMatchObject({ messageId: "A" });
  place.write("button.tsx", "other\n");
  expect(await invoke("list_checkpoints", args)).toMatchObject([{ messageId: "A", hasChanges: true }]);
  expect(await invoke("restore_checkpoint", args)).toMatchObject({ filesRestored: 1 });
  expect(await invoke("cleanup_checkpoints", { ...args, keepLastN: 5 })).toMatchObject({
    snapshotsDeleted: 0,
  });
  await expect(invoke("nonsense", {})).rejects.toThrow("There is no command nonsense.");
  await expect(invoke("list_checkpoints", { appId: APP })).rejects.toThrow("conversationId");
});

test("[L04] [L12] [L18] the app is found again by a process that only knows its id; equal content is stored once", async () => {
  await create("A");
  place.write("copy.tsx", "button\n");
  expect(await create("B")).toMatchObject({ blobsCreated: 0, blobsReused: 2 });
  place.write("third.tsx", "third\n");
  expect(await create("C")).toMatchObject({ blobsCreated: 1, blobsReused: 2 });
  configureMoldable({});
  expect(await list_checkpoints(APP, CONVERSATION)).toHaveLength(3);
  const { files } = await get_snapshot(APP, CONVERSATION, "B");
  expect(new Set(files.filter(({ exists }) => exists).map(({ hash }) => hash)).size).toBe(1);
});

test("[L48] [R846] source only: pictures, archives and databases are left out, never touched, and .belayignore has the last word", async () => {
  configureMoldable({ sourceOnly: true });
  place.write("logo.png", "old picture");
  place.write("data/app.sqlite3", "old data");
  place.write("keep/icon.svg", "<svg/>");
  place.write(".belayignore", "!keep/*.svg\n");
  expect(await create("A")).toMatchObject({ fileCount: 3 });
  const { files } = await get_snapshot(APP, CONVERSATION, "A");
  expect(files.map(({ path }) => path).toSorted()).toEqual([".belayignore", "button.tsx", "keep/icon.svg"]);
  place.write("logo.png", "new picture");
  place.write("later.zip", "made later");
  place.write("button.tsx", "changed\n");
  place.write("later.tsx", "made later\n");
  expect(await restore("A")).toMatchObject({ filesRestored: 1, filesDeleted: 1 });
  expect([place.read("button.tsx"), place.exists("later.tsx")]).toEqual(["button\n", false]);
  expect([place.read("logo.png"), place.read("later.zip"), place.read("data/app.sqlite3")]).toEqual([
    "new picture",
    "made later",
    "old data",
  ]);
});
