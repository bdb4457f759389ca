/**
 * The tree that is kept up to date in place, on real files: after every merge it is what a full scan finds, and until
 * `recorded` it claims nothing that the store might lack.
 */
import { chmodSync, linkSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findPath, pathsOf, ScanLab } from "../../../test/support/scan-lab.ts";
import { createSeededRandom } from "../../../test/support/seeded-random.ts";
import type { BytePath } from "../../model/byte-path.ts";
import { RACY } from "../../scan/stat-columns.ts";
import { DISCARD } from "../../store/content-sink.ts";
import { LiveTree } from "./live-tree.ts";

const PROJECT = { "a.txt": "a", "src/b.txt": "b", "src/deep/c.txt": "c" };
const path = (text: string) => text as BytePath;

type Names = Parameters<ScanLab["captureNames"]>[1];

/** A tree of the lab's files as they are now. */
function treeOf(lab: ScanLab): LiveTree {
  return new LiveTree(lab.capture().table);
}

/** Looks at names, merges what is there, and builds; returns the snapshot. */
function see(lab: ScanLab, tree: LiveTree, names: Names): string {
  const previous = tree.table;
  const { scan, looks } = lab.captureNames(previous, names);
  tree.merge(scan, looks);
  return tree.build(DISCARD);
}

/** The tree is what a full scan finds. */
function expectAsScanned(lab: ScanLab, tree: LiveTree, snapshot: string): void {
  const fresh = lab.capture();
  expect(snapshot).toBe(fresh.snapshot);
  expect(pathsOf(tree.table.compacted())).toEqual(pathsOf(fresh.table));
  const counted = new LiveTree(fresh.table);
  expect([tree.files, tree.bytes]).toEqual([counted.files, counted.bytes]);
  expect(tree.gaps).toEqual(counted.gaps);
  expect(tree.excluded).toEqual(counted.excluded);
  expect([...tree.index.keys()].sort()).toEqual([...counted.index.keys()].sort());
}

describe("[R44] what is merged", () => {
  test("a changed file", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.write("src/b.txt", "changed");
    expectAsScanned(lab, tree, see(lab, tree, { src: { "b.txt": false } }));
    expect(tree.changes().edits).toMatchObject([
      { path: "src/b.txt", from: { kind: "file", size: 1 }, to: { kind: "file", size: 7 } },
    ]);
  });

  test("a new file, a removed one, and one in between, sorted by bytes", () => {
    using lab = new ScanLab({ a: "1", c: "3", e: "5" });
    const tree = treeOf(lab);
    lab.write("d", "4");
    unlinkSync(join(lab.root, "c"));
    writeFileSync(lab.at("\xff"), "last");
    lab.write("B", "first");
    const names = { "": { B: true, c: true, d: true, "\xff": true } };
    expectAsScanned(lab, tree, see(lab, tree, names));
    expect([...tree.table.entriesOf(0)].map((index) => tree.table.names[index])).toEqual([
      "B",
      "a",
      "d",
      "e",
      "\xff",
    ]);
  });

  test("a new directory with all that is in it", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.write("new/one/two.txt", "2");
    lab.write("new/three.txt", "3");
    mkdirSync(join(lab.root, "new/empty"));
    expectAsScanned(lab, tree, see(lab, tree, { "": { new: true } }));
    expect(tree.changes().edits.map((edit) => edit.path)).toEqual([
      "new",
      "new/empty",
      "new/one",
      "new/one/two.txt",
      "new/three.txt",
    ]);
  });

  test("a directory that went away takes everything below it along", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.remove("src");
    const { scan, looks } = lab.captureNames(tree.table, { "": { src: true } });
    expect(tree.merge(scan, looks).sort()).toEqual(["src", "src/deep"]);
    expectAsScanned(lab, tree, tree.build(DISCARD));
    expect(tree.find(path("src/deep/c.txt"))).toBe(-1);
  });

  test("a directory that was replaced by a file, and the way back", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    const first = lab.capture().snapshot;
    lab.remove("src/deep");
    lab.write("src/deep", "a file");
    expectAsScanned(lab, tree, see(lab, tree, { src: { deep: true } }));
    unlinkSync(join(lab.root, "src/deep"));
    lab.write("src/deep/c.txt", "c");
    const back = see(lab, tree, { src: { deep: true } });
    expectAsScanned(lab, tree, back);
    expect(back).toBe(first);
    expect(tree.changes().edits).toEqual([]);
  });

  test("a directory that was moved: gone here, entered there", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    renameSync(join(lab.root, "src/deep"), join(lab.root, "moved"));
    const snapshot = see(lab, tree, { "": { moved: true }, src: { deep: true } });
    expectAsScanned(lab, tree, snapshot);
    expect(tree.find(path("moved/c.txt"))).toBeGreaterThanOrEqual(0);
  });

  test("names in a directory that went away with one above it", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.remove("src");
    expectAsScanned(
      lab,
      tree,
      see(lab, tree, { "": { src: true }, src: { deep: true }, "src/deep": { "c.txt": true } }),
    );
  });

  test("a mode, a link, a file with two names", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    chmodSync(join(lab.root, "src"), 0o700);
    chmodSync(join(lab.root, "a.txt"), 0o755);
    symlinkSync("a.txt", join(lab.root, "link"));
    linkSync(join(lab.root, "a.txt"), join(lab.root, "src/second"));
    const names = { "": { src: false, "a.txt": false, link: true }, src: { second: true } };
    expectAsScanned(lab, tree, see(lab, tree, names));
  });

  test("a gap, and what stands there when it is gone", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.write("a.txt", "x".repeat(2 ** 20 + 1));
    expectAsScanned(lab, tree, see(lab, tree, { "": { "a.txt": false } }));
    expect(tree.gaps).toEqual([{ path: "a.txt", reason: "too-large", size: 2 ** 20 + 1 }]);
    lab.write("a.txt", "small again");
    expectAsScanned(lab, tree, see(lab, tree, { "": { "a.txt": false } }));
    expect(tree.gaps).toEqual([]);
  });

  test("nothing, when what was named is as it was", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    expectAsScanned(lab, tree, see(lab, tree, { src: { "b.txt": false, never: true } }));
    expect(tree.changes().edits).toEqual([]);
  });

  test("whatever happens, time and again, recorded or not", () => {
    using lab = new ScanLab(PROJECT);
    const random = createSeededRandom();
    console.log(`seed ${random.seed}`);
    const tree = treeOf(lab);
    const directories = ["", "src", "src/deep", "x", "x/y"];
    for (let step = 0; step < 150; step += 1) {
      const names: Record<string, Record<string, boolean>> = {};
      const note = (at: string) => {
        const slash = at.lastIndexOf("/");
        (names[slash < 0 ? "" : at.slice(0, slash)] ??= {})[at.slice(slash + 1)] = true;
      };
      for (let count = 1 + random.below(3); count > 0; count -= 1) {
        const directory = random.pick(directories);
        const at = `${directory === "" ? "" : `${directory}/`}${random.pick(["a.txt", "b.txt", "deep", "y", "caf\xe9"])}`;
        change(lab, at, random.below(4));
        // the watcher names what was touched, and the directories that had to be made
        for (let above = at; above !== ""; above = above.slice(0, Math.max(0, above.lastIndexOf("/"))))
          note(above);
      }
      const known = Object.fromEntries(Object.entries(names).filter(([at]) => tree.index.has(path(at))));
      const snapshot = see(lab, tree, known);
      expectAsScanned(lab, tree, snapshot);
      if (random.below(2) === 0) tree.recorded();
    }
  });
});

/** One change at a path, whatever stands there. */
function change(lab: ScanLab, at: string, how: number): void {
  try {
    if (how > 0) lab.remove(Buffer.from(at, "latin1").toString("latin1"));
  } catch {
    // nothing was there
  }
  try {
    if (how === 0 || how === 1) lab.write(at, `${how} ${at}`);
    else if (how === 2) mkdirSync(lab.at(at));
  } catch {
    // something else is in the way
  }
}

describe("[R44] until it is recorded", () => {
  test("what was merged has no tree's name, and is read again", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.write("src/b.txt", "changed");
    see(lab, tree, { src: { "b.txt": false } });
    expect(tree.table.isWhole).toBe(false);
    expect(tree.table.flags[tree.find(path("src/b.txt"))]).toBe(RACY);
    // a full scan by this table reads it once more, and finds the same
    const scan = lab.scan({ previous: tree.table.compacted() });
    expect(scan.pendingPaths).toEqual(["src/b.txt"]);
  });

  test("and afterwards it has, and is not", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    lab.write("src/b.txt", "changed");
    const snapshot = see(lab, tree, { src: { "b.txt": false } });
    tree.recorded();
    expect(tree.table.isWhole).toBe(true);
    expect(tree.table.treeHashAt(0)).toBe(snapshot);
    expect(lab.scan({ previous: tree.table.compacted() }).pending).toEqual([]);
    expect(tree.changes()).toEqual({ since: snapshot, edits: [] });
  });

  test("changes are counted from what was last recorded, over several looks", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    const since = tree.changes().since;
    lab.write("a.txt", "one");
    see(lab, tree, { "": { "a.txt": false } });
    lab.write("a.txt", "two!");
    lab.write("new", "3");
    see(lab, tree, { "": { "a.txt": false, new: true } });
    unlinkSync(join(lab.root, "new"));
    see(lab, tree, { "": { new: true } });
    expect(tree.changes()).toMatchObject({
      since,
      edits: [{ path: "a.txt", from: { size: 1 }, to: { size: 4 } }],
    });
  });

  test("[R12] nothing is told of what lies below a gap", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    const { scan, looks } = lab.captureNames(tree.table, { "": { src: true } });
    // the directory could not be listed
    const own = findPath(scan.table, "src");
    scan.table.setGap(own, "unreadable");
    const part = { ...scan, table: scan.table };
    part.table.directories.splice(1);
    tree.merge(part, looks);
    tree.build(DISCARD);
    expect(tree.changes().edits.map((edit) => edit.path)).toEqual(["src"]);
  });
});

describe("the table in place", () => {
  test("is compacted when most of its room is lost", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    let most = 0;
    for (let round = 0; round < 700; round += 1) {
      // a name that comes and goes moves the run of its directory to the end
      if (round % 2 === 0) lab.write("src/e.txt", "e");
      else unlinkSync(join(lab.root, "src/e.txt"));
      see(lab, tree, { src: { "e.txt": true } });
      tree.recorded();
      most = Math.max(most, tree.table.length);
    }
    expect(most).toBeLessThan(2 * 6 + 1024 + 10);
    expect(tree.table.length).toBeLessThan(1100);
    expectAsScanned(lab, tree, tree.build(DISCARD));
  });

  test("knows the files that change without an event", () => {
    using lab = new ScanLab({ "data.sqlite": "1", "plain.txt": "2" });
    const tree = treeOf(lab);
    expect([...tree.restless]).toEqual(["data.sqlite"]);
    unlinkSync(join(lab.root, "data.sqlite"));
    see(lab, tree, { "": { "data.sqlite": true } });
    expect([...tree.restless]).toEqual([]);
  });

  test("tells git what it knows of a file, and nothing of anything else", () => {
    using lab = new ScanLab(PROJECT);
    const tree = treeOf(lab);
    expect(tree.statOf(path("src/b.txt"))).toMatchObject({ size: 1, mode: expect.any(Number) });
    expect(tree.statOf(path("src"))).toBeUndefined();
    expect(tree.statOf(path("src/never"))).toBeUndefined();
    expect(tree.statOf(path("never/never"))).toBeUndefined();
  });
});
