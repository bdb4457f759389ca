/** The first capture of a store reads with two threads, and records what one would. */
import { once } from "node:events";
import { symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inLab, type CaptureLab } from "../../test/support/capture-lab.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { CHUNK_BYTES } from "../fs/read-file.ts";
import type { BytePath } from "../model/byte-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { packFiles, type FileToPack } from "./pack-files.ts";

/** More than a worker is started for. */
const MANY = 3300;

function writeMany(lab: CaptureLab): void {
  for (let at = 0; at < MANY; at += 1) lab.write(`d${at % 40}/f${at}`, `content ${at % 3000}`);
}

describe("the first capture", () => {
  test(
    "[L41] of many files is hashed in two threads, and is what a look without threads names",
    inLab({ large: "x".repeat(CHUNK_BYTES + 1), empty: "" }, async (lab) => {
      writeMany(lab);
      const worker = once(process, "worker");
      const told: number[] = [];
      const { snapshot } = lab.context.workingCopy.look({});
      const { checkpoint } = lab.take({ progress: ({ done }) => void told.push(done) });
      expect(checkpoint.snapshot).toBe(snapshot);
      expect(checkpoint.files).toBe(MANY + 2);
      // progress never goes back, and reaches what the threads read
      expect(told).toEqual(told.toSorted((a, b) => a - b));
      expect(told.at(-1)).toBeGreaterThan(0);
      await worker;
    }),
  );

  test(
    "stores content once that many files have",
    inLab({ a: "same", b: "same", "src/c": "same" }, (lab) => {
      lab.take();
      // one file's content, two trees, the rules and what they left out
      expect(lab.count("object")).toBe(5);
    }),
  );

  test(
    "that is left without recording leaves an empty store, and the next one is the first again",
    inLab({ a: "1" }, (lab) => {
      lab.settings.capBytes = 1;
      expect(() => lab.take()).toThrow(expect.objectContaining({ code: "STORE_FULL" }) as Error);
      expect([lab.count("object"), lab.count("pack"), lab.count("lease")]).toEqual([0, 0, 0]);
      lab.settings.capBytes = Infinity;
      expect(lab.files(lab.take().checkpoint.snapshot)).toEqual({ a: "1" });
    }),
  );
});

describe("packing files without a store", () => {
  const toPack = (lab: CaptureLab, names: readonly string[]) =>
    names.map((name, at): FileToPack => {
      const { size, mtimeNs, ctimeNs } = statNode(absolutePath(join(lab.root, name)))!;
      return { at, path: name as BytePath, size: Number(size), mtimeNs, ctimeNs };
    });

  test(
    "names each file, packs each content once, and leaves known content out",
    inLab({ a: "one", b: "two", c: "one" }, (lab) => {
      const known = new Set<never>();
      const { packs, read } = packFiles(absolutePath(lab.root), toPack(lab, ["a", "b", "c"]), known);
      expect(read.map(({ at }) => at)).toEqual([0, 1, 2]);
      expect([read[0]!.hash === read[2]!.hash, packs.length, packs[0]!.objects.length]).toEqual([true, 1, 2]);
      expect(packs[0]!.rawBytes).toBe(6);
      const again = packFiles(absolutePath(lab.root), toPack(lab, ["a", "b"]), known);
      expect([again.packs, again.read.length]).toEqual([[], 2]);
    }),
  );

  test.for(["touched", "longer", "gone"])(
    "leaves a file that is %s since the scan to a careful reading",
    (what) =>
      inLab({ a: "one", b: "two" }, (lab) => {
        const files = toPack(lab, ["a", "b"]);
        if (what === "touched") utimesSync(join(lab.root, "a"), 1000, 1000);
        else if (what === "longer") lab.write("a", "longer");
        else lab.remove("a");
        expect(packFiles(absolutePath(lab.root), files, new Set()).read.map(({ at }) => at)).toEqual([1]);
      })(),
  );

  test(
    "[R1891] reads nothing through a link, whatever the scan saw there",
    inLab({ "d/a": "one", b: "two" }, (lab) => {
      symlinkSync("d", join(lab.root, "link"));
      const files = toPack(lab, ["link/a", "b"]);
      expect(packFiles(absolutePath(lab.root), files, new Set()).read.map(({ at }) => at)).toEqual([1]);
    }),
  );

  test(
    "leaves a file larger than one piece to a careful reading",
    inLab({ a: "x".repeat(CHUNK_BYTES + 1), b: "y".repeat(CHUNK_BYTES) }, (lab) => {
      const { read, packs } = packFiles(absolutePath(lab.root), toPack(lab, ["a", "b"]), new Set());
      expect([read.map(({ at }) => at), packs.length]).toEqual([[1], 1]);
    }),
  );
});
