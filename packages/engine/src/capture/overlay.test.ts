import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inLab } from "../../test/support/capture-lab.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { CHUNK_BYTES } from "../fs/read-file.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ContentSink } from "../store/content-sink.ts";
import { matchesEntry, statNodeBelow } from "./node-state.ts";
import { Overlay } from "./overlay.ts";
import { readFileContent, readLinkContent } from "./read-content.ts";

const path = (text: string) => text as BytePath;

describe("an overlay: the store and what is on disk right now", () => {
  test(
    "keeps small things, reads files from disk, and the rest from the store",
    inLab({ a: "on disk" }, (lab) => {
      const { checkpoint } = lab.take();
      const overlay = new Overlay(lab.store.objects, absolutePath(lab.root));
      const [kept, file] = [hashBytes(Buffer.from("kept")), hashBytes(Buffer.from("new on disk"))];
      overlay.small(kept, Buffer.from("kept"));
      lab.write("a", "new on disk");
      overlay.noteFile(file, path("a"));
      expect([kept, file, checkpoint.rules].map((name) => overlay.has(name))).toEqual([true, true, true]);
      expect(overlay.has(hashBytes(Buffer.from("nowhere")))).toBe(false);
      expect([overlay.read(kept), overlay.read(file)].map(String)).toEqual(["kept", "new on disk"]);
      expect(overlay.read(checkpoint.rules)).toEqual(lab.store.objects.read(checkpoint.rules));
      expect(lab.store.objects.has(file)).toBe(false);
    }),
  );

  test(
    "keeps a copy: the caller may reuse its buffer",
    inLab({}, (lab) => {
      const overlay = new Overlay(lab.store.objects, absolutePath(lab.root));
      const bytes = Buffer.from("kept");
      const name = hashBytes(bytes);
      overlay.small(name, bytes);
      bytes.fill(0);
      expect(String(overlay.read(name))).toBe("kept");
    }),
  );

  test(
    "puts larger content together from its pieces",
    inLab({}, (lab) => {
      const overlay = new Overlay(lab.store.objects, absolutePath(lab.root));
      const pieces = ["first ", "second"].map((text) => Buffer.from(text));
      for (const piece of pieces) overlay.piece(hashBytes(piece), piece);
      const whole = hashBytes(Buffer.concat(pieces));
      overlay.large(whole, pieces.map(hashBytes));
      expect(String(overlay.read(whole))).toBe("first second");
    }),
  );

  test(
    "prefers the store to the disk: a file may have changed since it was stored",
    inLab({ a: "stored" }, (lab) => {
      lab.take();
      const overlay = new Overlay(lab.store.objects, absolutePath(lab.root));
      const name = hashBytes(Buffer.from("stored"));
      overlay.noteFile(name, path("a"));
      lab.write("a", "something else");
      expect(String(overlay.read(name))).toBe("stored");
    }),
  );

  test.for(["changed", "gone"])("refuses a file that is %s since it was named", (what) =>
    inLab({ a: "named" }, (lab) => {
      const overlay = new Overlay(lab.store.objects, absolutePath(lab.root));
      const name = hashBytes(Buffer.from("named"));
      overlay.noteFile(name, path("a"));
      if (what === "changed") lab.write("a", "other");
      else lab.remove("a");
      expect(() => overlay.read(name)).toThrow();
      if (what === "changed")
        expect(() => [...overlay.pieces(name)]).toThrow(
          expect.objectContaining({ code: "PLAN_STALE" }) as Error,
        );
    })(),
  );

  test(
    "gives a file of several pieces as it is on disk",
    inLab({}, (lab) => {
      const content = randomBytes(2 * CHUNK_BYTES + 17);
      lab.write("large", content);
      const present = lab.context.workingCopy.look({});
      const { entry } = lookUp(present.objects, present.snapshot, path("large"));
      const { hash } = entry as Entry & { hash: ObjectHash };
      expect(Buffer.concat([...present.objects.pieces(hash)]).equals(content)).toBe(true);
      expect(present.objects.read(hash).equals(content)).toBe(true);
      expect(lab.count("object")).toBe(0);
    }),
  );
});

describe("reading one file", () => {
  const record = () => {
    const calls: string[] = [];
    const sink: ContentSink = {
      small: (_, bytes) => void calls.push(`small ${bytes.length}`),
      piece: (_, bytes) => void calls.push(`piece ${bytes.length}`),
      large: (_, pieces) => void calls.push(`large ${pieces.length}`),
    };
    return { calls, sink };
  };

  test.for([
    [0, ["small 0"]],
    [1, ["small 1"]],
    [CHUNK_BYTES, [`small ${CHUNK_BYTES}`]],
    [CHUNK_BYTES + 1, [`piece ${CHUNK_BYTES}`, "piece 1", "large 2"]],
    [3 * CHUNK_BYTES, [...Array<string>(3).fill(`piece ${CHUNK_BYTES}`), "large 3"]],
  ] as const)("of %i bytes", ([size, expected]) =>
    inLab({}, (lab) => {
      const content = randomBytes(size);
      lab.write("f", content);
      const { calls, sink } = record();
      const read = readFileContent(absolutePath(join(lab.root, "f")), sink);
      expect([read.size, read.stable, calls]).toEqual([size, true, expected]);
      expect(read.hash).toBe(hashBytes(content));
    })(),
  );

  test(
    "a link is its target, whether that exists or not",
    inLab({}, (lab) => {
      symlinkSync("no/where", join(lab.root, "link"));
      const { calls, sink } = record();
      const read = readLinkContent(absolutePath(join(lab.root, "link")), sink);
      expect([read.hash, read.stat, calls]).toEqual([
        hashBytes(Buffer.from("no/where")),
        undefined,
        ["small 8"],
      ]);
    }),
  );
});

describe("a node compared with an entry", () => {
  const at = (root: string, name: string) => absolutePath(join(root, name));

  test(
    "is it only by kind, mode and every byte",
    inLab({ a: "text", b: "tent" }, (lab) => {
      chmodSync(join(lab.root, "a"), 0o644);
      const entry: Entry = { kind: "file", mode: 0o644, size: 4, hash: hashBytes(Buffer.from("text")) };
      expect(matchesEntry(at(lab.root, "a"), entry)).toBe(true);
      expect(matchesEntry(at(lab.root, "b"), entry)).toBe(false);
      expect(matchesEntry(at(lab.root, "a"), { ...entry, mode: 0o755 })).toBe(false);
      expect(matchesEntry(at(lab.root, "a"), { ...entry, size: 5 })).toBe(false);
      expect(matchesEntry(at(lab.root, "a"), undefined)).toBe(false);
      expect(matchesEntry(at(lab.root, "c"), entry)).toBe(false);
      expect(matchesEntry(at(lab.root, "c"), undefined)).toBe(true);
    }),
  );

  test(
    "links by their target, directories by their mode, special nodes by being one",
    inLab({}, (lab) => {
      symlinkSync("x", join(lab.root, "link"));
      mkdirSync(join(lab.root, "d"), { mode: 0o755 });
      chmodSync(join(lab.root, "d"), 0o755);
      const link = { kind: "symlink", size: 1, hash: hashBytes(Buffer.from("x")) } as const;
      const directory: Entry = { kind: "directory", mode: 0o755, hash: hashBytes(Buffer.from("")) };
      const special: Entry = { kind: "gap", reason: "special", size: 0 };
      expect(matchesEntry(at(lab.root, "link"), link)).toBe(true);
      expect(matchesEntry(at(lab.root, "link"), { ...link, hash: hashBytes(Buffer.from("y")) })).toBe(false);
      expect(matchesEntry(at(lab.root, "d"), directory)).toBe(true);
      expect(matchesEntry(at(lab.root, "d"), { ...directory, mode: 0o700 })).toBe(false);
      expect(matchesEntry(at(lab.root, "d"), special)).toBe(false);
    }),
  );

  test(
    "is absent below a file and below what is missing",
    inLab({ a: "1" }, (lab) => {
      expect([statNodeBelow(at(lab.root, "a/b")), statNodeBelow(at(lab.root, "x/y"))]).toEqual([
        undefined,
        undefined,
      ]);
    }),
  );
});
