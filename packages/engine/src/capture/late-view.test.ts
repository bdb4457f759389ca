import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inLab } from "../../test/support/capture-lab.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import type { Doubt } from "../model/checkpoint.ts";
import { withCapture } from "./with-capture.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A deadline that everything written so far is before, and everything written from now on is after. */
async function deadlineNow() {
  await pause(30);
  const at = Date.now();
  await pause(30);
  return { at, reason: "late" } as const;
}

const doubtsOf = (doubts: readonly Doubt[]) =>
  doubts.map(({ path, reason }) => `${path} ${reason}`).toSorted();

describe("[R70] a capture that ends after its deadline", () => {
  test(
    "is not late while the deadline is ahead",
    inLab({ a: "1" }, (lab) => {
      const { doubts } = lab.take({ deadline: { at: Date.now() + 60_000, reason: "late" } });
      expect(doubts).toEqual([]);
    }),
  );

  test(
    "is an ordinary one when nothing changed since",
    inLab({ a: "1" }, async (lab) => {
      lab.take();
      lab.write("a", "2");
      const { doubts, checkpoint } = lab.take({ deadline: await deadlineNow() });
      expect([doubts, lab.files(checkpoint.snapshot)]).toEqual([[], { a: "2" }]);
    }),
  );

  test(
    "marks files and links that changed since, each with the reason of the deadline",
    inLab({ a: "1", b: "1", "src/c": "1" }, async (lab) => {
      lab.take();
      lab.write("a", "in time");
      const deadline = { ...(await deadlineNow()), reason: "missed" } as const;
      lab.write("b", "late");
      lab.write("src/new", "late");
      symlinkSync("b", join(lab.root, "link"));
      const { doubts } = lab.take({ deadline });
      expect(doubtsOf(doubts)).toEqual(["b missed", "link missed", "src/new missed"]);
    }),
  );

  test(
    "marks a file whose mode alone changed since",
    inLab({ a: "1" }, async (lab) => {
      lab.take();
      const deadline = await deadlineNow();
      chmodSync(join(lab.root, "a"), 0o755);
      expect(doubtsOf(lab.take({ deadline }).doubts)).toEqual(["a late"]);
    }),
  );

  test(
    "takes over what is gone since, with its content, and counts it",
    inLab({ a: "1", "src/b": "22", "src/deep/c": "333" }, async (lab) => {
      lab.take();
      const deadline = await deadlineNow();
      lab.remove("src");
      const { checkpoint, doubts } = lab.take({ deadline });
      expect(lab.files(checkpoint.snapshot)).toEqual({ a: "1", "src/b": "22", "src/deep/c": "333" });
      expect(checkpoint).toMatchObject({ files: 3, bytes: 6 });
      expect(doubtsOf(doubts)).toEqual(["src/b late", "src/deep/c late"]);
    }),
  );

  test(
    "does not take over what was gone before the deadline",
    inLab({ a: "1", "old/b": "1", "src/c": "1" }, async (lab) => {
      lab.take();
      lab.remove("old/b");
      const deadline = await deadlineNow();
      lab.remove("src/c");
      const { checkpoint } = lab.take({ deadline });
      expect(Object.keys(lab.files(checkpoint.snapshot))).toEqual(["a", "src/c"]);
    }),
  );

  test(
    "is not what the next look relies on: that one finds the files gone",
    inLab({ a: "1", b: "1" }, async (lab) => {
      lab.take();
      const deadline = await deadlineNow();
      lab.remove("b");
      lab.take({ deadline });
      const { checkpoint, changes } = lab.take();
      expect(lab.files(checkpoint.snapshot)).toEqual({ a: "1" });
      expect(changes.map(({ path, to }) => [path, to])).toEqual([["b", undefined]]);
    }),
  );

  test(
    "the first of a store takes nothing over, and marks what changed since",
    inLab({ a: "1" }, async (lab) => {
      const deadline = await deadlineNow();
      lab.write("b", "1");
      expect(doubtsOf(lab.take({ deadline }).doubts)).toEqual(["b late"]);
    }),
  );

  test(
    "on a damaged checkpoint marks what changed since, and takes nothing over",
    inLab({ a: "1", "src/b": "1" }, async (lab) => {
      lab.take();
      const deadline = await deadlineNow();
      lab.remove("src");
      lab.write(".belayignore", "other rules\n");
      const { db } = lab.store;
      db.run("DELETE FROM object WHERE hash = ?", Buffer.from(headCheckpoint(db)!.rules, "hex"));
      const { doubts, checkpoint, comparable } = lab.take({ deadline }, lab.openContext());
      expect([doubtsOf(doubts), comparable]).toEqual([[".belayignore late"], false]);
      expect(Object.keys(lab.files(checkpoint.snapshot))).toEqual([".belayignore", "a"]);
      db.exec(`DELETE FROM checkpoint WHERE seq < ${checkpoint.seq}`);
    }),
  );

  test(
    "leaves nothing behind when it is not recorded",
    inLab({ a: "1", b: "1" }, async (lab) => {
      lab.take();
      const [objects, deadline] = [lab.count("object"), await deadlineNow()];
      lab.remove("b");
      const seen = withCapture(lab.context, { deadline }, ({ present }) => lab.files(present.snapshot));
      expect([seen, lab.count("object")]).toEqual([{ a: "1", b: "1" }, objects]);
    }),
  );
});
