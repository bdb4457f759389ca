/** The table of files: columns that grow, runs that move, and hashes that are known or not. */
import { describe, expect, test } from "vitest";
import type { FileStat } from "../fs/file-stat.ts";
import type { BytePath } from "../model/byte-path.ts";
import { hashBytes } from "../model/object-hash.ts";
import { decodeTree, encodeTree } from "../model/tree.ts";
import { DIRECTORY, FILE, FileTable, GAP, SYMLINK } from "./file-table.ts";
import { EXCLUDED, RACY } from "./stat-columns.ts";

const path = (text: string) => text as BytePath;
const hashOf = (text: string) => hashBytes(Buffer.from(text));

function stat(
  facts: Partial<Record<"size" | "mtimeNs" | "ctimeNs" | "ino" | "mode", bigint>> = {},
): FileStat {
  return { mode: 0o100644n, size: 1n, mtimeNs: 10n, ctimeNs: 20n, ino: 30n, ...facts } as FileStat;
}

/** A table of directories with files in them; the first one is the root. */
function tableOf(directories: Readonly<Record<string, readonly string[]>>, previous?: FileTable): FileTable {
  const table = new FileTable(previous);
  for (const [directory, names] of Object.entries(directories)) {
    const at = table.addDirectory(path(directory));
    for (const name of names.toSorted()) {
      const index = table.addEntry(at, name, FILE, stat({ ino: BigInt(table.length + 1) }));
      table.setHash(index, hashOf(`${directory}/${name}`));
    }
    table.setTreeHash(at, hashOf(directory));
  }
  return table;
}

function namesIn(table: FileTable, directory: number): string[] {
  return [...table.entriesOf(directory)].map((index) => table.names[index]!);
}

describe("entries", () => {
  test("have the stat they were added with, to the nanosecond", () => {
    const table = new FileTable();
    table.addDirectory(path(""));
    const facts = {
      mode: 0o100755n,
      size: 2n ** 40n + 1n,
      mtimeNs: 1_700_000_000_123_456_789n,
      ctimeNs: -1n,
      ino: 2n ** 64n - 1n,
    };
    const index = table.addEntry(0, "a", FILE, stat(facts));
    expect(table.mode[index]).toBe(0o755);
    expect(table.size[index]).toBe(2 ** 40 + 1);
    expect(table.mtimeNs[index]).toBe(facts.mtimeNs);
    expect(table.ctimeNs[index]).toBe(-1n);
    expect(table.ino[index]).toBe(facts.ino);
  });

  test("have no hash until it is set, and none that is all zeros", () => {
    const table = new FileTable();
    table.addDirectory(path(""));
    const index = table.addEntry(0, "a", FILE, stat());
    expect(table.hasHash(index)).toBe(false);
    table.setHash(index, hashOf("content"));
    expect([table.hasHash(index), table.hashAt(index)]).toEqual([true, hashOf("content")]);
    expect([table.hasTreeHash(0), table.isWhole]).toEqual([false, false]);
    table.setTreeHash(0, hashOf("tree"));
    expect([table.treeHashAt(0), table.isWhole]).toEqual([hashOf("tree"), true]);
    table.forgetTreeHash(0);
    expect([table.hasTreeHash(0), table.isWhole]).toEqual([false, false]);
  });

  test("keep everything while the columns grow", () => {
    const names = Array.from({ length: 5000 }, (_, at) => `f${String(at).padStart(5, "0")}`);
    const table = tableOf({ "": names });
    expect(table.length).toBe(5000);
    for (const at of [0, 63, 64, 1023, 1024, 4999]) {
      expect(table.names[at]).toBe(names[at]);
      expect(table.ino[at]).toBe(BigInt(at + 1));
      expect(table.hashAt(at)).toBe(hashOf(`/${names[at]}`));
    }
  });

  test("are found by name, also where names are bytes and prefixes of each other", () => {
    const names = ["a", "a.b", "aa", "b", "caf\xc3\xa9", "caf\xe9", "\x01", "~", "\xff"].toSorted();
    const table = tableOf({ "": names, sub: ["a"] });
    for (const [at, name] of names.entries()) expect(table.find(0, name)).toBe(at);
    for (const missing of ["", "a.", "ab", "\xfe", "\xff\xff", "sub"]) {
      expect(table.find(0, missing)).toBe(-1);
      expect(table.hasName(0, missing)).toBe(false);
    }
    // the next directory's run begins where this one ends
    expect(table.find(1, "a")).toBe(names.length);
    expect(table.find(1, "b")).toBe(-1);
  });

  test("are what a tree has to say of them", () => {
    const table = new FileTable();
    table.addDirectory(path(""));
    const file = table.addEntry(0, "file", FILE, stat({ mode: 0o100600n, size: 7n }));
    const gap = table.addEntry(0, "gap", FILE, stat({ size: 9n }));
    table.setGap(gap, "unreadable");
    const link = table.addEntry(0, "link", SYMLINK, stat({ size: 3n }));
    const sub = table.addEntry(0, "sub", DIRECTORY, stat({ mode: 0o040750n }));
    for (const index of [file, link, sub]) table.setHash(index, hashOf(table.names[index]!));
    expect(table.entryAt(file)).toEqual({ kind: "file", mode: 0o600, size: 7, hash: hashOf("file") });
    expect(table.entryAt(gap)).toEqual({ kind: "gap", reason: "unreadable", size: 9 });
    expect(table.entryAt(link)).toEqual({ kind: "symlink", size: 3, hash: hashOf("link") });
    expect(table.entryAt(sub)).toEqual({ kind: "directory", mode: 0o750, hash: hashOf("sub") });
    table.addExcluded(0, "zzz", "a rule", 0);
    const bytes = table.encodeTree(0);
    const tree = decodeTree(bytes, hashBytes(bytes));
    expect([...tree.keys()]).toEqual(["file", "gap", "link", "sub"]);
    for (const [name, entry] of tree) expect(entry).toEqual(table.entryAt(table.find(0, name)));
  });

  test("that a rule excluded carry its text, each text once", () => {
    const table = new FileTable();
    table.addDirectory(path(""));
    for (const [name, rule] of [
      ["a", "first"],
      ["b", "second"],
      ["c", "first"],
    ] as const)
      table.addExcluded(0, name, rule, 0);
    expect([0, 1, 2].map((index) => table.exclusionOf(index))).toEqual(["first", "second", "first"]);
    expect(table.exclusions).toEqual(["first", "second"]);
    expect([...table.kind.subarray(0, 3)]).toEqual([EXCLUDED, EXCLUDED, EXCLUDED]);
  });
});

describe("a table that follows another", () => {
  test("takes over a run where it lies, and one that has moved", () => {
    const before = tableOf({ "": ["a", "b"], one: ["c", "d", "e"], two: ["f"] });
    const after = new FileTable(before);
    const root = after.addDirectory(path(""));
    expect(after.copyEntries(root, before, 0)).toBe(0);
    const two = after.addDirectory(path("two"));
    // directory `one` is gone: this run lies elsewhere now
    expect(after.copyEntries(two, before, 2)).toBe(2);
    expect(namesIn(after, root)).toEqual(["a", "b"]);
    expect(namesIn(after, two)).toEqual(["f"]);
    expect(after.hashAt(2)).toBe(hashOf("two/f"));
    expect(after.ino[2]).toBe(before.ino[5]);
  });

  test("has no trace of the other in entries that are added", () => {
    const before = tableOf({ "": ["a", "b", "c"] });
    before.flags[1] = RACY;
    const after = new FileTable(before);
    const root = after.addDirectory(path(""));
    const index = after.addEntry(root, "new", FILE, stat({ ino: 99n }));
    expect([after.hasHash(index), after.flags[index], after.ino[index]]).toEqual([false, 0, 99n]);
    const excluded = after.addEntry(root, "other", FILE, stat());
    expect([after.hasHash(excluded), after.flags[excluded]]).toEqual([false, 0]);
    expect(after.hasTreeHash(root)).toBe(false);
  });

  test("numbers exclusions alike, and does not change the other's", () => {
    const before = new FileTable();
    before.addDirectory(path(""));
    before.addExcluded(0, "a", "first", 0);
    const after = new FileTable(before);
    const root = after.addDirectory(path(""));
    after.addExcluded(root, "b", "second", 0);
    const copied = after.copyEntry(root, before, 0);
    expect(after.exclusionOf(copied)).toBe("first");
    expect(before.exclusions).toEqual(["first"]);
  });

  test("leaves the other as it is when its own entries change", () => {
    const before = tableOf({ "": ["a", "b"] });
    const after = new FileTable(before);
    after.copyEntries(after.addDirectory(path("")), before, 0);
    after.setHash(0, hashOf("other"));
    after.size[1] = 1000;
    after.kind[1] = GAP;
    expect(before.hashAt(0)).toBe(hashOf("/a"));
    expect([before.size[1], before.kind[1]]).toEqual([1, FILE]);
  });
});

describe("a table that changes in place", () => {
  test("is compact until a run moves, and again when it is compacted", () => {
    const table = tableOf({ "": ["a", "b"], sub: ["c"] });
    expect(table.isCompact).toBe(true);
    table.emptyDirectory(0);
    expect([namesIn(table, 0), table.isCompact]).toEqual([[], false]);
    for (const old of [0, 1]) table.copyEntry(0, table, old);
    expect(namesIn(table, 0)).toEqual(["a", "b"]);
    expect(table.isCompact).toBe(false);
    const compact = table.compacted();
    expect([compact.isCompact, compact.length]).toEqual([true, 3]);
    expect(compact.hashAt(compact.find(0, "b"))).toBe(hashOf("/b"));
    expect(compact.treeHashAt(1)).toBe(hashOf("sub"));
  });

  test("has no directory that was taken out, and stays whole without it", () => {
    const table = tableOf({ "": ["a"], gone: ["b"], stays: ["c"] });
    table.removeDirectory(1);
    table.forgetTreeHash(1);
    expect(table.isWhole).toBe(true);
    const compact = table.compacted();
    expect(compact.directories).toEqual(["", "stays"]);
    expect(compact.names).toEqual(["a", "c"]);
  });

  test("keeps names as bytes as long as they are the same", () => {
    const table = tableOf({ "": ["a", "\xff"], sub: ["c"] });
    const texts = table.texts();
    expect(Buffer.from(texts.names).toString("latin1")).toBe("a\0\xff\0c");
    expect(Buffer.from(texts.paths).toString("latin1")).toBe("\0sub");
    expect(table.texts()).toBe(texts);
    table.copyEntry(1, table, 0);
    expect(Buffer.from(table.texts().names).toString("latin1")).toBe("a\0\xff\0c\0a");
    table.removeDirectory(1);
    // as many texts as directories, so that numbers mean the same
    expect(Buffer.from(table.texts().paths).toString("latin1")).toBe("\0");
  });

  test("names a directory's tree in the directory's own entry", () => {
    const table = new FileTable();
    table.addDirectory(path(""));
    const own = table.addEntry(0, "sub", DIRECTORY, stat());
    table.addDirectory(path("sub"));
    table.setTreeHash(1, hashOf("the tree of sub"));
    table.nameTree(own, 1);
    expect(table.hashAt(own)).toBe(hashOf("the tree of sub"));
  });

  test("copies trees that lie together", () => {
    const before = tableOf({ "": [], a: [], b: [], c: [] });
    const after = new FileTable(before);
    for (const directory of ["", "b", "c"]) after.addDirectory(path(directory));
    after.copyTreeHashes(1, before, 2, 2);
    expect([1, 2].map((directory) => after.treeHashAt(directory))).toEqual([hashOf("b"), hashOf("c")]);
    expect(after.hasTreeHash(0)).toBe(false);
  });
});

describe("[R7] a directory is as before", () => {
  const known = (name: string) => (asked: string) => (asked === name ? stat({ ino: 1n }) : undefined);

  test("when every entry has its stat", () => {
    expect(tableOf({ "": ["a"] }).isAsBefore(0, known("a"))).toBe(true);
  });

  test.each<[string, (table: FileTable) => void]>([
    ["size", (table) => (table.size[0] = 2)],
    ["mtime", (table) => (table.mtimeNs[0] = 11n)],
    ["ctime", (table) => (table.ctimeNs[0] = 21n)],
    ["inode", (table) => (table.ino[0] = 2n)],
    ["mode", (table) => (table.mode[0] = 0o600)],
    ["kind", (table) => (table.kind[0] = SYMLINK)],
    ["a flag", (table) => (table.flags[0] = RACY)],
  ])("and not when its %s is another", (_, change) => {
    const table = tableOf({ "": ["a"] });
    change(table);
    expect(table.isAsBefore(0, known("a"))).toBe(false);
  });

  test("and not when an entry is gone or cannot be looked at", () => {
    const table = tableOf({ "": ["a"] });
    expect(table.isAsBefore(0, () => undefined)).toBe(false);
    const throws = () => {
      throw new Error("EACCES");
    };
    expect(table.isAsBefore(0, throws)).toBe(false);
  });

  test("whatever became of what a rule excluded", () => {
    const table = tableOf({ "": ["a"] });
    table.addExcluded(0, "left out", "a rule", 0);
    expect(table.isAsBefore(0, known("a"))).toBe(true);
  });
});

describe("the tree of a table", () => {
  test("has the bytes that the tree of its entries has", () => {
    const table = new FileTable();
    table.addDirectory(path(""));
    const names = ["a", "caf\xe9", "x".repeat(255), "\xff"];
    for (const [at, name] of names.entries()) {
      const size = [0n, 255n, 2n ** 32n + 5n, 2n ** 47n][at]!;
      const kind = [FILE, SYMLINK, DIRECTORY, FILE][at]!;
      const index = table.addEntry(0, name, kind, stat({ size, mode: BigInt(0o100000 + at) }));
      table.setHash(index, hashOf(name));
    }
    table.setGap(3, "special");
    const entries = names.map((name, index) => [name, table.entryAt(index)] as const);
    expect(table.encodeTree(0)).toEqual(encodeTree(new Map(entries)));
  });

  test.each([0, 255, 2 ** 16 - 1, 2 ** 16, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 7, 2 ** 48 - 1])(
    "has the same bytes for a file of %i bytes",
    (size) => {
      const table = new FileTable();
      table.addDirectory(path(""));
      table.setHash(table.addEntry(0, "a", FILE, stat({ size: BigInt(size) })), hashOf("a"));
      expect(table.encodeTree(0)).toEqual(encodeTree(new Map([["a", table.entryAt(0)]])));
    },
  );
});
