/** Lines are counted alike whether the counter was told before or not; told before, it reads pack after pack. */
import { expect, test } from "vitest";
import { pathFromText } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { openDatabase } from "../store/database.ts";
import { ObjectStore } from "../store/object-store.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { STORE_MIGRATIONS } from "../store/schema.ts";
import { LineCounter } from "./net-changes.ts";

const OWNER = { pid: process.pid, started: "", boot: "" };
const FILES = 4;
const VERSIONS = 5;

const content = (file: number, version: number) => `file ${file}\n${"line\n".repeat(version)}`;
const entry = (text: string): Entry => ({
  kind: "file",
  mode: 0o644,
  size: text.length,
  hash: hashBytes(Buffer.from(text)),
});

/** A pack for each file, with all its versions, as `gc` makes them. Rows go through all files version by version. */
function historyOfFiles() {
  const db = openDatabase(undefined, { migrations: STORE_MIGRATIONS, create: true });
  const objects = new ObjectStore(db);
  for (let file = 0; file < FILES; file += 1) {
    const writer = new ObjectWriter(db, objects, OWNER);
    for (let version = 0; version < VERSIONS; version += 1) writer.put(Buffer.from(content(file, version)));
    writer.commit(() => undefined);
  }
  const packs: number[] = [];
  const source = {
    packOf: (name: ObjectHash | "") => objects.packOf(name),
    read: (name: ObjectHash) => {
      packs.push(objects.packOf(name));
      return objects.read(name);
    },
  };
  const rows = Array.from({ length: VERSIONS - 1 }, (_, version): Edit[] =>
    Array.from({ length: FILES }, (__, file) => ({
      path: pathFromText(`f${file}`),
      from: entry(content(file, version)),
      to: entry(content(file, version + 1)),
    })),
  );
  return { packs, rows, source };
}

test("a counter that was told what is coming reads each pack in one go, and nothing twice", () => {
  const { packs, rows, source } = historyOfFiles();
  const lines = new LineCounter(source);
  lines.expect(rows);
  expect(packs).toEqual(packs.toSorted((a, b) => a - b));
  expect(new Set(packs).size).toBe(FILES);
  const read = packs.length;
  const told = rows.map((row) => lines.count(row));
  expect(packs).toHaveLength(read);
  const untold = new LineCounter(source);
  expect(told).toEqual(rows.map((row) => untold.count(row)));
  expect(told[0]).toMatchObject({ plus: FILES, minus: 0 });
});

test("what is missing, has no content or is one of very many files is no obstacle", () => {
  const { packs, rows, source } = historyOfFiles();
  const lines = new LineCounter(source);
  const path = pathFromText("a");
  const missing: Edit = { path, from: entry("never stored"), to: entry("nor this") };
  const gone: Edit = { path, from: entry(content(0, 1)), to: undefined };
  const gap: Edit = { path, from: undefined, to: { kind: "gap", reason: "limit", size: 3 } };
  const many = Array.from({ length: 101 }, (_, at) => ({ ...rows[0]![0]!, path: pathFromText(`m${at}`) }));
  lines.expect([[missing], [gone], [gap], many]);
  expect(lines.count([missing])).toMatchObject({ plus: 0, minus: 0 });
  expect(lines.count([gone])).toMatchObject({ plus: 0, minus: 2 });
  expect(lines.count([gap])).toMatchObject({ plus: 0, minus: 0 });
  expect(lines.count(many)).toMatchObject({ plus: null, minus: null });
  // one look for what is missing, and the file that is gone
  expect(packs).toEqual([0, 1]);
});
