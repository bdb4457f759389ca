/** The plan of a restore: what is written, what is deleted and by which proof, what is kept and why. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { ChosenPaths } from "../rules/chosen-paths.ts";
import { at, WrittenSnapshots, type Table } from "../testing/written-snapshots.ts";
import { planRestoreEdits, type Edits, type RestorePlanInput } from "./plan-restore.ts";

let written: WrittenSnapshots;

beforeEach(() => {
  written = new WrittenSnapshots();
});

afterEach(() => written[Symbol.dispose]());

const file = (content: string, mode?: number) => written.file(content, mode);

/** The plan from one table to another; what the target lacks was absent then, unless a test says otherwise. */
function plan(present: Table, target: Table, more: Partial<RestorePlanInput> = {}): Edits {
  return planRestoreEdits({
    objects: written.store.objects,
    present: written.snapshot(present),
    target: written.snapshot(target),
    wasAbsent: () => true,
    excluded: [],
    chosen: undefined,
    keepNew: false,
    ...more,
  });
}

/** These paths and what is below them. */
const choice = (paths: readonly BytePath[]) => new ChosenPaths(paths, () => true);

/** `+path` made, `-path` deleted, `~path` changed. */
function short({ edits }: Edits): string[] {
  const sign = (from: Entry | undefined, to: Entry | undefined) =>
    from === undefined ? "+" : to === undefined ? "-" : "~";
  return edits.map(({ path, from, to }) => `${sign(from, to)}${path}`);
}

describe("what is written", () => {
  test("content, modes and links that differ; what is equal is no edit", () => {
    const plans = plan(
      { a: file("1"), b: file("b"), l: written.link("x"), m: file("m", 0o644) },
      { a: file("2"), b: file("b"), l: written.link("y"), m: file("m", 0o755), "n/e/w": file("new") },
    );
    expect(short(plans)).toEqual(["~a", "~l", "~m", "+n", "+n/e", "+n/e/w"]);
    expect([plans.kept, plans.conflicts]).toEqual([[], []]);
  });

  test("[N6] never what no capture writes down, whatever the target has there", () => {
    const plans = plan(
      { a: file("1") },
      {
        a: file("2"),
        ".git/config": file("c"),
        ".git/hooks/post-checkout": file("h"),
        "sub/.GIT": file("g"),
        "sub/.belay-stage-1/x": file("x"),
      },
    );
    expect(short(plans)).toEqual(["~a", "+sub"]);
    const reason = "never captured or changed by Belay";
    expect(plans.kept).toEqual([".git", "sub/.GIT", "sub/.belay-stage-1"].map((path) => ({ path, reason })));
  });

  test("the same state is an empty plan", () => {
    const table = { "a/b": file("b"), c: file("c") };
    expect(plan(table, table)).toEqual({ edits: [], kept: [], conflicts: [], left: [] });
  });

  test("a file where a directory stands, and the other way round", () => {
    const [tree, flat] = [{ "x/y": file("y") }, { x: file("x") }];
    expect(short(plan(tree, flat))).toEqual(["~x", "-x/y"]);
    expect(short(plan(flat, tree))).toEqual(["~x", "+x/y"]);
  });
});

describe("[N6] what is deleted", () => {
  test("only what was proved absent then", () => {
    const plans = plan(
      { made: file("later"), ignored: file("then") },
      {},
      { wasAbsent: (path) => path === "made" },
    );
    expect(short(plans)).toEqual(["-made"]);
    expect(plans.kept).toEqual([{ path: "ignored", reason: "not covered by the target's rules" }]);
  });

  test("nothing with keep-new, while what the target has is still written", () => {
    const plans = plan({ a: file("1"), new: file("new") }, { a: file("2"), b: file("b") }, { keepNew: true });
    expect(short(plans)).toEqual(["~a", "+b"]);
    expect(plans.kept).toEqual([{ path: "new", reason: "keep-new" }]);
  });

  test.for(["unreadable", "too-large"] as const)("nothing at or below a gap of the target (%s)", (reason) => {
    const plans = plan(
      { "d/x": file("x"), f: file("f") },
      { d: written.gap(reason, 9), f: written.gap("too-large", 9) },
    );
    expect(short(plans)).toEqual([]);
    expect(plans.kept).toContainEqual({ path: "d", reason: "the target has a gap here" });
    expect(plans.kept).toContainEqual({ path: "f", reason: "the target has a gap here" });
    expect(new Set(plans.kept.map((kept) => kept.reason)).size).toBe(1);
  });

  test("nothing that no checkpoint can hold", () => {
    const plans = plan({ big: written.gap("too-large", 9) }, {});
    expect(plans.kept).toEqual([{ path: "big", reason: "not saved by the safety checkpoint" }]);
    expect(short(plans)).toEqual([]);
  });

  test("nothing that stood in the directory before the store came to it", () => {
    const plans = plan({ old: file("old"), new: file("new") }, {}, { wasHere: (path) => path === "old" });
    expect(short(plans)).toEqual(["-new"]);
    expect(plans.kept).toEqual([{ path: "old", reason: "it was in this directory before the store was" }]);
  });

  test("a directory only with everything in it: one kept file keeps all directories above it", () => {
    const plans = plan(
      { "d/e/kept": file("k"), "d/e/gone": file("g"), "d/f/gone": file("g") },
      {},
      { wasAbsent: (path) => path !== "d/e/kept" },
    );
    expect(short(plans)).toEqual(["-d/e/gone", "-d/f", "-d/f/gone"]);
    expect(plans.kept).toEqual([
      { path: "d/e/kept", reason: "not covered by the target's rules" },
      { path: "d", reason: "the directory is not empty" },
      { path: "d/e", reason: "the directory is not empty" },
    ]);
  });

  test("[I02] a whole restore leaves what git ignores", () => {
    const isIgnored = (path: string) => path === "out.log";
    const plans = plan({ "out.log": file("log"), b: file("b") }, {}, { isIgnored });
    expect(short(plans)).toEqual(["-b"]);
    expect(plans.kept).toEqual([{ path: "out.log", reason: "git ignores it" }]);
  });

  test("unless it was chosen by name", () => {
    const more = { isIgnored: () => true, chosen: choice([at("out.log")]) };
    expect(short(plan({ "out.log": file("log") }, {}, more))).toEqual(["-out.log"]);
  });

  test("or stands in the way of what the target has", () => {
    const isIgnored = (path: string) => path === "out/x.log";
    expect(short(plan({ "out/x.log": file("log") }, { out: file("a file") }, { isIgnored }))).toEqual([
      "~out",
      "-out/x.log",
    ]);
  });
});

describe("what is in the way", () => {
  test("content that cannot be saved is not overwritten, and nothing below it is written", () => {
    const plans = plan({ a: written.gap("unreadable"), b: file("1") }, { "a/x": file("x"), b: file("2") });
    expect(plans.conflicts).toEqual([{ path: "a", reason: "cannot be saved" }]);
    expect(short(plans)).toEqual(["~b"]);
  });

  test("a FIFO makes way for a file, but is not removed", () => {
    expect(short(plan({ pipe: written.gap("special") }, { pipe: file("file") }))).toEqual(["~pipe"]);
    expect(plan({ pipe: written.gap("special") }, {}).kept).toEqual([
      { path: "pipe", reason: "not saved by the safety checkpoint" },
    ]);
  });

  test("a file cannot take the place of a directory in which something stays", () => {
    const plans = plan({ "d/kept": file("k") }, { d: file("d") }, { wasAbsent: () => false });
    expect(plans.conflicts).toEqual([{ path: "d", reason: "cannot be saved" }]);
    expect(short(plans)).toEqual([]);
  });

  test("what the scan left out keeps the directories above it", () => {
    const excluded = [{ path: at("d/node_modules"), rule: "default", bytes: null }];
    const plans = plan({ "d/x": file("x") }, {}, { excluded });
    expect(short(plans)).toEqual(["-d/x"]);
    expect(plans.kept).toEqual([{ path: "d", reason: "the directory is not empty" }]);
  });

  test("a git repository inside is named as the reason", () => {
    const excluded = [{ path: at("lib/.git"), rule: "git", bytes: null }];
    expect(plan({ "lib/x": file("x") }, {}, { excluded }).kept).toEqual([
      { path: "lib", reason: "it holds a git repository" },
    ]);
  });

  test.for([
    ["a workspace of its own", "it is a workspace of its own"],
    ["mount point", "it is a mount point"],
    ["linked git worktree", "it is a linked git worktree"],
  ] as const)("nothing is written into a directory that became %s, which is named once", ([rule, reason]) => {
    const excluded = [{ path: at("d"), rule, bytes: null }];
    const plans = plan(
      { d: written.directory() },
      { "d/x": file("x"), "d/y": file("y"), z: file("z") },
      { excluded },
    );
    expect(short(plans)).toEqual(["+z"]);
    expect(plans.kept).toEqual([{ path: "d", reason }]);
  });
});

describe("chosen paths", () => {
  const present = () => ({ "a/x": file("1"), "a/y": file("1"), b: file("1"), "new/n": file("n") });
  const target = () => ({ "a/x": file("2"), "a/y": file("2"), b: file("2"), "gone/g": file("g") });

  test("a path and everything below it", () => {
    expect(short(plan(present(), target(), { chosen: choice([at("a")]) }))).toEqual(["~a/x", "~a/y"]);
    expect(short(plan(present(), target(), { chosen: choice([at("a/x"), at("b")]) }))).toEqual([
      "~a/x",
      "~b",
    ]);
  });

  test("with the directories that are missing above it", () => {
    expect(short(plan(present(), target(), { chosen: choice([at("gone/g")]) }))).toEqual([
      "+gone",
      "+gone/g",
    ]);
  });

  test("a chosen path that the target lacks is deleted, its directory only if it was chosen", () => {
    expect(short(plan(present(), target(), { chosen: choice([at("new/n")]) }))).toEqual(["-new/n"]);
    expect(short(plan(present(), target(), { chosen: choice([at("new")]) }))).toEqual(["-new", "-new/n"]);
  });

  test("a name that only begins like a chosen one is not chosen", () => {
    const plans = plan(
      { ab: file("1"), a: file("1") },
      { ab: file("2"), a: file("2") },
      { chosen: choice([at("a")]) },
    );
    expect(short(plans)).toEqual(["~a"]);
  });
});
