/** The stat cache on disk: what was written comes back, and whatever is wrong with it makes it absent. */
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { pathsOf, ScanLab } from "../../test/support/scan-lab.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import { FileTable } from "./file-table.ts";
import { readStatCache, sameFacts, writeStatCache, type CacheFacts, type StatCache } from "./stat-cache.ts";

const FACTS: CacheFacts = {
  checkpoint: "kkkkkkkkkkkkkkkk",
  snapshot: "a".repeat(64),
  root: "store 1 2 3",
  gitIndexKey: "index key",
  rulesKey: "rules key",
  tracked: ["in the index", "with \xff bytes"],
  gitStateKey: "git key",
  gitState: { commit: "c".repeat(40), branch: "main", dirty: true, staged: ["s"] },
};

let directory: string;
let path: ReturnType<typeof absolutePath>;

beforeEach(() => {
  directory = makeDirectory("belay-cache-");
  path = absolutePath(join(directory, "stat-cache"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What two tables of the same entries have in common. */
function columnsOf(table: FileTable) {
  const n = table.length;
  return {
    directories: table.directories,
    firstEntry: table.firstEntry,
    entryCount: table.entryCount,
    names: table.names,
    kind: [...table.kind.subarray(0, n)],
    flags: [...table.flags.subarray(0, n)],
    mode: [...table.mode.subarray(0, n)],
    size: [...table.size.subarray(0, n)],
    mtimeNs: [...table.mtimeNs.subarray(0, n)],
    ctimeNs: [...table.ctimeNs.subarray(0, n)],
    ino: [...table.ino.subarray(0, n)],
    hash: Buffer.from(table.hash.subarray(0, n * 32)).toString("hex"),
    treeHash: Buffer.from(table.treeHash.subarray(0, table.directories.length * 32)).toString("hex"),
    exclusions: table.exclusions,
    ignoredRoots: [...table.ignoredRoots],
    rootTimes: table.rootTimes,
  };
}

/** A captured table of files with all kinds of names. */
function capturedTable(): FileTable {
  using lab = new ScanLab({
    "a.txt": "a",
    "src/b.txt": "b",
    "src/deep/c.txt": "c",
    ".gitignore": "ignored/\nnoise.log\n",
    "ignored/d.txt": "d",
    "noise.log": "log",
  });
  writeFileSync(lab.at("src/caf\xe9"), "not UTF-8");
  mkdirSync(join(lab.root, "empty"));
  return lab.capture().table;
}

describe("what was written", () => {
  test("comes back, column by column", () => {
    const table = capturedTable();
    writeStatCache(path, { table, facts: FACTS });
    const read = readStatCache(path)!;
    expect(read.facts).toEqual(FACTS);
    expect(columnsOf(read.table)).toEqual(columnsOf(table));
    expect(read.table.isWhole).toBe(true);
    expect(pathsOf(read.table)["src/caf\xe9"]).toBe("file");
  });

  test("comes back without what a table in place has lost", () => {
    const table = capturedTable();
    const deep = table.directories.indexOf("src/deep" as BytePath);
    table.emptyDirectory(0);
    table.removeDirectory(deep);
    expect(table.isCompact).toBe(false);
    writeStatCache(path, { table, facts: FACTS });
    const read = readStatCache(path)!.table;
    expect(read.isCompact).toBe(true);
    expect(read.directories).not.toContain("src/deep");
    expect(read.entryCount[0]).toBe(0);
    expect(pathsOf(read)["src/b.txt"]).toBe("file");
  });

  test("may be empty", () => {
    const table = new FileTable();
    table.addDirectory("" as BytePath);
    writeStatCache(path, { table, facts: { ...FACTS, gitState: null } });
    const read = readStatCache(path)!;
    expect([read.table.length, read.table.directories, read.facts.gitState]).toEqual([0, [""], null]);
  });

  test("has its names as bytes already", () => {
    const table = capturedTable();
    writeStatCache(path, { table, facts: FACTS });
    const read = readStatCache(path)!.table;
    expect(Buffer.from(read.texts().names)).toEqual(Buffer.from(table.texts().names));
    expect(Buffer.from(read.texts().paths)).toEqual(Buffer.from(table.texts().paths));
  });

  test("can be added to: the columns that were read are of the file's length", () => {
    const table = capturedTable();
    writeStatCache(path, { table, facts: FACTS });
    const read = readStatCache(path)!.table;
    const index = read.copyEntry(read.addDirectory("new" as BytePath), read, 0);
    expect([read.names[index], read.hashAt(index)]).toEqual([read.names[0], read.hashAt(0)]);
    expect(read.length).toBe(table.length + 1);
  });

  test("replaces what was there, and is readable by this user only", () => {
    writeFileSync(path, "something else");
    chmodSync(path, 0o644);
    writeStatCache(path, { table: capturedTable(), facts: FACTS });
    expect(readStatCache(path)?.facts).toEqual(FACTS);
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});

describe("a cache is absent", () => {
  function writtenBytes(): Buffer {
    writeStatCache(path, { table: capturedTable(), facts: FACTS });
    return readFileSync(path);
  }

  test("when there is no file, an empty one, or a directory", () => {
    expect(readStatCache(path)).toBeUndefined();
    writeFileSync(path, "");
    expect(readStatCache(path)).toBeUndefined();
    rmSync(path);
    mkdirSync(path);
    expect(readStatCache(path)).toBeUndefined();
  });

  test.each([0, 18, 19, 50, 51, 55, 56, 57])("when it is torn after %i bytes", (length) => {
    writtenBytes();
    truncateSync(path, length);
    expect(readStatCache(path)).toBeUndefined();
  });

  test("when its last byte is missing, or one is too many", () => {
    const bytes = writtenBytes();
    writeFileSync(path, bytes.subarray(0, -1));
    expect(readStatCache(path)).toBeUndefined();
    writeFileSync(path, Buffer.concat([bytes, Buffer.from([0])]));
    expect(readStatCache(path)).toBeUndefined();
  });

  test("when any one byte of it is another", () => {
    const bytes = writtenBytes();
    // the bytes between the checksum and the body belong to nothing
    const places = [0, 5, 18, 19, 30, 50, 56, 64, 100, bytes.length >> 1, bytes.length - 1];
    for (const at of places) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      writeFileSync(path, changed);
      expect([at, readStatCache(path)]).toEqual([at, undefined]);
    }
  });

  test("when it was written by an older format", () => {
    const bytes = writtenBytes();
    bytes.write("belay stat cache 3\n", "latin1");
    writeFileSync(path, bytes);
    expect(readStatCache(path)).toBeUndefined();
  });

  test("when it cannot be written, and nothing else fails", () => {
    const nowhere = absolutePath(join(directory, "missing", "stat-cache"));
    writeStatCache(nowhere, { table: capturedTable(), facts: FACTS });
    expect(readStatCache(nowhere)).toBeUndefined();
  });
});

describe("facts are the same", () => {
  test("whatever the checkpoint: an older one does as well", () => {
    expect(sameFacts(FACTS, { ...FACTS, checkpoint: "other", snapshot: "other" })).toBe(true);
  });

  test.each<keyof StatCache["facts"]>([
    "root",
    "gitIndexKey",
    "rulesKey",
    "tracked",
    "gitStateKey",
    "gitState",
  ])("only with the same %s", (fact) => {
    expect(sameFacts(FACTS, { ...FACTS, [fact]: fact === "tracked" ? [] : null })).toBe(false);
  });
});
