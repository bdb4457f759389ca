/** The applier on real files: the order of renames, conflicts that appear in between, and everything taken back. */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { createSeededRandom, type SeededRandom } from "../../test/support/seeded-random.ts";
import { readIdentities, readTreeMap } from "../../test/support/tree-map.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { ancestorPaths } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { Edit } from "../model/plan.ts";
import { at, WrittenSnapshots, type Table } from "../testing/written-snapshots.ts";
import { applyEdits, HalfDone, type Applied, type HowToApply } from "./apply.ts";
import { numberEdits, Stage } from "./stage.ts";

let base: string;
let root: string;
let written: WrittenSnapshots;

beforeEach(() => {
  base = makeDirectory("belay-apply-");
  root = join(base, "root");
  mkdirSync(root);
  written = new WrittenSnapshots();
});

afterEach(() => {
  written[Symbol.dispose]();
  rmSync(base, { recursive: true, force: true });
});

const file = (content: string, mode?: number) => written.file(content, mode);
const directory = (mode?: number) => written.directory(mode);
const inRoot = (path: string) => join(root, path);
const read = (path: string) => readFileSync(inRoot(path), "utf8");

/** Makes the files of a table, as they would have been before a restore. */
function lay(table: Table): void {
  for (const [path, entry] of Object.entries(withParents(table))) {
    if (entry.kind === "directory") mkdirSync(inRoot(path));
    else if (entry.kind === "symlink")
      symlinkSync(written.store.objects.read(entry.hash).toString("utf8"), inRoot(path));
    else if (entry.kind === "file")
      writeFileSync(inRoot(path), written.store.objects.read(entry.hash), { mode: entry.mode });
  }
  for (const [path, entry] of Object.entries(withParents(table)).reverse())
    if (entry.kind === "directory" || entry.kind === "file") chmodSync(inRoot(path), entry.mode);
}

function withParents(table: Table): Table {
  const above = Object.keys(table).flatMap((path) => ancestorPaths(at(path)));
  const all = new Map<string, Entry>(above.map((path) => [path, directory()]));
  for (const [path, entry] of Object.entries(table)) all.set(path, entry);
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every path in which two tables differ. */
function editsBetween(from: Table, to: Table): Edit[] {
  const [before, after] = [withParents(from), withParents(to)];
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths
    .map((path) => ({ path: at(path), from: before[path], to: after[path] }))
    .filter((edit) => JSON.stringify(edit.from) !== JSON.stringify(edit.to));
}

/** Stages and applies edits; `look` sees the stage before it is removed. */
function apply(
  edits: readonly Edit[],
  how: Partial<HowToApply> = {},
  look: (stage: Stage) => void = () => undefined,
): Applied {
  const stage = Stage.create(
    { store: written.store, workingCopy: { root: absolutePath(root) } },
    "kkkkkkkkkkkkkkkk",
  );
  try {
    const numbered = numberEdits(edits);
    stage.fill(numbered, written.store.objects);
    return applyEdits(absolutePath(root), stage, numbered, { bestEffort: false, ...how });
  } finally {
    look(stage);
    for (const { name } of stage.nodes()) rmSync(stage.at(name), { force: true });
    stage.remove();
  }
}

/** Does something once, just before the edit that comes after `count` others. */
function before(count: number, work: () => void): Pick<HowToApply, "stopIfAsked"> {
  let calls = 0;
  return {
    stopIfAsked() {
      if (calls === count) work();
      calls += 1;
    },
  };
}

const paths = (items: readonly { path: string }[]) => items.map(({ path }) => path);

describe("what is put in place", () => {
  test("files are made, replaced and removed, and everything else stays the same node", () => {
    const from = { "a.txt": file("a"), "gone.txt": file("gone"), "stays.txt": file("stays") };
    const to = { "a.txt": file("A"), "new.txt": file("new"), "stays.txt": file("stays") };
    lay(from);
    const untouched = readIdentities(root).get("stays.txt");
    const applied = apply(editsBetween(from, to));
    expect(paths(applied.done)).toEqual(["gone.txt", "a.txt", "new.txt"]);
    expect(applied).toMatchObject({ conflicts: [], kept: [], skipped: [], left: [] });
    expect([read("a.txt"), read("new.txt"), existsSync(inRoot("gone.txt"))]).toEqual(["A", "new", false]);
    expect(readIdentities(root).get("stays.txt")).toBe(untouched);
  });

  test("modes come with the content, and alone without writing a byte", () => {
    const from = { run: file("#!/bin/sh\n", 0o644), secret: file("s", 0o644) };
    const to = { run: file("#!/bin/sh\n", 0o755), secret: file("S", 0o600) };
    lay(from);
    const node = statSync(inRoot("run")).ino;
    apply(editsBetween(from, to));
    expect([statSync(inRoot("run")).mode & 0o777, statSync(inRoot("run")).ino]).toEqual([0o755, node]);
    expect([statSync(inRoot("secret")).mode & 0o777, read("secret")]).toEqual([0o600, "S"]);
  });

  test("links are links, whatever they lead to", () => {
    const from = { a: written.link("nowhere"), b: file("b") };
    const to = { a: file("a"), b: written.link("../outside"), c: written.link("a") };
    lay(from);
    apply(editsBetween(from, to));
    expect([readlinkSync(inRoot("b")), readlinkSync(inRoot("c")), read("a")]).toEqual([
      "../outside",
      "a",
      "a",
    ]);
  });

  test("directories are made before what is in them, and get a closed mode last", () => {
    const to = { "d/e/f/x": file("x"), d: directory(0o555), "d/e": directory(0o500) };
    apply(editsBetween({}, to));
    expect(read("d/e/f/x")).toBe("x");
    expect([statSync(inRoot("d")).mode & 0o777, statSync(inRoot("d/e")).mode & 0o777]).toEqual([
      0o555, 0o500,
    ]);
  });

  test("a directory goes when all that is in it goes, deepest first", () => {
    const from = { "d/e/x": file("x"), "d/y": file("y"), z: file("z") };
    lay(from);
    const applied = apply(editsBetween(from, { z: file("z") }));
    expect(paths(applied.done)).toEqual(["d/e/x", "d/y", "d/e", "d"]);
    expect(readdirSync(root)).toEqual(["z"]);
  });

  test("files and directories take each other's place", () => {
    const from = { was: file("file"), "dir/inside": file("inside") };
    const to = { "was/inside": file("now inside"), dir: file("now a file") };
    lay(from);
    apply(editsBetween(from, to));
    expect([read("was/inside"), read("dir")]).toEqual(["now inside", "now a file"]);
  });

  test("a name that is not UTF-8 is reached by its bytes", () => {
    const name = at("caf\xe9");
    apply([{ path: name, from: undefined, to: file("x") }]);
    expect(readdirSync(root, "latin1")).toEqual(["caf\xe9"]);
  });

  test("a second name of a file keeps its content and its mode", () => {
    const from = { a: file("shared", 0o644), b: file("shared", 0o644) };
    lay({ a: file("shared") });
    linkSync(inRoot("a"), inRoot("b"));
    linkSync(inRoot("a"), join(base, "outside"));
    apply(editsBetween(from, { a: file("shared", 0o600), b: file("other") }));
    expect(readFileSync(join(base, "outside"), "utf8")).toBe("shared");
    expect(statSync(join(base, "outside")).mode & 0o777).toBe(0o644);
    expect([statSync(inRoot("a")).mode & 0o777, read("b")]).toEqual([0o600, "other"]);
  });

  test("progress counts what is in place", () => {
    const counts: number[] = [];
    apply(editsBetween({}, { a: file("a"), b: file("b"), c: file("c") }), {
      progress: (done) => void counts.push(done),
    });
    expect(counts).toEqual([1, 2, 3]);
  });
});

describe("[R5] what another program does in between", () => {
  const from = () => ({ a: file("a"), b: file("b"), c: file("c") });
  const to = () => ({ a: file("A"), b: file("B"), c: file("C") });

  test("a write before the exchange is a conflict: the written file stays, and everything else goes back", () => {
    lay(from());
    const applied = apply(
      editsBetween(from(), to()),
      before(2, () => writeFileSync(inRoot("c"), "theirs")),
    );
    expect(applied.conflicts).toEqual([{ path: "c", reason: "changed while restoring" }]);
    expect([read("a"), read("b"), read("c")]).toEqual(["a", "b", "theirs"]);
    expect(applied.done).toEqual([]);
  });

  test("best effort leaves out the path of a conflict and does the rest", () => {
    lay(from());
    const applied = apply(editsBetween(from(), to()), {
      bestEffort: true,
      ...before(1, () => writeFileSync(inRoot("b"), "theirs")),
    });
    expect([paths(applied.done), paths(applied.conflicts)]).toEqual([["a", "c"], ["b"]]);
    expect([read("a"), read("b"), read("c")]).toEqual(["A", "theirs", "C"]);
  });

  test("a write of the same length and content is no conflict", () => {
    lay(from());
    const applied = apply(
      editsBetween(from(), to()),
      before(1, () => writeFileSync(inRoot("b"), "b")),
    );
    expect([applied.conflicts, read("b")]).toEqual([[], "B"]);
  });

  test("another mode of the old node is a conflict, for a change of content and of mode", () => {
    lay(from());
    chmodSync(inRoot("a"), 0o600);
    chmodSync(inRoot("b"), 0o600);
    const edits = editsBetween(from(), { ...to(), b: file("b", 0o755) });
    const applied = apply(edits, { bestEffort: true });
    expect([paths(applied.conflicts), paths(applied.done)]).toEqual([["a", "b"], ["c"]]);
    expect(statSync(inRoot("b")).mode & 0o777).toBe(0o600);
  });

  test("what appears where something new was to come stays", () => {
    const applied = apply(
      editsBetween({}, { a: file("A"), b: file("B") }),
      before(1, () => writeFileSync(inRoot("b"), "theirs")),
    );
    expect([paths(applied.conflicts), read("b"), existsSync(inRoot("a"))]).toEqual([["b"], "theirs", false]);
  });

  test("what disappears before it is replaced or removed is a conflict", () => {
    lay(from());
    unlinkSync(inRoot("a"));
    unlinkSync(inRoot("b"));
    const applied = apply(editsBetween(from(), { b: file("B"), c: file("c") }), { bestEffort: true });
    expect(paths(applied.conflicts)).toEqual(["a", "b"]);
    expect([existsSync(inRoot("a")), existsSync(inRoot("b")), read("c")]).toEqual([false, false, "c"]);
  });

  test("a directory in the place of a file is not moved away", () => {
    lay({ c: file("c") });
    mkdirSync(inRoot("a"));
    writeFileSync(inRoot("a/theirs"), "theirs");
    const applied = apply(editsBetween({ a: file("a"), c: file("c") }, { a: file("A"), c: file("C") }), {
      bestEffort: true,
    });
    expect([paths(applied.conflicts), read("a/theirs"), read("c")]).toEqual([["a"], "theirs", "C"]);
  });

  test("nothing below a path in conflict is touched", () => {
    lay({ d: file("theirs") });
    const edits = editsBetween({}, { "d/x": file("x"), "d/e/y": file("y"), z: file("z") });
    const applied = apply(edits, { bestEffort: true });
    expect([paths(applied.conflicts), paths(applied.done)]).toEqual([["d"], ["z"]]);
    expect([read("d"), read("z")]).toEqual(["theirs", "z"]);
  });

  test("a path that only begins with the name of one in conflict is done", () => {
    lay({ d: file("theirs") });
    const edits = editsBetween({}, { "d/x": file("x"), "d.txt": file("d") });
    expect(paths(apply(edits, { bestEffort: true }).done)).toEqual(["d.txt"]);
  });

  test("a parent swapped for a link that leads outside is a conflict, and nothing outside is touched", () => {
    lay({ "d/x": file("x") });
    mkdirSync(join(base, "outside"));
    writeFileSync(join(base, "outside", "x"), "x");
    const applied = apply(
      editsBetween({ "d/x": file("x") }, { "d/x": file("X") }),
      before(0, () => {
        renameSync(inRoot("d"), join(base, "d"));
        symlinkSync(join(base, "outside"), inRoot("d"));
      }),
    );
    expect(paths(applied.conflicts)).toEqual(["d/x"]);
    expect(readFileSync(join(base, "outside", "x"), "utf8")).toBe("x");
    expect(readdirSync(join(base, "outside"))).toEqual(["x"]);
  });

  test("a spared path is kept as it is instead, and takes nothing back", () => {
    lay({ ...from(), b: file("theirs") });
    const applied = apply(editsBetween(from(), to()), { spared: new Set([at("b")]) });
    expect(applied.kept).toEqual([{ path: "b", reason: "git ignores it, and it was changed since" }]);
    expect([paths(applied.done), read("b")]).toEqual([["a", "c"], "theirs"]);
  });

  test("a directory that holds something new is kept", () => {
    lay({ "d/x": file("x") });
    writeFileSync(inRoot("d/theirs"), "theirs");
    const applied = apply(editsBetween({ "d/x": file("x") }, {}));
    expect(applied.kept).toEqual([{ path: "d", reason: "the directory is not empty" }]);
    expect([paths(applied.done), readdirSync(inRoot("d"))]).toEqual([["d/x"], ["theirs"]]);
  });

  test("one that a file was to replace is a conflict then, and what was in it goes back", () => {
    lay({ "d/x": file("x") });
    writeFileSync(inRoot("d/theirs"), "theirs");
    const applied = apply(editsBetween({ "d/x": file("x") }, { d: file("file") }));
    expect(paths(applied.conflicts)).toEqual(["d"]);
    expect([read("d/x"), read("d/theirs")]).toEqual(["x", "theirs"]);
  });

  test("[R6] what changes again right after it was put in place is not reported as done", () => {
    const edits = editsBetween({}, { a: file("A"), b: file("B") });
    const applied = apply(edits, {
      bestEffort: true,
      progress(done) {
        if (done === 2) unlinkSync(inRoot("a"));
      },
    });
    expect(paths(applied.done)).toEqual(["b"]);
    expect(applied.skipped).toEqual([{ path: "a", reason: "changed again right after it was restored" }]);
  });
});

describe("taking back", () => {
  /** Every kind of edit at once. */
  const from = () => ({
    "deep/er/gone": file("gone"),
    "dir/x": file("x"),
    becomes: file("a file"),
    changed: file("before"),
    link: written.link("before"),
    mode: file("mode", 0o644),
    closed: directory(0o700),
  });
  const to = () => ({
    "becomes/inside": file("inside"),
    changed: file("after"),
    dir: file("a file"),
    link: written.link("after"),
    mode: file("mode", 0o755),
    "new/er/file": file("new"),
    closed: directory(0o755),
  });

  test("wherever it is stopped, the tree is what it was", () => {
    lay(from());
    const tree = readTreeMap(root);
    const edits = editsBetween(from(), to());
    let stops = 0;
    for (let count = 0; ; count += 1) {
      const stop = new Error("stop");
      const applied = apply(
        edits,
        before(count, () => {
          throw stop;
        }),
      );
      if (applied.failure === undefined) break;
      stops += 1;
      expect(applied.failure).toBe(stop);
      expect([applied.done, applied.left]).toEqual([[], []]);
      expect(readTreeMap(root)).toEqual(tree);
    }
    expect(stops).toBeGreaterThanOrEqual(edits.length);
    expect(read("becomes/inside")).toBe("inside");
  });

  test.for(["becomes", "changed", "deep/er/gone", "dir/x", "link"])(
    "a conflict at %s leaves the tree as it was but for the other program's file",
    (victim) => {
      lay(from());
      const expected = new Map(readTreeMap(root));
      const applied = apply(
        editsBetween(from(), to()),
        before(0, () => {
          unlinkSync(inRoot(victim));
          writeFileSync(inRoot(victim), "theirs");
        }),
      );
      expect([paths(applied.conflicts), applied.done, applied.left]).toEqual([[victim], [], []]);
      expect(read(victim)).toBe("theirs");
      const tree = new Map(readTreeMap(root));
      for (const map of [expected, tree]) map.delete(victim);
      expect(tree).toEqual(expected);
    },
  );

  test("a new file that another program wrote to meanwhile stays, and is named", () => {
    const edits = editsBetween({ c: file("c") }, { a: file("A"), c: file("C") });
    lay({ c: file("c") });
    const applied = apply(
      edits,
      before(1, () => {
        writeFileSync(inRoot("a"), "theirs");
        writeFileSync(inRoot("c"), "theirs too");
      }),
    );
    expect([paths(applied.conflicts), applied.left]).toEqual([["c"], ["a"]]);
    expect([read("a"), read("c")]).toEqual(["theirs", "theirs too"]);
  });

  test("an old file that finds its place taken stays in the stage, and is named", () => {
    lay({ a: file("a"), c: file("c") });
    const edits = editsBetween({ a: file("a"), c: file("c") }, { a: file("A"), c: file("C") });
    const olds: string[] = [];
    const applied = apply(
      edits,
      before(1, () => {
        unlinkSync(inRoot("a"));
        writeFileSync(inRoot("a"), "theirs");
        writeFileSync(inRoot("c"), "theirs too");
      }),
      (stage) => olds.push(readFileSync(stage.oldNode(0), "utf8")),
    );
    expect([applied.left, olds, read("a")]).toEqual([["a"], ["a"], "theirs"]);
  });

  test("a directory that was made and holds something else by then stays, and is named", () => {
    lay({ z: file("z") });
    const edits = editsBetween({ z: file("z") }, { "d/x": file("x"), z: file("Z") });
    const applied = apply(
      edits,
      before(2, () => {
        writeFileSync(inRoot("d/theirs"), "theirs");
        writeFileSync(inRoot("z"), "theirs");
      }),
    );
    expect([applied.left, readdirSync(inRoot("d"))]).toEqual([["d"], ["theirs"]]);
  });

  test("a directory that was removed comes back with its mode", () => {
    lay({ "d/x": file("x"), d: directory(0o750), z: file("theirs") });
    const from750 = { "d/x": file("x"), d: directory(0o750), z: file("z") };
    const applied = apply(editsBetween(from750, { z: file("Z") }));
    expect(paths(applied.conflicts)).toEqual(["z"]);
    expect([read("d/x"), statSync(inRoot("d")).mode & 0o777]).toEqual(["x", 0o750]);
  });

  test("[R114] a second stop leaves the files in between to recovery", () => {
    lay({ a: file("a"), b: file("b") });
    const edits = editsBetween({ a: file("a"), b: file("b") }, { a: file("A"), b: file("B") });
    const reason = new Error("first");
    const stop = () => {
      throw reason;
    };
    let caught: unknown;
    try {
      apply(edits, {
        ...before(1, stop),
        stopTakingBack() {
          throw new Error("second");
        },
      });
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(HalfDone);
    expect((caught as HalfDone).cause).toBe(reason);
    expect([read("a"), read("b")]).toEqual(["A", "b"]);
  });

  test("best effort puts a path back that the system refuses half-way, and does the rest", () => {
    lay({ a: file("a"), b: file("b") });
    const edits = editsBetween({ a: file("a"), b: file("b") }, { a: file("A"), b: file("B") });
    const applied = apply(edits, {
      bestEffort: true,
      ...before(0, () => {
        const [stage] = readdirSync(root).filter((name) => name.startsWith(".belay-stage-"));
        unlinkSync(join(root, stage!, "n0"));
      }),
    });
    expect([paths(applied.skipped), paths(applied.done)]).toEqual([["a"], ["b"]]);
    expect([read("a"), read("b")]).toEqual(["a", "B"]);
  });
});

describe("any tree becomes any other", () => {
  const NAMES = ["a", "b", "c"];
  const LEAVES = ["", "one", "two", "three"];

  function randomTable(random: SeededRandom): Table {
    const table: Record<string, Entry> = {};
    for (let count = random.below(8); count > 0; count -= 1) {
      const names = Array.from({ length: 1 + random.below(3) }, () => random.pick(NAMES));
      const path = names.join("/");
      const isTaken = Object.keys(table).some(
        (other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
      );
      if (isTaken) continue;
      table[path] =
        random.below(6) === 0
          ? written.link(random.pick(LEAVES) || "x")
          : random.below(6) === 0
            ? directory(random.pick([0o700, 0o755]))
            : file(random.pick(LEAVES), random.pick([0o600, 0o644, 0o755]));
    }
    return table;
  }

  test("and where it is stopped it is the first one again", () => {
    const random = createSeededRandom();
    for (let round = 0; round < 60; round += 1) {
      const [from, to] = [randomTable(random), randomTable(random)];
      lay(from);
      const edits = editsBetween(from, to);
      const start = readTreeMap(root);
      const where = random.below(edits.length + 1);
      const stopped = apply(
        edits,
        before(where, () => {
          throw new Error("stop");
        }),
      );
      if (stopped.failure !== undefined) expect(readTreeMap(root), `seed ${random.seed}`).toEqual(start);
      if (stopped.failure !== undefined) expect(apply(edits).conflicts).toEqual([]);
      const reached = readTreeMap(root);
      rmSync(root, { recursive: true });
      mkdirSync(root);
      lay(to);
      expect(reached, `seed ${random.seed}, round ${round}`).toEqual(readTreeMap(root));
      rmSync(root, { recursive: true });
      mkdirSync(root);
    }
  });
});

test("the stage is gone afterwards", () => {
  apply(editsBetween({}, { "x/y": file("y") }));
  expect(lstatSync(dirname(inRoot("x/y"))).isDirectory()).toBe(true);
  expect(readdirSync(root)).toEqual(["x"]);
});
