import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { inLab, type CaptureLab } from "../../test/support/capture-lab.ts";
import type { CheckpointId } from "../model/ids.ts";
import { DISCARD } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { LastScan } from "./last-scan.ts";
import type { LookResult } from "./look.ts";
import { OneLook } from "./one-look.ts";

/** Files enough for a share of them to be tolerated, all at rest. */
const MANY = Object.fromEntries(Array.from({ length: 2500 }, (_, at) => [`d${at % 25}/f${at}`, `${at}`]));
const atRest = () => new Promise((resolve) => setTimeout(resolve, 80));

/** Changes with every writing of the stat cache, which replaces the file. */
const written = (lab: CaptureLab) => statSync(lab.workingCopyOptions().cachePath!).ino;

/** What a look saw, not recorded. */
function look(lab: CaptureLab, context = lab.context): LookResult {
  const { store, system, workingCopy } = context;
  return workingCopy.capture({}, new ObjectWriter(store.db, store.objects, system.owner));
}

describe("the last scan", () => {
  test(
    "is there for the next process as soon as a checkpoint is recorded",
    inLab({ a: "1" }, (lab) => {
      const options = lab.workingCopyOptions();
      expect(new LastScan(options).usable()).toBeUndefined();
      const { checkpoint } = lab.take();
      expect(new LastScan(options).usable()?.facts).toMatchObject({
        checkpoint: checkpoint.id,
        snapshot: checkpoint.snapshot,
      });
    }),
  );

  test(
    "does not count for another store, another root, or a checkpoint that is gone",
    inLab({ a: "1" }, (lab) => {
      const options = lab.workingCopyOptions();
      lab.take();
      expect(new LastScan({ ...options, storeId: "another" }).usable()).toBeUndefined();
      expect(new LastScan({ ...options, hasCheckpoint: () => false }).usable()).toBeUndefined();
      const last = new LastScan(options);
      expect(last.usable()).toBeDefined();
      rmSync(lab.root, { recursive: true });
      lab.write("a", "1");
      expect(last.usable()).toBeUndefined();
    }),
  );

  test.for(["torn", "empty", "missing"])("a stat cache that is %s is one that is not there", (how) =>
    inLab({ a: "1", b: "2" }, (lab) => {
      lab.take();
      const { cachePath } = lab.workingCopyOptions();
      const bytes = readFileSync(cachePath!);
      if (how === "missing") rmSync(cachePath!);
      else writeFileSync(cachePath!, how === "empty" ? "" : bytes.subarray(0, bytes.length - 1));
      const other = lab.openContext();
      expect([...look(lab, other).read.values()].toSorted()).toEqual(["a", "b"]);
      expect(lab.files(lab.take({}, other).checkpoint.snapshot)).toEqual({ a: "1", b: "2" });
    })(),
  );

  test(
    "is written again only when a share of the entries changed, counted over captures",
    inLab(MANY, async (lab) => {
      await atRest();
      lab.take();
      const first = written(lab);
      lab.write("d0/f0", "changed");
      lab.take();
      expect(written(lab)).toBe(first);
      // what the cache on disk has missed, the next process reads
      expect([...look(lab, lab.openContext()).read.values()]).toEqual(["d0/f0"]);
      for (const name of ["d0/f25", "d0/f50", "d0/f75"]) lab.write(name, "changed too");
      await atRest();
      lab.take();
      const second = written(lab);
      expect(second).not.toBe(first);
      lab.take();
      expect(written(lab)).toBe(second);
    }),
  );

  test(
    "is written at once when the rules changed",
    inLab(MANY, async (lab) => {
      await atRest();
      lab.take();
      const first = written(lab);
      lab.write(".belayignore", "*.tmp\n");
      lab.take();
      expect(written(lab)).not.toBe(first);
    }),
  );

  test(
    "that is forgotten is not read from disk again",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      const last = new LastScan(lab.workingCopyOptions());
      last.forget();
      expect(last.usable()).toBeUndefined();
    }),
  );

  test(
    "kept in memory reaches the disk with `save`",
    inLab({ a: "1" }, (lab) => {
      const { checkpoint } = lab.take();
      const [last, options] = [new LastScan(lab.workingCopyOptions()), lab.workingCopyOptions()];
      const cache = last.usable()!;
      const before = written(lab);
      last.keepInMemory({ ...cache, facts: { ...cache.facts, rulesKey: "another" } });
      expect(written(lab)).toBe(before);
      last.save();
      expect(new LastScan(options).usable()?.facts).toMatchObject({
        checkpoint: checkpoint.id,
        rulesKey: "another",
      });
    }),
  );

  test(
    "is that of the capture which was recorded, not of one that was only seen",
    inLab({ a: "1" }, (lab) => {
      const { checkpoint } = lab.take();
      lab.write("a", "2");
      const seen = look(lab);
      expect(new LastScan(lab.workingCopyOptions()).usable()?.facts.snapshot).toBe(checkpoint.snapshot);
      seen.remember({ ...checkpoint, id: "unknown to the store" as CheckpointId });
      expect(new LastScan(lab.workingCopyOptions()).usable()).toBeUndefined();
    }),
  );
});

describe("one look", () => {
  const nowhere = (lab: CaptureLab) => ({ sink: DISCARD, fileSink: DISCARD, objects: lab.store.objects });

  test(
    "goes by what every look includes, and by what it includes itself",
    inLab({ a: "1" }, (lab) => {
      const every = { named: ["n"], included: ["i"], excluded: [] } as never;
      const options = { ...lab.workingCopyOptions(), everyLook: () => every };
      const { rules } = new OneLook(options, { included: ["mine"] as never[] }, nowhere(lab));
      expect(rules).toMatchObject({ named: ["n"], included: ["i", "mine"], excluded: [] });
      expect(rules.settings.fileLimitBytes).toBe(lab.settings.limits.fileBytes);
    }),
  );

  test(
    "trusts no stat when it looks behind size limits: what was a gap looks as before",
    inLab({ large: "x".repeat(20) }, (lab) => {
      lab.settings.limits = { ...lab.settings.limits, fileBytes: 10 };
      lab.take();
      const options = lab.workingCopyOptions();
      const unlimited = new Set(["large"]) as never;
      expect(new OneLook(options, { unlimited }, nowhere(lab)).trustsStats).toBe(false);
      const { gaps, files } = lab.context.workingCopy.look({ unlimited });
      expect([gaps, files]).toEqual([[], 1]);
    }),
  );

  test(
    "keeps the limits it began with",
    inLab({ a: "1" }, (lab) => {
      const look = new OneLook(lab.workingCopyOptions(), {}, nowhere(lab));
      const { fileBytes } = lab.settings.limits;
      lab.settings.limits = { ...lab.settings.limits, fileBytes: 1 };
      expect(look.scanRequest.fileLimitBytes).toBe(fileBytes);
    }),
  );
});
