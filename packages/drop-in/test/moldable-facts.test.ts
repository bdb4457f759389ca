/** The fields, limits and extensions of Moldable's document, each with its value. */
import { hash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { closeDropIn, configureDropIn } from "../src/index.ts";
import {
  cleanup_checkpoints,
  configureMoldable,
  create_checkpoint,
  get_manifest,
  get_snapshot,
  list_checkpoints,
  restore_checkpoint,
} from "../src/moldable.ts";
import { makePlace, type Place } from "./support/place.ts";

const APP = "my-todo-app";
const C = "conv-1";
const MIB = 1024 * 1024;
let place: Place;
let now: number;

beforeEach(() => {
  now = Date.UTC(2026, 0, 23, 10);
  place = makePlace({ "button.tsx": "button\n" });
  configureDropIn({ ...place.options, clock: () => now });
  configureMoldable({});
});

const create = (message: string, conversation = C, app = APP) =>
  create_checkpoint(app, place.root, conversation, message);

test("[L12] [L14] [L16] [L18] the manifest has its times, and a file the SHA-256 of its content", async () => {
  const { id } = await create("A");
  now += 3_600_000;
  await create("B");
  expect(await get_manifest(APP, C)).toEqual({
    conversationId: C,
    appId: APP,
    createdAt: "2026-01-23T10:00:00.000Z",
    updatedAt: "2026-01-23T11:00:00.000Z",
    snapshots: [
      {
        id,
        messageId: "A",
        createdAt: "2026-01-23T10:00:00.000Z",
        fileCount: 1,
        totalBytes: 7,
        hasChanges: false,
      },
      expect.objectContaining({ messageId: "B", createdAt: "2026-01-23T11:00:00.000Z" }),
    ],
  });
  const { files } = await get_snapshot(APP, C, "A");
  expect(files.map((file) => file.hash)).toEqual([hash("sha256", "button\n", "hex")]);
});

test("[L04] equal content is stored once, whichever conversation and app has it", async () => {
  place.write("big.txt", "x".repeat(100_000));
  expect(await create("A")).toMatchObject({ fileCount: 2, blobsCreated: 2, blobsReused: 0 });
  place.write("copy.txt", "x".repeat(100_000));
  expect(await create("A", "conv-2")).toMatchObject({ fileCount: 3, blobsCreated: 0, blobsReused: 3 });
  expect(await create("A", C, "other-app")).toMatchObject({ fileCount: 3, blobsCreated: 0, blobsReused: 3 });
});

test("[L45] without being told, 10 MiB a file is the limit: what is over it is reported and left alone", async () => {
  place.write("fits.bin", Buffer.alloc(10 * MIB, 1));
  place.write("over.bin", Buffer.alloc(10 * MIB + 1, 2));
  expect(await create("A")).toMatchObject({ fileCount: 2 });
  const gaps = place.lines.filter(({ event }) => event === "not_captured");
  expect(gaps).toMatchObject([{ path: "over.bin", reason: "too-large" }]);
  place.write("fits.bin", "changed\n");
  place.write("over.bin", "changed too\n");
  await restore_checkpoint(APP, C, "A");
  expect([place.read("fits.bin").length, place.read("over.bin")]).toEqual([10 * MIB, "changed too\n"]);
});

test("[L45] and 100 MiB of new content a checkpoint: the largest files are left out, reported, and left alone", async () => {
  for (let number = 1; number <= 10; number += 1)
    place.write(`part-${number}.bin`, Buffer.alloc(9 * MIB, number));
  expect(await create("A")).toMatchObject({ fileCount: 11 });
  for (let number = 1; number <= 11; number += 1)
    place.write(`part-${number}.bin`, Buffer.alloc(9 * MIB + (number === 4 ? 1 : 0), 100 + number));
  place.write("more.bin", Buffer.alloc(4 * MIB, 200));
  await create("B");
  const gaps = place.lines.filter(({ event }) => event === "not_captured");
  expect(gaps).toMatchObject([{ path: "part-4.bin", reason: expect.stringMatching(/./) }]);
  place.write("part-4.bin", "mine\n");
  place.write("part-5.bin", "changed\n");
  await restore_checkpoint(APP, C, "B");
  expect([place.read("part-4.bin"), place.read("part-5.bin").length]).toEqual(["mine\n", 9 * MIB]);
});

test("[L22] [L36] [R2451] what a clean-up will free after the day is what it frees; what an undo needs stays", async () => {
  // the state that the app is protected with stays
  await create("first");
  place.write("big.txt", Array.from({ length: 5000 }, (_, at) => `line ${at * 7919}\n`).join(""));
  await create("A");
  place.write("big.txt", "before the last answer\n");
  await create("B");
  place.write("big.txt", "by the last answer\n");
  await create("C");
  const size = (await get_snapshot(APP, C, "A")).files.find(({ path }) => path === "big.txt")!.size;
  expect(await cleanup_checkpoints(APP, C, 1)).toEqual({
    snapshotsDeleted: 3,
    blobsDeleted: 0,
    bytesFreed: 0,
    blobsPending: 1,
    bytesPending: size,
  });
  now += 25 * 3_600_000;
  const freed = await cleanup_checkpoints(APP, C, 1);
  expect(freed.blobsDeleted).toBeGreaterThan(0);
  expect(freed.bytesFreed).toBeGreaterThanOrEqual(size);
  place.look((workspace) => workspace.undo());
  expect(place.read("big.txt")).toBe("before the last answer\n");
  await restore_checkpoint(APP, C, "C");
  expect(place.read("big.txt")).toBe("by the last answer\n");
});

const LEFT_OUT = (
  "png jpg jpeg gif webp ico svg woff woff2 ttf eot otf mp3 mp4 wav ogg webm zip tar gz rar 7z exe dll so dylib " +
  "pdf doc docx db sqlite sqlite3"
).split(" ");

test("[L48] source only: each of the document's extensions is left out, at any depth", async () => {
  configureMoldable({ sourceOnly: true });
  for (const extension of [...LEFT_OUT, "PNG", "Jpg"]) place.write(`assets/deep/file.${extension}`, "x");
  for (const name of ["page.tsx", "style.css", "data.json", "png", "notes.svg.txt"]) place.write(name, "x");
  await create("A");
  const { files } = await get_snapshot(APP, C, "A");
  expect(files.map(({ path }) => path).toSorted()).toEqual(
    ["button.tsx", "data.json", "notes.svg.txt", "page.tsx", "png", "style.css"].toSorted(),
  );
  // counts for a process that has not used the app yet
  closeDropIn();
  configureMoldable({});
  expect(await create("B")).toMatchObject({
    fileCount: 6 + 2 + LEFT_OUT.length - ["dll", "so", "dylib"].length,
  });
  expect(await list_checkpoints(APP, C)).toHaveLength(2);
});
