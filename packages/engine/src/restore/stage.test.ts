/** The staging directory: how it is made, found again, filled, and recognised as this store's own. */
import {
  existsSync,
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
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { hashBytes } from "../model/object-hash.ts";
import { at, WrittenSnapshots } from "../testing/written-snapshots.ts";
import { findStages, giveName, needsContent, numberEdits, Stage, type StageOwner } from "./stage.ts";

const OPERATION = "kkkkkkkkkkkkkkkk";
const NAME = `.belay-stage-${OPERATION}`;

let root: string;
let written: WrittenSnapshots;
let owner: StageOwner;

beforeEach(() => {
  root = makeDirectory("belay-stage-");
  written = new WrittenSnapshots();
  owner = { store: written.store, workingCopy: { root: absolutePath(root) } };
});

afterEach(() => {
  written[Symbol.dispose]();
  rmSync(root, { recursive: true, force: true });
});

const inStage = (name: string) => join(root, NAME, name);
const marks = () => readdirSync(join(root, NAME)).filter((name) => name.startsWith("belay-"));

describe("[R111] whose it is", () => {
  test("it is private, bears a mark, and is found again by it", () => {
    using stage = Stage.create(owner, OPERATION);
    expect(stage.name).toBe(NAME);
    expect(statSync(join(root, NAME)).mode & 0o777).toBe(0o700);
    expect(marks()).toHaveLength(1);
    using found = Stage.find(owner, OPERATION);
    expect(found?.name).toBe(NAME);
    expect(findStages(absolutePath(root))).toEqual([OPERATION]);
  });

  test("the mark of another store or operation does not count", () => {
    Stage.create(owner, OPERATION)[Symbol.dispose]();
    expect(Stage.find({ ...owner, store: { id: "another" } }, OPERATION)).toBeUndefined();
    const [mark] = marks();
    const other = "zzzzzzzzzzzzzzzz";
    mkdirSync(join(root, `.belay-stage-${other}`));
    writeFileSync(join(root, `.belay-stage-${other}`, mark!), "");
    expect(Stage.find(owner, other)).toBeUndefined();
    expect(existsSync(join(root, `.belay-stage-${other}`, mark!))).toBe(true);
  });

  test("a directory of that name that stands already is refused and left alone", () => {
    mkdirSync(join(root, NAME));
    writeFileSync(inStage("precious"), "x");
    expect(() => Stage.create(owner, OPERATION)).toThrow(/EEXIST/);
    expect(Stage.find(owner, OPERATION)).toBeUndefined();
    expect(readFileSync(inStage("precious"), "utf8")).toBe("x");
  });

  test("one that was made and not yet marked is removed where it is empty", () => {
    mkdirSync(join(root, NAME));
    expect(Stage.find(owner, OPERATION)).toBeUndefined();
    expect(existsSync(join(root, NAME))).toBe(false);
  });

  test("a link of that name is not followed", () => {
    mkdirSync(join(root, "elsewhere"));
    symlinkSync("elsewhere", join(root, NAME));
    expect(Stage.find(owner, OPERATION)).toBeUndefined();
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
  });

  test("names that are no operations are not listed", () => {
    for (const name of ["", "x", "kkk", "kkkkkkkkkkkkkkkk1", OPERATION])
      mkdirSync(join(root, `.belay-stage-${name}`));
    expect(findStages(absolutePath(root))).toEqual([OPERATION]);
  });

  test("it is held by descriptor: swapped for a link, it still reaches its own files", () => {
    using stage = Stage.create(owner, OPERATION);
    renameSync(join(root, NAME), join(root, "moved"));
    mkdirSync(join(root, "trap"));
    symlinkSync("trap", join(root, NAME));
    stage.fill(
      numberEdits([{ path: at("a"), from: undefined, to: written.file("a") }]),
      written.store.objects,
    );
    expect(readFileSync(join(root, "moved", "n0"), "utf8")).toBe("a");
    expect(readdirSync(join(root, "trap"))).toEqual([]);
  });
});

describe("new content", () => {
  test("files and links are numbered by their edit; what needs no content gets none", () => {
    using stage = Stage.create(owner, OPERATION);
    const same = written.file("same");
    stage.fill(
      numberEdits([
        { path: at("gone"), from: written.file("x"), to: undefined },
        { path: at("file"), from: undefined, to: written.file("new", 0o755) },
        { path: at("mode"), from: same, to: { ...same, mode: 0o600 } },
        { path: at("link"), from: same, to: written.link("to/where") },
        { path: at("dir"), from: undefined, to: written.directory() },
      ]),
      written.store.objects,
    );
    expect(
      stage
        .nodes()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["n1", "n3"]);
    expect([readFileSync(inStage("n1"), "utf8"), statSync(inStage("n1")).mode & 0o777]).toEqual([
      "new",
      0o755,
    ]);
    expect(readlinkSync(inStage("n3"))).toBe("to/where");
  });

  test("many files are written as well", () => {
    using stage = Stage.create(owner, OPERATION);
    const edits = Array.from({ length: 70 }, (_, index) => ({
      path: at(`f${index}`),
      from: undefined,
      to: written.file(`content ${index}`),
    }));
    stage.fill(numberEdits(edits), written.store.objects);
    expect(stage.nodes()).toHaveLength(70);
    expect(readFileSync(inStage("n69"), "utf8")).toBe("content 69");
  });

  test("[N1] content that the store lacks is an error, and never a node", () => {
    using stage = Stage.create(owner, OPERATION);
    const missing = { ...written.file("x"), hash: hashBytes(Buffer.from("nowhere")) };
    const edits = numberEdits([{ path: at("a"), from: undefined, to: missing }]);
    expect(() => stage.fill(edits, written.store.objects)).toThrow(
      expect.objectContaining({ code: "OBJECT_MISSING" }) as Error,
    );
    expect(stage.nodes()).toEqual([]);
  });

  test("a draft that a crash left is replaced", () => {
    using stage = Stage.create(owner, OPERATION);
    writeFileSync(inStage("draft"), "half");
    stage.fill(
      numberEdits([{ path: at("a"), from: undefined, to: written.file("whole") }]),
      written.store.objects,
    );
    expect(readFileSync(inStage("n0"), "utf8")).toBe("whole");
    expect(existsSync(inStage("draft"))).toBe(false);
  });

  test("it stops before the next file when asked", () => {
    using stage = Stage.create(owner, OPERATION);
    const edits = ["a", "b", "c"].map((name) => ({
      path: at(name),
      from: undefined,
      to: written.file(name),
    }));
    let asked = 0;
    const stop = () => {
      asked += 1;
      if (asked === 3) throw new Error("stop");
    };
    expect(() => stage.fill(numberEdits(edits), written.store.objects, stop)).toThrow("stop");
    expect(
      stage
        .nodes()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["n0", "n1"]);
  });

  test("a copy has another mode and leaves the file alone", () => {
    using stage = Stage.create(owner, OPERATION);
    writeFileSync(join(root, "a"), "a", { mode: 0o644 });
    stage.copy(absolutePath(join(root, "a")), 4, 0o600);
    expect([readFileSync(inStage("n4"), "utf8"), statSync(inStage("n4")).mode & 0o777]).toEqual(["a", 0o600]);
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o644);
  });
});

describe("its end", () => {
  test("an unused stage is discarded with its copies", () => {
    const stage = Stage.create(owner, OPERATION);
    stage.fill(
      numberEdits([{ path: at("a"), from: undefined, to: written.file("a") }]),
      written.store.objects,
    );
    stage.discard();
    expect(readdirSync(root)).toEqual([]);
  });

  test("[N0] old nodes and strange files keep it", () => {
    const stage = Stage.create(owner, OPERATION);
    writeFileSync(inStage("o0"), "only here");
    writeFileSync(inStage("strange"), "not ours");
    stage.discard();
    expect(readdirSync(join(root, NAME)).sort()).toEqual(["o0", "strange"]);
  });

  test("a node set apart makes its number free, and still belongs to its edit", () => {
    using stage = Stage.create(owner, OPERATION);
    writeFileSync(inStage("o2"), "first");
    expect(stage.setApart("o2")).toBe("o2-1");
    writeFileSync(inStage("o2"), "second");
    expect(stage.setApart("o2")).toBe("o2-2");
    expect(stage.setApart("o2-1")).toBe("o2-1");
    expect(stage.nodes()).toEqual([
      { name: "o2-1", role: "old", index: 2 },
      { name: "o2-2", role: "old", index: 2 },
    ]);
  });

  test("only numbered names are nodes", () => {
    using stage = Stage.create(owner, OPERATION);
    for (const name of ["n1", "o10", "n1x", "x1", "n", "o-1", "probe", "draft", "n3-7"])
      writeFileSync(inStage(name), "");
    expect(
      stage
        .nodes()
        .map(({ name, role, index }) => `${name} ${role} ${index}`)
        .sort(),
    ).toEqual(["n1 new 1", "n3-7 new 3", "o10 old 10"]);
  });
});

describe("a name for a node", () => {
  const path = (name: string) => absolutePath(join(root, name));

  test("is given where the place is free, and the node keeps its name in the stage", () => {
    writeFileSync(path("staged"), "new");
    expect(giveName(path("staged"), path("final"))).toBe(true);
    expect([readFileSync(path("final"), "utf8"), statSync(path("final")).nlink]).toEqual(["new", 2]);
  });

  test.for(["file", "directory", "link"])("is not given where a %s stands", (kind) => {
    writeFileSync(path("staged"), "new");
    if (kind === "file") writeFileSync(path("final"), "theirs");
    else if (kind === "directory") mkdirSync(path("final"));
    else symlinkSync("nowhere", path("final"));
    expect(giveName(path("staged"), path("final"))).toBe(false);
    expect(readFileSync(path("staged"), "utf8")).toBe("new");
    if (kind === "file") expect(readFileSync(path("final"), "utf8")).toBe("theirs");
  });

  test("of a node that is gone is an error", () => {
    writeFileSync(path("staged"), "new");
    unlinkSync(path("staged"));
    expect(() => giveName(path("staged"), path("final"))).toThrow(/ENOENT/);
  });
});

test("an edit needs content where bytes come, not where only the mode or the kind of nothing does", () => {
  const [a, b] = [written.file("a"), written.file("b")];
  const link = written.link("a");
  expect(
    [
      [undefined, a],
      [a, b],
      [a, { ...a, mode: 0o600 }],
      [a, undefined],
      [undefined, written.directory()],
      [link, a],
      [a, link],
      [link, link],
      [a, written.gap("special")],
    ].map(([from, to]) => needsContent(from, to)),
  ).toEqual([true, true, false, false, false, true, true, false, false]);
});
