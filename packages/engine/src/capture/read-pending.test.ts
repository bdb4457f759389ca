import {
  chmodSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inLab, type CaptureLab } from "../../test/support/capture-lab.ts";
import type { BytePath } from "../model/byte-path.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { createRules } from "../rules/ignore-rules.ts";
import { ABSENT, FILE, GAP, TABLE_GAPS } from "../scan/file-table.ts";
import { scanTree } from "../scan/scan.ts";
import { RACY } from "../scan/stat-columns.ts";
import type { ContentSink } from "../store/content-sink.ts";
import { buildSnapshot } from "./build-snapshot.ts";
import type { Look } from "./look.ts";
import { OneLook } from "./one-look.ts";
import { readPending, type Reading } from "./read-pending.ts";

const path = (text: string) => text as BytePath;
const isRoot = process.getuid?.() === 0;

/** Keeps what a reading puts into it. */
class Kept implements ContentSink {
  readonly content = new Map<ObjectHash, string>();
  readonly small = (name: ObjectHash, bytes: Buffer) => void this.content.set(name, bytes.toString());
  readonly piece = this.small;
  readonly large = (name: ObjectHash, pieces: readonly ObjectHash[]) =>
    void this.content.set(name, pieces.map((piece) => this.content.get(piece)!).join(""));
}

/** A scan of the lab that trusts nothing, ready to be read. */
function scanned(lab: CaptureLab, look: Look = {}): { reading: Reading; files: Kept; trees: Kept } {
  const [files, trees] = [new Kept(), new Kept()];
  const destination = { sink: trees, fileSink: files, objects: lab.store.objects };
  const one = new OneLook(lab.workingCopyOptions(), look, destination);
  const scan = scanTree({ ...one.scanRequest, rules: () => createRules({}) });
  return { reading: one.reading(scan), files, trees };
}

/** The place of a path in the root directory's part of the table. */
const indexOf = ({ scan }: Reading, name: string) => scan.table.find(0, name);

describe("reading what a scan left to be read", () => {
  test(
    "files go to one sink, link targets to the other, each under its name",
    inLab({ a: "one", b: "two" }, (lab) => {
      symlinkSync("a", join(lab.root, "link"));
      const { reading, files, trees } = scanned(lab);
      const { doubts, read } = readPending({ ...reading, hotSinceNs: 2n ** 62n });
      expect(doubts).toEqual([]);
      expect([...files.content.values()].toSorted()).toEqual(["one", "two"]);
      expect([...trees.content.values()]).toEqual([readlinkSync(join(lab.root, "link"))]);
      expect(read.get(hashBytes(Buffer.from("two")))).toBe("b");
      expect(reading.scan.table.hashAt(indexOf(reading, "a"))).toBe(hashBytes(Buffer.from("one")));
    }),
  );

  test(
    "a file that vanished since the scan is absent, and the rest is read",
    inLab({ a: "one", b: "two" }, (lab) => {
      const { reading, files } = scanned(lab);
      lab.remove("a");
      readPending(reading);
      expect(reading.scan.table.kind[indexOf(reading, "a")]).toBe(ABSENT);
      expect([...files.content.values()]).toEqual(["two"]);
    }),
  );

  test(
    "[R1891] nothing is read through a link that took the place of a directory since the scan",
    inLab({ "d/a": "one", "d/link": "two", b: "three" }, (lab) => {
      const { reading, files, trees } = scanned(lab);
      renameSync(join(lab.root, "d"), `${lab.root}-away`);
      mkdirSync(`${lab.root}-outside`);
      writeFileSync(`${lab.root}-outside/a`, "secret");
      symlinkSync(`${lab.root}-outside`, join(lab.root, "d"));
      readPending(reading);
      expect([...files.content.values()]).toEqual(["three"]);
      expect([...trees.content.values()]).toEqual([]);
      const { table } = reading.scan;
      expect(table.kind[table.find(table.directories.indexOf(path("d")), "a")]).toBe(ABSENT);
    }),
  );

  test(
    "a file that gave way to a directory is a gap, not an end",
    inLab({ a: "one", b: "two" }, (lab) => {
      const { reading, files } = scanned(lab);
      lab.remove("a");
      mkdirSync(join(lab.root, "a"));
      readPending(reading);
      const index = indexOf(reading, "a");
      expect(reading.scan.table.kind[index]).toBe(GAP);
      expect(TABLE_GAPS[reading.scan.table.mode[index]!]).toBe("unreadable");
      expect([...files.content.values()]).toEqual(["two"]);
    }),
  );

  test.skipIf(isRoot)(
    "[R23] a file that may not be read is a gap with its reason",
    inLab({ a: "one" }, (lab) => {
      chmodSync(join(lab.root, "a"), 0);
      const { reading } = scanned(lab);
      readPending(reading);
      expect(TABLE_GAPS[reading.scan.table.mode[indexOf(reading, "a")]!]).toBe("unreadable");
      chmodSync(join(lab.root, "a"), 0o644);
    }),
  );

  test(
    "an error that is not the file's own ends the capture",
    inLab({ a: "one" }, (lab) => {
      const { reading } = scanned(lab);
      const full = {
        ...reading.fileSink,
        small: () => {
          throw new Error("the store is full");
        },
      };
      expect(() => readPending({ ...reading, fileSink: full })).toThrow("the store is full");
    }),
  );

  test(
    "[R7] a file that was touched between the scan and the read is not at rest, and has the times of its content",
    inLab({ a: "one" }, (lab) => {
      const { reading } = scanned(lab);
      lab.write("a", "longer than before");
      utimesSync(join(lab.root, "a"), 1000, 2000);
      readPending(reading);
      const { table } = reading.scan;
      const index = indexOf(reading, "a");
      expect([table.flags[index], table.mtimeNs[index], table.size[index]]).toEqual([
        RACY,
        2000n * 1_000_000_000n,
        "longer than before".length,
      ]);
    }),
  );
});

describe("[R23] the most that one capture reads", () => {
  test(
    "the largest files become gaps until the rest fits",
    inLab({ small: "1", middle: "x".repeat(50), large: "y".repeat(100) }, (lab) => {
      const { reading, files } = scanned(lab);
      readPending({ ...reading, limitBytes: 60 });
      expect([...files.content.values()].map((text) => text.length).toSorted((a, b) => a - b)).toEqual([
        1, 50,
      ]);
      const { table } = reading.scan;
      const index = indexOf(reading, "large");
      expect([table.kind[index], TABLE_GAPS[table.mode[index]!]]).toEqual([GAP, "limit"]);
    }),
  );

  test(
    "paths without a limit are read first of all",
    inLab({ small: "1", middle: "x".repeat(50), large: "y".repeat(100) }, (lab) => {
      const { reading, files } = scanned(lab, { unlimited: new Set([path("large")]) });
      readPending({ ...reading, limitBytes: 101 });
      expect([...files.content.values()].map((text) => text.length).toSorted((a, b) => a - b)).toEqual([
        1, 100,
      ]);
    }),
  );

  test(
    "a limit that everything fits in changes nothing",
    inLab({ a: "12", b: "34" }, (lab) => {
      const { reading } = scanned(lab);
      readPending({ ...reading, limitBytes: 4 });
      expect(["a", "b"].map((name) => reading.scan.table.kind[indexOf(reading, name)])).toEqual([FILE, FILE]);
    }),
  );
});

describe("[R8] files that may be in the middle of being written", () => {
  test(
    "are read a second time: another content is taken, and marked",
    inLab({ a: "first" }, (lab) => {
      const { reading, files } = scanned(lab);
      // a program writes again as soon as the first reading is done
      let reads = 0;
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          if ((reads += 1) === 1) lab.write("a", "second");
        },
      };
      const { doubts, read } = readPending({ ...reading, fileSink, hotSinceNs: 0n });
      expect([reads, doubts]).toEqual([2, [{ path: "a", reason: "unstable" }]]);
      expect(read.get(hashBytes(Buffer.from("second")))).toBe("a");
      expect(reading.scan.table.hashAt(indexOf(reading, "a"))).toBe(hashBytes(Buffer.from("second")));
    }),
  );

  test(
    "are not marked when they hold still",
    inLab({ a: "first" }, (lab) => {
      const { reading } = scanned(lab);
      expect(readPending({ ...reading, hotSinceNs: 0n }).doubts).toEqual([]);
    }),
  );

  test(
    "are handed over where the second reading comes after the answer",
    inLab({ a: "first", b: "old" }, (lab) => {
      utimesSync(join(lab.root, "b"), 1000, 1000);
      const { reading } = scanned(lab);
      const later: [string, string][] = [];
      readPending({ ...reading, hotLater: (at, first) => void later.push([at, first]) });
      expect(later).toEqual([["a", hashBytes(Buffer.from("first"))]]);
    }),
  );
});

describe("[R136] a database and its logs", () => {
  const DATABASE = { "app.db": "pages", "app.db-wal": "frames" };

  test(
    "are read as one: the database once more after its log, to prove that it is the same",
    inLab(DATABASE, (lab) => {
      const { reading, files } = scanned(lab);
      const { doubts, read } = readPending(reading);
      expect(doubts).toEqual([]);
      expect([...files.content.values()].toSorted()).toEqual(["frames", "pages"]);
      expect([...read.values()].toSorted()).toEqual(["app.db", "app.db-wal"]);
    }),
  );

  test(
    "a log that grows while it is read is no harm",
    inLab(DATABASE, (lab) => {
      const { reading, files } = scanned(lab);
      let isGrown = false;
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          if (isGrown || bytes.toString() !== "frames") return;
          isGrown = true;
          lab.write("app.db-wal", "frames and more");
        },
      };
      expect(readPending({ ...reading, fileSink, hotSinceNs: 2n ** 62n }).doubts).toEqual([]);
    }),
  );

  test(
    "pages that move from the log into the database meanwhile: both are read again",
    inLab(DATABASE, (lab) => {
      const { reading, files } = scanned(lab);
      let moves = 1;
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          if (bytes.toString() !== "frames" || (moves -= 1) < 0) return;
          lab.write("app.db", "pages with frames");
          lab.write("app.db-wal", "");
        },
      };
      const { doubts } = readPending({ ...reading, fileSink });
      const { table } = reading.scan;
      expect(doubts).toEqual([]);
      expect(["app.db", "app.db-wal"].map((name) => table.hashAt(indexOf(reading, name)))).toEqual(
        ["pages with frames", ""].map((text) => hashBytes(Buffer.from(text))),
      );
    }),
  );

  test(
    "a database that never holds still is captured as it was last read, and the set is marked",
    inLab(DATABASE, (lab) => {
      const { reading, files } = scanned(lab);
      let version = 0;
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          lab.write("app.db", `version ${(version += 1)}`);
        },
      };
      const { doubts } = readPending({ ...reading, fileSink });
      expect(doubts.map((doubt) => `${doubt.path} ${doubt.reason}`).toSorted()).toEqual([
        "app.db unstable",
        "app.db-wal unstable",
      ]);
    }),
  );

  test(
    "a log that is gone at the next attempt is absent, not half a set",
    inLab(DATABASE, (lab) => {
      const { reading, files } = scanned(lab);
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          if (bytes.toString() !== "frames") return;
          lab.write("app.db", "pages with frames");
          rmSync(join(lab.root, "app.db-wal"));
        },
      };
      expect(readPending({ ...reading, fileSink }).doubts).toEqual([]);
      expect(reading.scan.table.kind[indexOf(reading, "app.db-wal")]).toBe(ABSENT);
    }),
  );

  test(
    "a journal whose transaction ends while it is read is not captured: it would take the transaction back",
    inLab({ "app.db": "pages", "app.db-journal": "old pages" }, (lab) => {
      const { reading, files } = scanned(lab);
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          if (bytes.toString() === "old pages") rmSync(join(lab.root, "app.db-journal"));
        },
      };
      expect(readPending({ ...reading, fileSink }).doubts).toEqual([]);
      expect(reading.scan.table.kind[indexOf(reading, "app.db-journal")]).toBe(ABSENT);
    }),
  );

  test(
    "a journal that begins while the database is read marks it",
    inLab({ "app.db": "pages" }, (lab) => {
      const { reading, files } = scanned(lab);
      const fileSink: ContentSink = {
        ...reading.fileSink,
        small(name, bytes) {
          files.small(name, bytes);
          lab.write("app.db-journal", "old pages");
        },
      };
      const { doubts } = readPending({ ...reading, fileSink });
      expect(doubts.map((doubt) => `${doubt.path} ${doubt.reason}`)).toEqual(["app.db unstable"]);
    }),
  );

  test(
    "one at rest, without a log, is read like any other file",
    inLab({ "app.db": "pages" }, (lab) => {
      utimesSync(join(lab.root, "app.db"), 1000, 1000);
      const { reading } = scanned(lab);
      let reads = 0;
      const fileSink = { ...reading.fileSink, small: () => void (reads += 1) };
      readPending({ ...reading, fileSink });
      expect(reads).toBe(1);
    }),
  );
});

describe("building the snapshot", () => {
  test(
    "counts files, links and gaps; what vanished is in none of them",
    inLab({ a: "12", "src/b": "345", gone: "x" }, (lab) => {
      symlinkSync("a", join(lab.root, "link"));
      lab.settings.limits = { ...lab.settings.limits, fileBytes: 10 };
      lab.write("src/large", "x".repeat(11));
      const { reading, trees } = scanned(lab);
      lab.remove("gone");
      const built = buildSnapshot(reading, undefined);
      expect(built).toMatchObject({ files: 3, bytes: 6 });
      expect(built.gaps).toEqual([{ path: "src/large", reason: "too-large", size: 11 }]);
      expect(trees.content.has(built.snapshot)).toBe(true);
    }),
  );

  test(
    "the same files give the same name, in whatever order they came; another mode gives another",
    inLab({ "b/x": "1", "a/y": "2" }, (lab) => {
      const { snapshot } = buildSnapshot(scanned(lab).reading, undefined);
      for (const name of ["a", "b"]) lab.remove(name);
      lab.write("a/y", "2");
      lab.write("b/x", "1");
      expect(buildSnapshot(scanned(lab).reading, undefined).snapshot).toBe(snapshot);
      chmodSync(join(lab.root, "a/y"), 0o755);
      expect(buildSnapshot(scanned(lab).reading, undefined).snapshot).not.toBe(snapshot);
    }),
  );

  test(
    "a directory in which nothing changed keeps its tree without being encoded again",
    inLab({ "src/a": "1", "docs/b": "2" }, async (lab) => {
      await new Promise((resolve) => setTimeout(resolve, 80));
      lab.take();
      writeFileSync(join(lab.root, "docs/b"), "3");
      const { snapshot, objects } = lab.context.workingCopy.look({});
      // a look stores nothing: the store lacks exactly the trees that were built now
      const built = [...lab.trees(snapshot, objects)].filter(([, tree]) => !lab.store.objects.has(tree));
      expect(built.map(([directory]) => directory)).toEqual(["", "docs"]);
    }),
  );
});
