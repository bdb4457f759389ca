/** Scans of real files: what they find, what they reuse of the scan before, and what they leave to be read. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findPath, pathsOf, ScanLab } from "../../test/support/scan-lab.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Scan } from "./scan-request.ts";
import { OVER, RACY } from "./stat-columns.ts";

const PROJECT = { "a.txt": "a", "src/b.txt": "b", "src/deep/c.txt": "c" };

/** Whether each directory was taken over as it was. */
function unchangedOf({ table, unchanged }: Scan): Record<string, boolean> {
  return Object.fromEntries(table.directories.map((path, at) => [path, unchanged[at] === 1]));
}

describe("a first scan", () => {
  test("finds files, links, directories and what cannot be captured, in byte order", () => {
    using lab = new ScanLab(PROJECT);
    symlinkSync("nowhere", join(lab.root, "link"));
    execFileSync("mkfifo", [join(lab.root, "pipe")]);
    mkdirSync(join(lab.root, "empty"));
    const { table, pendingPaths } = lab.scan();
    expect(pathsOf(table)).toEqual({
      "a.txt": "file",
      empty: "directory",
      link: "symlink",
      pipe: "gap: special",
      src: "directory",
      "src/b.txt": "file",
      "src/deep": "directory",
      "src/deep/c.txt": "file",
    });
    expect(table.directories).toEqual(["", "empty", "src", "src/deep"]);
    expect(pendingPaths).toEqual(["a.txt", "link", "src/b.txt", "src/deep/c.txt"]);
  });

  test("takes names for bytes: none is lost, and each has its place", () => {
    using lab = new ScanLab({ plain: "1" });
    for (const name of ["caf\xc3\xa9", "caf\xe9", "\xff\xfe", "new\nline", " ", "-rf"])
      writeFileSync(lab.at(name), name);
    const { table } = lab.capture();
    expect(table.names).toEqual([" ", "-rf", "caf\xc3\xa9", "caf\xe9", "new\nline", "plain", "\xff\xfe"]);
    expect(new Set(table.names.map((_, index) => table.hashAt(index))).size).toBe(7);
  });

  test("leaves out by rule, with the rule's text, and does not enter", () => {
    using lab = new ScanLab({ ...PROJECT, "node_modules/x/index.js": "x", ".belayignore": "src/deep\n" });
    const { table, excluded } = lab.scan();
    const paths = pathsOf(table);
    expect(paths["src/deep"]).toMatch(/^excluded: /);
    expect(paths["node_modules"]).toMatch(/^excluded: /);
    expect(table.directories).toEqual(["", "src"]);
    expect(excluded.map(({ path }) => path)).toEqual(["node_modules", "src/deep"]);
  });

  test("makes a gap of a file over the limit, and not of one that is asked for without", () => {
    using lab = new ScanLab({ "large.bin": "x".repeat(101), "small.bin": "x".repeat(100) });
    const limit = { fileLimitBytes: 100 };
    expect(pathsOf(lab.scan(limit).table)).toEqual({ "large.bin": "gap: too-large", "small.bin": "file" });
    const unlimited = new Set(["large.bin" as BytePath]);
    expect(pathsOf(lab.scan({ ...limit, unlimited }).table)["large.bin"]).toBe("file");
  });

  test.skipIf(process.getuid?.() === 0)("makes a gap of a directory that it may not list", () => {
    using lab = new ScanLab(PROJECT);
    chmodSync(join(lab.root, "src/deep"), 0);
    try {
      expect(pathsOf(lab.scan().table)["src/deep"]).toBe("gap: unreadable");
    } finally {
      chmodSync(join(lab.root, "src/deep"), 0o755);
    }
  });

  test("reports each directory before it is listed", () => {
    using lab = new ScanLab(PROJECT);
    const entered: string[] = [];
    lab.scan({
      entering(path) {
        entered.push(path);
        if (path === "src/deep") lab.write("src/deep/late.txt", "after the watch, before the listing");
        return true;
      },
    });
    expect(entered).toEqual(["", "src", "src/deep"]);
    const seen = lab.scan();
    expect(findPath(seen.table, "src/deep/late.txt")).toBeGreaterThanOrEqual(0);
  });

  test("tells the inodes of files with several names", () => {
    using lab = new ScanLab(PROJECT);
    linkSync(join(lab.root, "a.txt"), join(lab.root, "src/second"));
    const { linked } = lab.scan();
    expect(new Set(linked)).toEqual(new Set([lstatSync(join(lab.root, "a.txt"), { bigint: true }).ino]));
    expect(linked).toHaveLength(2);
  });
});

describe("[R7] a scan that knows the one before", () => {
  test("reads nothing when nothing changed, and keeps every directory", () => {
    using lab = new ScanLab(PROJECT);
    const before = lab.capture();
    const after = lab.scan({ previous: before.table });
    expect(after.pending).toEqual([]);
    expect(unchangedOf(after)).toEqual({ "": true, src: true, "src/deep": true });
    expect(after.table.hashAt(findPath(after.table, "src/b.txt"))).toBe(
      before.table.hashAt(findPath(before.table, "src/b.txt")),
    );
  });

  test("reads what was written, and that alone", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture();
    lab.write("src/b.txt", "another");
    const after = lab.scan({ previous: table });
    expect(after.pendingPaths).toEqual(["src/b.txt"]);
    expect(unchangedOf(after)).toEqual({ "": true, src: false, "src/deep": true });
  });

  test("reads a file of the same size and time that is another one", () => {
    using lab = new ScanLab(PROJECT);
    lab.age("a.txt");
    const { table } = lab.capture();
    lab.write("other", "A");
    lab.age("other");
    renameSync(join(lab.root, "other"), join(lab.root, "a.txt"));
    expect(lab.scan({ previous: table }).pendingPaths).toEqual(["a.txt"]);
  });

  test("reads a file whose time was set back: its ctime tells", () => {
    using lab = new ScanLab(PROJECT);
    lab.age("a.txt");
    const { table } = lab.capture();
    lab.write("a.txt", "b");
    lab.age("a.txt");
    expect(lab.scan({ previous: table }).pendingPaths).toEqual(["a.txt"]);
  });

  test("sees a mode change without reading", () => {
    using lab = new ScanLab(PROJECT);
    const { table, snapshot } = lab.capture();
    const index = findPath(table, "a.txt");
    // the times stay what they were: only the mode is another
    table.mode[index] = 0o600;
    const after = lab.capture({ previous: table });
    expect(after.pending).toEqual([]);
    expect(unchangedOf(after)[""]).toBe(false);
    expect(after.snapshot).toBe(snapshot);
  });

  test("reads again what was not at rest", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture({ racySinceNs: 0n });
    expect(table.flags[findPath(table, "a.txt")]).toBe(RACY);
    expect(lab.scan({ previous: table }).pendingPaths).toEqual(["a.txt", "src/b.txt", "src/deep/c.txt"]);
  });

  test("always reads files that may be written through a memory map", () => {
    using lab = new ScanLab({ "data.sqlite": "1", "other.txt": "2" });
    const { table } = lab.capture();
    expect(lab.scan({ previous: table }).pendingPaths).toEqual(["data.sqlite"]);
  });

  test("sees a directory become a file, and a file become a directory", () => {
    using lab = new ScanLab(PROJECT);
    const first = lab.capture();
    lab.remove("src/deep");
    lab.write("src/deep", "a file now");
    unlinkSync(join(lab.root, "a.txt"));
    lab.write("a.txt/inside", "a directory now");
    const second = lab.capture({ previous: first.table });
    expect(pathsOf(second.table)).toEqual({
      "a.txt": "directory",
      "a.txt/inside": "file",
      src: "directory",
      "src/b.txt": "file",
      "src/deep": "file",
    });
    lab.remove("a.txt");
    lab.write("a.txt", "a");
    unlinkSync(join(lab.root, "src/deep"));
    lab.write("src/deep/c.txt", "c");
    expect(lab.capture({ previous: second.table }).snapshot).toBe(first.snapshot);
  });

  test("believes what others have just seen to be as before, of whole directories", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture();
    lab.write("src/b.txt", "changed");
    const asked: string[] = [];
    const seenSame = (directory: number) => {
      asked.push(table.directories[directory]!);
      return true;
    };
    expect(lab.scan({ previous: table, seenSame }).pending).toEqual([]);
    expect(asked).toEqual(["", "src", "src/deep"]);
    // [R73] not where the watch is newer than what they saw
    expect(lab.scan({ previous: table, seenSame, entering: () => true }).pendingPaths).toEqual(["src/b.txt"]);
  });

  test("lists a directory whose times are others, whatever it is told of its entries", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture();
    lab.write("src/new.txt", "new");
    // of the root it is told the truth: an entry of it has other times
    const { pendingPaths } = lab.scan({ previous: table, seenSame: (directory) => directory !== 0 });
    expect(pendingPaths).toEqual(["src/new.txt"]);
  });

  test("judges every name again when the rules are others", () => {
    using lab = new ScanLab({ ...PROJECT, ".belayignore": "" });
    const { table } = lab.capture();
    lab.write(".belayignore", "b.txt\n");
    expect(pathsOf(lab.scan({ previous: table }).table)["src/b.txt"]).toBe("file");
    const paths = pathsOf(lab.scan({ previous: table, trustListings: false }).table);
    expect(paths["src/b.txt"]).toMatch(/^excluded: /);
  });

  test("equals a first scan after any change", () => {
    using lab = new ScanLab(PROJECT);
    let previous = lab.capture().table;
    const steps: (() => void)[] = [
      () => lab.write("src/deep/d.txt", "d"),
      () => renameSync(join(lab.root, "src/deep"), join(lab.root, "moved")),
      () => lab.write("src/deep/c.txt", "c again"),
      () => lab.remove("moved"),
      () => symlinkSync("src", join(lab.root, "moved")),
      () => lab.remove("src"),
      () => chmodSync(join(lab.root, "a.txt"), 0o755),
      () => unlinkSync(join(lab.root, "moved")),
    ];
    for (const step of steps) {
      step();
      const next = lab.capture({ previous });
      expect(next.snapshot).toBe(lab.capture().snapshot);
      previous = next.table;
    }
  });
});

describe("[R132] the budget of what git ignores", () => {
  const LIMITS = { fileBytes: 50, files: 3, bytes: 100 };
  const files = (count: number, size = 1) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`out/f${at}`, "x".repeat(size)]));

  test.each([
    ["files", files(3), files(4)],
    ["bytes", files(2, 50), files(3, 34)],
  ])("by %s: up to it all is captured, above it nothing", (_, within, over) => {
    using fits = new ScanLab({ ".gitignore": "out/\n", ...within });
    expect(pathsOf(fits.scan({ ignoredLimits: LIMITS }).table)["out"]).toBe("directory");
    expect(fits.scan({ ignoredLimits: LIMITS }).table.ignoredRoots).toEqual(new Set(["out"]));
    using large = new ScanLab({ ".gitignore": "out/\n", ...over });
    const scan = large.scan({ ignoredLimits: LIMITS });
    expect(pathsOf(scan.table)["out"]).toMatch(/^excluded: .*, more than /);
    expect(scan.overBudget.map(({ path }) => path)).toEqual(["out"]);
    expect(scan.table.flags[findPath(scan.table, "out")]).toBe(OVER);
  });

  test("of one file: larger, it is left out and the rest stays", () => {
    using lab = new ScanLab({ ".gitignore": "*.dat\n", "a.dat": "x".repeat(50), "b.dat": "x".repeat(51) });
    const paths = pathsOf(lab.scan({ ignoredLimits: LIMITS }).table);
    expect(paths["a.dat"]).toBe("file");
    expect(paths["b.dat"]).toMatch(/^excluded: .*, larger than 50 bytes/);
  });

  test("is crossed by a later scan, and uncrossed by the next", () => {
    using lab = new ScanLab({ ".gitignore": "out/\n", ...files(3) });
    const within = lab.capture({ ignoredLimits: LIMITS });
    lab.write("out/one-more", "x");
    const over = lab.capture({ ignoredLimits: LIMITS, previous: within.table });
    expect(pathsOf(over.table)["out"]).toMatch(/more than 3 files/);
    expect(over.table.directories).toEqual([""]);
    unlinkSync(join(lab.root, "out/one-more"));
    // nothing in the root's own times tells of it
    const again = lab.capture({ ignoredLimits: LIMITS, previous: over.table });
    expect(again.snapshot).toBe(within.snapshot);
  });
});

describe("a scan of some names", () => {
  test("looks at these and at no others", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture();
    lab.write("a.txt", "changed");
    lab.write("src/b.txt", "changed too");
    const { scan } = lab.captureNames(table, { src: { "b.txt": false } });
    expect(scan.pendingPaths).toEqual(["src/b.txt"]);
    expect(pathsOf(scan.table)).toEqual({ "src/b.txt": "file" });
  });

  test("does not enter a directory that is still the same, and enters one that was replaced", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture();
    expect(lab.captureNames(table, { src: { deep: false } }).scan.table.directories).toEqual(["src"]);
    const { scan } = lab.captureNames(table, { src: { deep: true } });
    expect(scan.table.directories).toEqual(["src", "src/deep"]);
    lab.remove("src/deep");
    lab.write("src/deep/other.txt", "of another directory");
    // the event said nothing of a replacement: its inode does
    const replaced = lab.captureNames(table, { src: { deep: false } }).scan;
    expect(pathsOf(replaced.table)).toMatchObject({ "src/deep/other.txt": "file" });
  });

  test("finds nothing where nothing is", () => {
    using lab = new ScanLab(PROJECT);
    const { table } = lab.capture();
    lab.remove("src/deep");
    const { scan } = lab.captureNames(table, { src: { deep: true, "never.txt": true } });
    expect(pathsOf(scan.table)).toEqual({});
    expect(scan.table.directories).toEqual(["src"]);
  });
});
