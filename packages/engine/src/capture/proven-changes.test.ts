import { describe, expect, test } from "vitest";
import { inLab, type CaptureLab } from "../../test/support/capture-lab.ts";
import type { BytePath } from "../model/byte-path.ts";
import { asSeen } from "./context.ts";
import { leftBehind } from "./left-behind.ts";
import { lookNow } from "./look-now.ts";
import { namePaths } from "./name-paths.ts";
import { absenceProof, leavers, provenChanges } from "./proven-changes.ts";

const path = (text: string) => text as BytePath;

/** The newest checkpoint, and the working copy as it is now. */
function sides(lab: CaptureLab) {
  const { checkpoint } = lab.take();
  return { before: () => asSeen(lab.context, checkpoint), now: () => lookNow(lab.context) };
}

const told = (edits: ReturnType<typeof provenChanges>) =>
  edits.map(({ path: at, from, to }) => `${from === undefined ? "+" : to === undefined ? "-" : "~"}${at}`);

describe("[N6] changes between two looks", () => {
  test(
    "under the same rules everything is told",
    inLab({ a: "1", b: "1", "src/c": "1" }, (lab) => {
      const { before, now } = sides(lab);
      lab.write("a", "2");
      lab.remove("b");
      lab.write("src/d", "new");
      const present = now();
      expect(told(provenChanges(present.objects, before(), present))).toEqual(["~a", "-b", "+src/d"]);
    }),
  );

  test(
    "what the later rules leave out is not gone",
    inLab({ a: "1", b: "1", "gen/c": "1" }, (lab) => {
      const { before, now } = sides(lab);
      lab.write(".belayignore", "b\ngen/\n");
      const present = now();
      expect(told(provenChanges(present.objects, before(), present))).toEqual(["+.belayignore"]);
    }),
  );

  test(
    "what the earlier rules left out is not new",
    inLab({ ".belayignore": "b\n", a: "1", b: "1" }, (lab) => {
      const { before, now } = sides(lab);
      lab.write(".belayignore", "other\n");
      const present = now();
      expect(told(provenChanges(present.objects, before(), present))).toEqual(["~.belayignore"]);
    }),
  );

  test(
    "under other rules, what both would capture is told",
    inLab({ ".belayignore": "b\n", a: "1", c: "1" }, (lab) => {
      const { before, now } = sides(lab);
      lab.write(".belayignore", "d\n");
      lab.remove("a");
      lab.write("c", "2");
      lab.write("e", "new");
      const present = now();
      expect(told(provenChanges(present.objects, before(), present))).toEqual([
        "~.belayignore",
        "-a",
        "~c",
        "+e",
      ]);
    }),
  );

  test(
    "a path that a tool named when it was absent is new, although the earlier rules left it out",
    inLab({ a: "1" }, (lab) => {
      const { before, now } = sides(lab);
      namePaths(lab.context, [path("node_modules/deep/c")]);
      lab.write("node_modules/other", "not named");
      lab.write("node_modules/deep/c", "named");
      const present = now();
      expect(told(provenChanges(present.objects, before(), present))).toEqual([
        "+node_modules",
        "+node_modules/deep",
        "+node_modules/deep/c",
      ]);
    }),
  );

  test(
    "a path that was there when it was named is not new",
    inLab({ a: "1", "node_modules/b": "1" }, (lab) => {
      const { before, now } = sides(lab);
      namePaths(lab.context, [path("node_modules/b")]);
      const present = now();
      expect(Object.keys(lab.files(present.snapshot, present.objects))).toEqual(["a", "node_modules/b"]);
      expect(told(provenChanges(present.objects, before(), present))).toEqual([]);
    }),
  );
});

describe("the proof that a path was absent", () => {
  test(
    "rules that would have captured it; none for what they leave out, or for what lies in an excluded directory",
    inLab({ ".belayignore": "*.log\n", a: "1", "inner/b": "1" }, (lab) => {
      lab.settings.excluded = [{ path: path("inner"), reason: "another workspace" }];
      const present = lookNow(lab.context);
      const wasAbsent = absenceProof(present.objects, present);
      expect(
        ["x", "src/y", "x.log", "src/y.log", "inner/z", "inner"].map((each) =>
          wasAbsent(path(each), undefined),
        ),
      ).toEqual([true, true, false, false, false, false]);
    }),
  );

  test(
    "or the knowledge that it was",
    inLab({ ".belayignore": "*.log\n" }, (lab) => {
      const present = { ...lookNow(lab.context), absent: new Set([path("x.log")]) };
      expect(absenceProof(present.objects, present)(path("x.log"), undefined)).toBe(true);
    }),
  );
});

describe("what a look left behind", () => {
  test(
    "nothing under the same rules, whatever changed",
    inLab({ a: "1", b: "1" }, (lab) => {
      const { before, now } = sides(lab);
      lab.remove("a");
      const present = now();
      expect(leavers(present.objects, before(), present)).toEqual([]);
    }),
  );

  test(
    "what newer rules leave out; a gap that they leave out is no leaver",
    inLab({ a: "1", big: "x".repeat(2000), "gen/c": "1" }, (lab) => {
      lab.settings.limits = { ...lab.settings.limits, fileBytes: 1000 };
      const { before, now } = sides(lab);
      lab.write(".belayignore", "big\ngen/\na\n");
      const present = now();
      expect(leavers(present.objects, before(), present).map((edit) => edit.path)).toEqual([
        "a",
        "gen",
        "gen/c",
      ]);
    }),
  );

  test(
    "without an open turn: those that are gone from the disk are known to be absent, none is captured by name",
    inLab({ a: "1", b: "1", c: "1" }, (lab) => {
      lab.take();
      lab.write(".belayignore", "b\nc\n");
      lab.remove("c");
      const { included, absent } = leftBehind(lab.context, lab.context.workingCopy.look({}));
      expect([included, [...absent]]).toEqual([[], ["c"]]);
      const { changes } = lab.take();
      expect(told([...changes])).toEqual(["+.belayignore", "-c"]);
    }),
  );

  test(
    "a directory that gave way to something else counts as a path of its own",
    inLab({ a: "1", "gen/c": "1" }, (lab) => {
      const { checkpoint } = lab.take();
      lab.write(".belayignore", "gen\n");
      lab.remove("gen");
      lab.write("gen", "a file now");
      const present = lab.context.workingCopy.look({});
      const { included } = leftBehind(lab.context, present, checkpoint);
      expect([...included].toSorted()).toEqual(["gen", "gen/c"]);
    }),
  );

  test(
    "nothing is told of a damaged checkpoint: an operation that needs it says so",
    inLab({ a: "1", b: "1" }, (lab) => {
      const { checkpoint } = lab.take();
      lab.write(".belayignore", "b\n");
      const other = lab.openContext();
      const present = lookNow(other);
      lab.store.db.run("DELETE FROM object WHERE hash = ?", Buffer.from(checkpoint.rules, "hex"));
      lab.store.db.run("DELETE FROM object WHERE hash = ?", Buffer.from(checkpoint.snapshot, "hex"));
      const { included, absent } = leftBehind(lab.openContext(), present);
      expect([included, absent.size]).toEqual([[], 0]);
      lab.store.db.exec("DELETE FROM checkpoint");
    }),
  );
});
