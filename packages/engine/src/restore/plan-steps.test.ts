/** The step planner: deltas taken out of the present, or put back in, path by path. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Entry } from "../model/entry.ts";
import { at, WrittenSnapshots, type Table } from "../testing/written-snapshots.ts";
import type { Change } from "../history/changes.ts";
import type { Direction } from "./joined-changes.ts";
import { inPieces, StepPlanner, type StepEdits } from "./plan-steps.ts";

let written: WrittenSnapshots;

beforeEach(() => {
  written = new WrittenSnapshots();
});

afterEach(() => written[Symbol.dispose]());

const file = (content: string, mode?: number) => written.file(content, mode);
const directory = (mode?: number) => written.directory(mode);

/** What one capture changed: `[path, before, after]`. */
type Row = readonly [path: string, old: Entry | undefined, after: Entry | undefined];

function delta(rows: readonly Row[], { checkpoint = 1, shared = false } = {}): Change[] {
  return rows.map(([path, old, after]) => ({ checkpoint, path: at(path), old, new: after, shared }));
}

/** Plans one delta after the other over a present. */
function plan(
  present: Table,
  deltas: readonly (readonly Change[])[],
  { direction = "backwards", includeShared = false }: { direction?: Direction; includeShared?: boolean } = {},
): StepEdits {
  const planner = new StepPlanner({
    objects: written.store.objects,
    present: written.snapshot(present),
    put: (bytes) => written.put(bytes),
    includeShared,
  });
  for (const each of deltas) planner.add(each, direction);
  return planner.result();
}

/** What the edits lead to: content of files, the kind of everything else, null for nothing. */
function results({ edits }: StepEdits): Record<string, string | null> {
  return Object.fromEntries(
    edits.map(({ path, to }) => [
      path,
      to === undefined
        ? null
        : to.kind === "file"
          ? written.store.objects.read(to.hash).toString("utf8")
          : to.kind,
    ]),
  );
}

const reasons = ({ conflicts }: StepEdits) => conflicts.map(({ path, reason }) => `${path}: ${reason}`);

describe("a path that is as the step left it", () => {
  test("goes back to what the step found: changed, made and deleted", () => {
    const step = delta([
      ["changed", file("before"), file("after")],
      ["gone", file("gone"), undefined],
      ["made", undefined, file("made")],
    ]);
    const plans = plan({ changed: file("after"), made: file("made") }, [step]);
    expect(results(plans)).toEqual({ changed: "before", gone: "gone", made: null });
    expect([plans.merged, plans.conflicts, plans.kept]).toEqual([[], [], []]);
  });

  test("and forwards again", () => {
    const step = delta([["a", file("before"), file("after")]]);
    expect(results(plan({ a: file("before") }, [step], { direction: "forwards" }))).toEqual({ a: "after" });
  });

  test("with its mode and its kind", () => {
    const step = delta([
      ["run", file("x", 0o644), file("x", 0o755)],
      ["link", written.link("a"), file("a")],
    ]);
    const { edits } = plan({ run: file("x", 0o755), link: file("a") }, [step]);
    expect(edits).toEqual([
      { path: "link", from: file("a"), to: written.link("a") },
      { path: "run", from: file("x", 0o755), to: file("x", 0o644) },
    ]);
  });

  test("and stays where it is what the step found already", () => {
    const step = delta([["a", file("before"), file("after")]]);
    expect(plan({ a: file("before") }, [step])).toMatchObject({ edits: [], conflicts: [] });
  });

  test("paths outside the delta are not touched", () => {
    const step = delta([["a", undefined, file("a")]]);
    expect(results(plan({ a: file("a"), b: file("anything") }, [step]))).toEqual({ a: null });
  });
});

describe("a path that changed since", () => {
  const lines = (...changed: readonly string[]) =>
    file(["one", "two", "three", "four", "five", ...changed].join("\n") + "\n");
  const withLine = (index: number, text: string) => {
    const all = ["one", "two", "three", "four", "five"];
    all[index] = text;
    return file(`${all.join("\n")}\n`);
  };

  test("is merged where the changes are apart", () => {
    const step = delta([["a", lines(), withLine(0, "ONE")]]);
    const both = file("ONE\ntwo\nthree\nfour\nFIVE\n");
    const plans = plan({ a: both }, [step]);
    expect(results(plans)).toEqual({ a: "one\ntwo\nthree\nfour\nFIVE\n" });
    expect(plans.merged).toEqual(["a"]);
  });

  test("keeps a later mode, and gives the old one back where it did not change", () => {
    const step = delta([["a", file("x\n", 0o644), file("y\n", 0o755)]]);
    expect(plan({ a: file("y\n", 0o755) }, [step]).edits[0]!.to).toMatchObject({ mode: 0o644 });
    expect(plan({ a: file("y\n", 0o600) }, [step]).edits[0]!.to).toMatchObject({ mode: 0o600 });
  });

  test("is a conflict where the same line changed, which names both sides", () => {
    const step = delta([["a", lines(), withLine(2, "THREE")]]);
    const plans = plan({ a: withLine(2, "third") }, [step]);
    expect([plans.edits, reasons(plans)]).toEqual([[], ["a: changed differently meanwhile"]]);
    expect(plans.conflicts[0]).toMatchObject({
      wanted: lines(),
      capture: 1,
      ours: { kind: "file", lines: ["third"], line: 3 },
      theirs: { kind: "file", lines: ["three"], line: 3 },
    });
  });

  test("is a conflict where it is binary, gone, or something else by now", () => {
    const step = (name: string) => delta([[name, file("before"), file("after")]]);
    expect(reasons(plan({ a: file("a\0b") }, [step("a")]))).toEqual(["a: binary"]);
    expect(reasons(plan({}, [step("a")]))).toEqual(["a: changed differently meanwhile"]);
    expect(reasons(plan({ a: written.link("x") }, [step("a")]))).toEqual([
      "a: changed differently meanwhile",
    ]);
    expect(reasons(plan({ "a/inside": file("x") }, [step("a")]))).toEqual([
      "a: changed differently meanwhile",
    ]);
  });

  test("is a conflict where the step made it and its content changed", () => {
    const step = delta([["a", undefined, file("made")]]);
    const plans = plan({ a: file("made, and worked on") }, [step]);
    expect(reasons(plans)).toEqual(["a: changed differently meanwhile"]);
    expect(plans.conflicts[0]).toMatchObject({ theirs: { kind: "absent" } });
  });

  test("one conflict does not hide the edits of other paths: the caller decides", () => {
    const step = delta([
      ["a", file("1"), file("2")],
      ["b", file("1"), file("2")],
    ]);
    const plans = plan({ a: file("3"), b: file("2") }, [step]);
    expect([reasons(plans), results(plans)]).toEqual([["a: changed differently meanwhile"], { b: "1" }]);
  });
});

describe("[R126] a change that several steps may have made", () => {
  const step = () => delta([["a", file("1"), file("2")]], { shared: true });

  test("is a conflict unless it is asked for", () => {
    expect(reasons(plan({ a: file("2") }, [step()]))).toEqual(["a: shared with another thread"]);
    expect(results(plan({ a: file("2") }, [step()], { includeShared: true }))).toEqual({ a: "1" });
  });

  test("and none where the path is as wanted already", () => {
    expect(plan({ a: file("1") }, [step()])).toMatchObject({ edits: [], conflicts: [] });
  });
});

describe("directories", () => {
  test("that the step made go with what it made in them", () => {
    const step = delta([
      ["d", undefined, directory()],
      ["d/e", undefined, directory()],
      ["d/e/x", undefined, file("x")],
    ]);
    expect(results(plan({ "d/e/x": file("x") }, [step]))).toEqual({ d: null, "d/e": null, "d/e/x": null });
  });

  test("stay, and are named, where something else is in them by now", () => {
    const step = delta([
      ["d", undefined, directory()],
      ["d/x", undefined, file("x")],
    ]);
    const plans = plan({ "d/x": file("x"), "d/mine": file("mine") }, [step]);
    expect(results(plans)).toEqual({ "d/x": null });
    expect(plans.kept).toEqual([{ path: "d", reason: "the directory is not empty" }]);
  });

  test("are made again for what comes back", () => {
    const step = delta([
      ["d", directory(), undefined],
      ["d/x", file("x"), undefined],
    ]);
    expect(results(plan({}, [step]))).toEqual({ d: "directory", "d/x": "x" });
  });

  test("are made even where the step did not remove them", () => {
    const step = delta([["d/e/x", file("x"), undefined]]);
    expect(results(plan({}, [step]))).toEqual({ d: "directory", "d/e": "directory", "d/e/x": "x" });
  });

  test("are not made where nothing comes into them after all", () => {
    const first = delta([["d/x", file("x"), undefined]], { checkpoint: 2 });
    const before = delta([["d/x", undefined, file("x")]], { checkpoint: 1 });
    expect(plan({}, [first, before]).edits).toEqual([]);
  });

  test("that are files by now are in the way", () => {
    const step = delta([["d/x", file("x"), undefined]]);
    const plans = plan({ d: file("a file") }, [step]);
    expect([plans.edits, reasons(plans)]).toEqual([[], ["d/x: changed differently meanwhile"]]);
  });

  test("make way for the file that stood there, with all that the step put into them", () => {
    const step = delta([
      ["d", file("a file"), directory()],
      ["d/x", undefined, file("x")],
    ]);
    expect(results(plan({ "d/x": file("x") }, [step]))).toEqual({ d: "a file", "d/x": null });
  });

  test("do not make way where something else is in them by now", () => {
    const step = delta([
      ["d", file("a file"), directory()],
      ["d/x", undefined, file("x")],
    ]);
    const plans = plan({ "d/x": file("x"), "d/mine": file("mine") }, [step]);
    expect(reasons(plans)).toEqual(["d: changed differently meanwhile"]);
  });
});

describe("[R131] what was never captured", () => {
  test("cannot be brought back: the present stays, and the gap is named", () => {
    const step = delta([["big", written.gap("too-large", 9), file("small")]]);
    const plans = plan({ big: file("small") }, [step]);
    expect([plans.edits, plans.conflicts]).toEqual([[], []]);
    expect(plans.gaps).toEqual([{ path: "big", reason: "too-large", size: 9 }]);
  });

  test("is not overwritten either, unless nothing is lost with it", () => {
    const big = delta([["a", file("before"), written.gap("too-large", 9)]]);
    expect(reasons(plan({ a: written.gap("too-large", 9) }, [big]))).toEqual(["a: cannot be saved"]);
    const pipe = delta([["a", file("before"), written.gap("special")]]);
    expect(results(plan({ a: written.gap("special") }, [pipe]))).toEqual({ a: "before" });
  });

  test("is crossed at once from what was before it to what came after it", () => {
    const step = [
      ...delta([["a", file("first"), written.gap("too-large", 9)]], { checkpoint: 1 }),
      ...delta([["a", written.gap("too-large", 9), file("last")]], { checkpoint: 2 }),
    ];
    expect(results(plan({ a: file("last") }, [step]))).toEqual({ a: "first" });
    expect(results(plan({ a: file("first") }, [step], { direction: "forwards" }))).toEqual({ a: "last" });
  });

  test("a file that can be read now and has the size of the gap counts as what was seen", () => {
    const step = delta([["a", file("before"), written.gap("unreadable", 5)]]);
    expect(results(plan({ a: file("12345") }, [step]))).toEqual({ a: "before" });
  });

  test("leaves in place what stands below it", () => {
    const step = delta([
      ["d", written.gap("unreadable"), directory()],
      ["d/x", undefined, file("x")],
    ]);
    const plans = plan({ "d/x": file("x") }, [step]);
    expect([plans.edits, plans.gaps.map(({ path }) => path)]).toEqual([[], ["d"]]);
  });

  test("content that was forgotten is not guessed", () => {
    const step = delta([["a", file("before"), written.gap("forgotten", 5)]]);
    const plans = plan({ a: file("12345") }, [step]);
    expect([plans.edits, plans.gaps]).toEqual([[], [{ path: "a", reason: "forgotten", size: 5 }]]);
  });
});

describe("several steps in one plan", () => {
  test("are all or none: each begins with what the one before it leaves", () => {
    const older = delta([["a", file("0"), file("1")]], { checkpoint: 1 });
    const newer = delta([["a", file("1"), file("2")]], { checkpoint: 2 });
    expect(results(plan({ a: file("2") }, [newer, older]))).toEqual({ a: "0" });
    expect(results(plan({ a: file("0") }, [older, newer], { direction: "forwards" }))).toEqual({ a: "2" });
  });

  test("a file that came with one and went with the next leaves no edit", () => {
    const made = delta([["a", undefined, file("a")]], { checkpoint: 1 });
    const gone = delta([["a", file("a"), undefined]], { checkpoint: 2 });
    expect(plan({}, [gone, made]).edits).toEqual([]);
  });

  test("content that an earlier one merged is merged once more", () => {
    const text = (...all: readonly string[]) => file(`${all.join("\n")}\n`);
    const first = delta([["a", text("1", "-", "2", "-", "3"), text("ONE", "-", "2", "-", "3")]], {
      checkpoint: 1,
    });
    const second = delta([["a", text("ONE", "-", "2", "-", "3"), text("ONE", "-", "TWO", "-", "3")]], {
      checkpoint: 2,
    });
    const plans = plan({ a: text("ONE", "-", "TWO", "-", "three") }, [second, first]);
    expect(results(plans)).toEqual({ a: "1\n-\n2\n-\nthree\n" });
  });

  test("a step's own captures are taken back newest first", () => {
    const step = [
      ...delta([["a", file("0"), file("1")]], { checkpoint: 1 }),
      ...delta([["a", file("1"), file("2")]], { checkpoint: 2 }),
    ];
    expect(results(plan({ a: file("2") }, [step]))).toEqual({ a: "0" });
  });

  test("a file that became a directory and a file again", () => {
    const step = [
      ...delta([
        ["d", file("file"), directory()],
        ["d/x", undefined, file("x")],
      ]),
      ...delta(
        [
          ["d", directory(), file("again")],
          ["d/x", file("x"), undefined],
        ],
        { checkpoint: 2 },
      ),
    ];
    expect(results(plan({ d: file("again") }, [step]))).toEqual({ d: "file" });
  });
});

describe("[R126] the order of steps that were at work together", () => {
  const change = (checkpoint: number, path: string) => delta([[path, undefined, file(path)]], { checkpoint });
  const order = (pieces: readonly (readonly Change[])[]) =>
    pieces.map((piece) => piece.map(({ path, checkpoint }) => `${path}@${checkpoint}`).join(" "));

  test("is that of their captures, and each change counts once", () => {
    const shared = change(3, "both");
    const one = [...change(1, "a"), ...shared, ...change(5, "c")];
    const two = [...change(2, "b"), ...shared];
    expect(order(inPieces([two, one], "backwards"))).toEqual(["c@5", "both@3", "b@2", "a@1"]);
    expect(order(inPieces([one, two], "forwards"))).toEqual(["a@1", "b@2", "both@3", "c@5"]);
  });

  test("captures of one step that follow one another are one piece, oldest first inside", () => {
    const one = [...change(1, "a"), ...change(2, "b")];
    const two = change(3, "c");
    expect(order(inPieces([two, one], "backwards"))).toEqual(["c@3", "a@1 b@2"]);
  });

  test("[R17] steps that worked one after the other keep the order of their list, whenever they were captured", () => {
    const [older, newer] = [change(1, "a"), change(2, "b")];
    expect(order(inPieces([newer, older], "forwards"))).toEqual(["b@2", "a@1"]);
    expect(order(inPieces([older, newer], "backwards"))).toEqual(["a@1", "b@2"]);
  });

  test("steps that overlap move together, beside those that do not", () => {
    const one = [...change(1, "a"), ...change(3, "c")];
    const two = change(2, "b");
    const redone = change(0, "z");
    expect(order(inPieces([redone, one, two], "backwards"))).toEqual(["z@0", "c@3", "b@2", "a@1"]);
    expect(order(inPieces([one, two, redone], "backwards"))).toEqual(["c@3", "b@2", "a@1", "z@0"]);
  });

  test("nothing is nothing", () => {
    expect(inPieces([[], []], "backwards")).toEqual([]);
  });
});

test("only the first hundred conflicts are told with their lines", () => {
  const names = Array.from({ length: 120 }, (_, index) => `f${String(index).padStart(3, "0")}`);
  const present = Object.fromEntries(names.map((name) => [name, file("theirs\n")]));
  const plans = plan(present, [
    delta(names.map((name) => [name, file("before\n"), file("after\n")] as const)),
  ]);
  expect(plans.conflicts).toHaveLength(120);
  expect(plans.conflicts.filter(({ ours }) => ours !== undefined)).toHaveLength(100);
});
