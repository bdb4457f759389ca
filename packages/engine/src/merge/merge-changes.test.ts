import { describe, expect, test } from "vitest";
import { MergeLab, mergeFiles, type Files, type LabMerge } from "../../test/support/merge-lab.ts";

const lines = (text: string) => text.replaceAll(" ", "\n") + "\n";
const CODE = lines("one two three four five six seven eight nine ten");
const change = (text: string, ...pairs: [string, string][]) =>
  pairs.reduce((now, [from, to]) => now.replace(`${from}\n`, `${to}\n`), text);
const facts = ({ conflicts }: LabMerge) =>
  conflicts.map(({ path, kind, severity, options }) => ({ path, kind, severity, options }));

describe("paths", () => {
  test("[R96] what only one side changed is taken, and what both changed equally is no conflict", () => {
    const base = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d/e.txt": "e\n" };
    const merge = mergeFiles(
      base,
      { "a.txt": "A\n", "b.txt": "b\n", "c.txt": "same\n", "d/e.txt": "e\n", "new.txt": "n\n" },
      { "a.txt": "a\n", "b.txt": "B\n", "c.txt": "same\n", "f/g.txt": "g\n" },
    );
    expect(merge.files).toEqual({
      "a.txt": "A\n",
      "b.txt": "B\n",
      "c.txt": "same\n",
      "f/g.txt": "g\n",
      "new.txt": "n\n",
    });
    expect(merge.conflicts).toEqual([]);
    expect(merge.merged).toEqual([]);
  });

  test("[R97] [M43] changes with an unchanged line between them are taken and listed as medium", () => {
    const merge = mergeFiles(
      { "a.txt": CODE },
      { "a.txt": change(CODE, ["two", "TWO"]) },
      { "a.txt": change(CODE, ["four", "FOUR"]) },
    );
    expect(merge.files).toEqual({ "a.txt": change(CODE, ["two", "TWO"], ["four", "FOUR"]) });
    expect(merge.merged).toEqual([{ path: "a.txt", severity: "medium", how: "lines" }]);
  });

  test("[M42] [M43] [M46] overlapping changes are high, with their lines, and ours stays until it is decided", () => {
    const merge = mergeFiles(
      { "a.txt": CODE },
      { "a.txt": change(CODE, ["one", "ONE"], ["five", "ours"]) },
      { "a.txt": change(CODE, ["five", "theirs"], ["ten", "TEN"]) },
    );
    expect(merge.files).toEqual({ "a.txt": change(CODE, ["one", "ONE"], ["five", "ours"]) });
    expect(facts(merge)).toEqual([
      { path: "a.txt", kind: "content", severity: "high", options: ["ours", "theirs", "both", "base"] },
    ]);
    const [conflict] = merge.conflicts;
    expect(conflict!.facts[0]).toEqual({ code: "overlap", line: 5, detail: "both sides changed line 5" });
    expect(conflict!.regions).toEqual([{ class: "overlap", base: [4, 5], ours: [4, 5], theirs: [4, 5] }]);
    expect(conflict!.proposal).toBeNull();
  });

  test("[M43] [M44] changed blanks are low: the other side's change is taken", () => {
    const base = "if a\n  b\nend\n";
    const merge = mergeFiles(
      { "a.txt": base },
      { "a.txt": "if a  \n\n  b\nend\n" },
      { "a.txt": "if x\n  b\nend\n" },
    );
    expect(merge.files).toEqual({ "a.txt": "if x\n  b\nend\n" });
    expect(merge.merged).toEqual([{ path: "a.txt", severity: "low", how: "format" }]);
  });

  test.each([
    [
      "changes that touch",
      CODE,
      [["two", "TWO"]],
      [["three", "THREE"]],
      [
        ["two", "TWO"],
        ["three", "THREE"],
      ],
    ],
    [
      "different words of a line",
      "x\ncall(a, b)\ny\n",
      [["call(a, b)", "call(c, b)"]],
      [["call(a, b)", "call(a, d)"]],
      [["call(a, b)", "call(c, d)"]],
    ],
    [
      "insertions at one place",
      "a\nb\n",
      [["a", "a\nours"]],
      [["a", "a\ntheirs"]],
      [["a", "a\nours\ntheirs"]],
    ],
    [
      "an insertion that contains the other",
      "a\nb\n",
      [["a", "a\nx\ny"]],
      [["a", "a\nx"]],
      [["a", "a\nx\ny"]],
    ],
  ] as [string, string, [string, string][], [string, string][], [string, string][]][])(
    "[M43] [M45] [R97] %s are medium: a proposal, never taken unasked",
    (_, base, ours, theirs, both) => {
      const merge = mergeFiles({ a: base }, { a: change(base, ...ours) }, { a: change(base, ...theirs) });
      expect(merge.files).toEqual({ a: change(base, ...ours) });
      expect(facts(merge)).toMatchObject([{ kind: "content", severity: "medium" }]);
      expect(merge.conflicts[0]!.options).toContain("proposal");
      expect(merge.conflicts[0]!.proposal!.toString()).toBe(change(base, ...both));
      expect(merge.conflicts[0]!.facts.at(-1)).toEqual({ code: "syntax", line: null, detail: "unchecked" });
    },
  );

  test("[M43] [I71] a deletion against a change is critical on either side, and the file is never resurrected", () => {
    const changed: Files = { a: change(CODE, ["one", "ONE"]) };
    const ours = mergeFiles({ a: CODE }, {}, changed);
    expect(ours.files).toEqual({});
    const theirs = mergeFiles({ a: CODE }, changed, {});
    expect(theirs.files).toEqual(changed);
    for (const merge of [ours, theirs])
      expect(facts(merge)).toEqual([
        { path: "a", kind: "delete-modify", severity: "critical", options: ["delete", "keep"] },
      ]);
    expect(ours.conflicts[0]!.facts[0]!.detail).toBe("ours deleted the file that theirs changed");
  });

  test("[M43] binary files and links that both changed are high; equal ones are taken", () => {
    const binary = (byte: number) => Buffer.from([0, byte]);
    const merge = mergeFiles(
      { b: binary(1), l: { link: "x" }, same: binary(1) },
      { b: binary(2), l: { link: "y" }, same: binary(9) },
      { b: binary(3), l: { link: "z" }, same: binary(9) },
    );
    expect(facts(merge)).toEqual([
      { path: "b", kind: "binary", severity: "high", options: ["ours", "theirs", "both"] },
      { path: "l", kind: "symlink", severity: "high", options: ["ours", "theirs", "both"] },
    ]);
  });

  test("[M43] a file in the place of a directory or a link is critical, with nothing of theirs below it taken", () => {
    const merge = mergeFiles(
      { d: { directory: 0o755 }, "x/a": "a\n", l: "text\n" },
      { d: "now a file\n", "x/a": "changed\n", l: { link: "x" } },
      { "d/inside": "i\n", x: "now a file\n", l: "other\n" },
    );
    expect(facts(merge)).toEqual(
      ["d", "l", "x"].map((path) => ({
        path,
        kind: "type",
        severity: "critical",
        options: ["ours", "theirs"],
      })),
    );
    expect(merge.files).toEqual({ d: "now a file\n", "x/a": "changed\n", l: { link: "x" } });
  });

  test("a directory that became a file is taken where the other side left it alone", () => {
    const merge = mergeFiles(
      { "x/a": "a\n", "x/b": "b\n" },
      { "x/a": "a\n", "x/b": "b\n", n: "n\n" },
      { x: "file\n" },
    );
    expect(merge.files).toEqual({ x: "file\n", n: "n\n" });
  });

  test("the mode of the side that changed it counts; of two changed modes ours stays and is named", () => {
    const file = (mode: number, text = CODE) => ({ mode, text });
    const merge = mergeFiles(
      { a: CODE, b: CODE },
      { a: change(CODE, ["one", "ONE"]), b: file(0o755) },
      { a: file(0o755), b: file(0o600, change(CODE, ["ten", "TEN"])) },
    );
    expect(merge.files).toEqual({
      a: file(0o755, change(CODE, ["one", "ONE"])),
      b: file(0o755, change(CODE, ["ten", "TEN"])),
    });
    expect(merge.notMerged).toEqual([{ path: "b", reason: "both sides changed its mode; ours stays (755)" }]);
  });

  test("a directory stays while anything is in it, and goes when nothing is", () => {
    const base = { "d/a": "a\n", "e/a": "a\n", "f/g/a": "a\n", empty: { directory: 0o755 } };
    const merge = mergeFiles(
      base,
      { "d/a": "a\n", "d/ours": "o\n", "f/g/a": "a\n", empty: { directory: 0o755 } },
      { "e/a": "a\n", "e/theirs": "t\n", new: { directory: 0o700 } },
    );
    expect(merge.files).toEqual({ "d/ours": "o\n", "e/theirs": "t\n", new: { directory: 0o700 } });
    expect(merge.conflicts).toEqual([]);
  });

  test("[R96] a path that a side has not captured is left alone and named", () => {
    const merge = mergeFiles(
      { a: CODE, b: { gap: "too-large" } },
      { a: { gap: "too-large" }, b: { gap: "too-large" } },
      { a: "x\n", b: "y\n" },
    );
    expect(merge.edits).toEqual([]);
    expect(merge.notMerged).toEqual(
      ["a", "b"].map((path) => ({ path, reason: "its content was not captured (too-large)" })),
    );
  });

  test("[I72] where several bases differ, only what both sides agree on is taken", () => {
    const lab = new MergeLab();
    const [one, other] = [
      { a: "1\n", b: "1\n", c: "1\n" },
      { a: "2\n", b: "2\n", c: "1\n" },
    ];
    const merge = lab.merge(
      { base: one, ours: { a: "1\n", b: "same\n", c: "1\n" }, theirs: { a: "2\n", b: "same\n", c: "3\n" } },
      { ambiguous: lab.compare(one, other) },
    );
    expect(merge.files).toEqual({ a: "1\n", b: "same\n", c: "3\n" });
    expect(merge.conflicts.map(({ path, facts: [fact] }) => [path, fact!.code])).toEqual([["a", "no-base"]]);
  });
});

describe("moves", () => {
  const moved = (share: number) =>
    CODE.split("\n")
      .map((line, at) => (at < share * 10 ? line : `${line}!`))
      .join("\n");

  test.each([1, 0.9])(
    "[M43] a change follows a file that the other side moved (%d of it the same)",
    (share) => {
      const base = { "old.txt": CODE };
      const changed = change(CODE, ["two", "TWO"]);
      const wanted = share === 1 ? changed : change(changed, ["ten", "ten!"]);
      const text = share === 1 ? CODE : change(CODE, ["ten", "ten!"]);
      for (const merge of [
        mergeFiles(base, { "d/new.txt": text }, { "old.txt": changed }),
        mergeFiles(base, { "old.txt": changed }, { "d/new.txt": text }),
      ]) {
        expect(merge.files).toEqual({ "d/new.txt": wanted });
        expect(merge.merged).toEqual([{ path: "d/new.txt", severity: "medium", how: "rename" }]);
      }
    },
  );

  test("[R97] a file that is only half the same is proposed as moved; less is a deletion", () => {
    const changed = { "old.txt": change(CODE, ["one", "ONE"]) };
    const half = mergeFiles({ "old.txt": CODE }, { "new.txt": moved(0.6) }, changed);
    expect(facts(half)).toEqual([
      { path: "new.txt", kind: "rename", severity: "medium", options: ["ours", "theirs", "proposal"] },
    ]);
    expect(half.files).toEqual({ "new.txt": moved(0.6) });
    expect(half.conflicts[0]!.proposal!.toString()).toBe(change(moved(0.6), ["one", "ONE"]));
    const less = mergeFiles({ "old.txt": CODE }, { "new.txt": moved(0.3) }, changed);
    expect(facts(less)).toMatchObject([{ path: "old.txt", kind: "delete-modify" }]);
  });

  test("[M43] two names for one file, and one name for two files, are critical", () => {
    const differently = mergeFiles({ a: CODE }, { b: CODE }, { c: CODE });
    expect(facts(differently)).toEqual([
      { path: "b", kind: "rename", severity: "critical", options: ["ours", "theirs", "both"] },
    ]);
    expect(differently.conflicts[0]!.otherPath).toBe("c");
    expect(differently.files).toEqual({ b: CODE });
    const onto = mergeFiles(
      { a: CODE, b: "other\nfile\n" },
      { c: CODE, b: "other\nfile\n" },
      { a: CODE, c: "other\nfile\n" },
    );
    expect(facts(onto)).toMatchObject([{ path: "c", kind: "rename", severity: "critical" }]);
  });

  test("the same move on both sides is merged at its new place", () => {
    const merge = mergeFiles(
      { a: CODE },
      { b: change(CODE, ["one", "ONE"]) },
      { b: change(CODE, ["ten", "TEN"]) },
    );
    expect(merge.files).toEqual({ b: change(CODE, ["one", "ONE"], ["ten", "TEN"]) });
  });

  test("[I71] a file that one side moved and the other deleted is not brought back unasked", () => {
    const merge = mergeFiles({ a: CODE }, {}, { b: CODE });
    expect(merge.files).toEqual({});
    expect(facts(merge)).toMatchObject([{ path: "b", kind: "delete-modify", severity: "critical" }]);
  });
});
