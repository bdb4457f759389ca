import { describe, expect, test } from "vitest";
import { inLab, type CaptureLab } from "../../test/support/capture-lab.ts";
import { lookUp } from "../diff/compare-trees.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Edit } from "../model/plan.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { captureWarnings, droppedWarnings, namesakeWarnings } from "./capture-warnings.ts";
import { recordOnTop } from "./record-on-top.ts";
import { withCapture } from "./with-capture.ts";

const path = (text: string) => text as BytePath;

/** What a snapshot has at a path, as one side of an edit. */
const entryAt = (lab: CaptureLab, { snapshot }: Checkpoint, at: string) =>
  lookUp(lab.store.objects, snapshot, path(at)).entry;

function onTop(lab: CaptureLab, edits: (writer: ObjectWriter) => readonly Edit[]) {
  const { store, system } = lab.context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const list = edits(writer);
  return writer.commit(() =>
    recordOnTop(lab.context, writer, {
      request: { kind: "safety" },
      description: "on top",
      operation: "restore",
      madeBy: { step: null },
      edits: list,
    }),
  );
}

describe("a checkpoint on top of the newest one", () => {
  test(
    "is that one and the edits; the disk is not looked at",
    inLab({ a: "1", b: "22", "src/c": "333" }, (lab) => {
      const { checkpoint } = lab.take();
      lab.write("unseen", "on disk only");
      const recorded = onTop(lab, (writer) => [
        { path: path("b"), from: entryAt(lab, checkpoint, "b"), to: undefined },
        {
          path: path("src/d"),
          from: undefined,
          to: { kind: "file", mode: 0o644, size: 4, hash: writer.put(Buffer.from("4444")) },
        },
      ]);
      expect(lab.files(recorded.checkpoint.snapshot)).toEqual({ a: "1", "src/c": "333", "src/d": "4444" });
      expect(recorded.checkpoint).toMatchObject({
        files: 3,
        bytes: 8,
        kind: "safety",
        parents: [checkpoint.id],
      });
      expect(recorded).toMatchObject({ unchanged: false, comparable: true });
      expect(recorded.changes.map((change) => change.path)).toEqual(["b", "src/d"]);
      expect(recorded.checkpoint.changes).toEqual({ added: 1, modified: 0, deleted: 1 });
    }),
  );

  test(
    "has the gaps of the one below, but for those that were edited",
    inLab({ a: "1", "large-1": "x".repeat(20), "large-2": "y".repeat(20) }, (lab) => {
      lab.settings.limits = { ...lab.settings.limits, fileBytes: 10 };
      const { checkpoint } = lab.take();
      const { gaps } = onTop(lab, () => [
        { path: path("large-1"), from: entryAt(lab, checkpoint, "large-1"), to: undefined },
      ]);
      expect(gaps.map((gap) => gap.path)).toEqual(["large-2"]);
    }),
  );

  test(
    "is not lost when another process recorded meanwhile: it goes on top of that",
    inLab({ a: "1", b: "1" }, (lab) => {
      const { checkpoint } = lab.take();
      lab.write("c", "of the other");
      const between = lab.take({}, lab.openContext()).checkpoint;
      const recorded = onTop(lab, () => [
        { path: path("a"), from: entryAt(lab, checkpoint, "a"), to: undefined },
      ]);
      expect(recorded.checkpoint.parents).toEqual([between.id]);
      expect(lab.files(recorded.checkpoint.snapshot)).toEqual({ b: "1", c: "of the other" });
    }),
  );
});

describe("what the user is told about a checkpoint", () => {
  test(
    "that everything is gone, once there was something",
    inLab({ a: "1", b: "1" }, (lab) => {
      const first = lab.take();
      expect(captureWarnings(first)).toEqual([]);
      for (const name of ["a", "b"]) lab.remove(name);
      const emptied = lab.take();
      expect(captureWarnings(emptied)).toEqual([expect.stringContaining("empty now")]);
      expect(captureWarnings(lab.take())).toEqual([]);
      expect(captureWarnings({ ...first, comparable: false })).toEqual([
        expect.stringContaining("previous checkpoint is damaged"),
      ]);
    }),
  );

  test(
    "that a name is taken by two",
    inLab({ a: "1" }, (lab) => {
      expect(namesakeWarnings(lab.store.db, undefined)).toEqual([]);
      expect(namesakeWarnings(lab.store.db, "twice")).toEqual([]);
      const { checkpoint } = withCapture(lab.context, {}, (capture) =>
        capture.record({ request: { name: "twice" }, description: "" }),
      );
      expect(namesakeWarnings(lab.store.db, "twice")).toEqual([expect.stringContaining(checkpoint.id)]);
    }),
  );

  test("[R160] which steps were given up to stay below the cap", () => {
    const step = (description: string) =>
      ({
        id: description,
        kind: "turn",
        thread: null,
        agent: null,
        prompt: null,
        description,
        at: 0,
      }) as const;
    expect(droppedWarnings([])).toEqual([]);
    expect(droppedWarnings([step("one")])).toEqual([
      expect.stringContaining('1 step can no longer be undone: turn "one"'),
    ]);
    expect(droppedWarnings(["one", "two", "three"].map(step))).toEqual([
      expect.stringContaining('3 steps can no longer be undone: turn "two", turn "three" and 1 more'),
    ]);
  });
});
