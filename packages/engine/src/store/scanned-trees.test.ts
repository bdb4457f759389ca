/** Which trees may hold a content: all that do, and of the others only those that are not as they should be. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../model/entry.ts";
import { hashBytes, hashToBytes, keyOfName, type ObjectHash } from "../model/object-hash.ts";
import { encodeTree } from "../model/tree.ts";
import { ScannedTrees } from "./scanned-trees.ts";

const file = (content: Buffer): Entry => ({
  kind: "file",
  mode: 0o644,
  size: content.length,
  hash: hashBytes(content),
});
const directory = (tree: Buffer): Entry => ({ kind: "directory", mode: 0o755, hash: hashBytes(tree) });
const treeOf = (entries: readonly Entry[]) =>
  encodeTree(entries.map((entry, at) => [String(at).padStart(6, "0"), entry] as const));

/** Packs as a scan gives them. */
function scanned(objects: readonly Buffer[], names = objects.map(hashBytes)): ScannedTrees {
  const trees = new ScannedTrees();
  let offset = 0;
  const places = objects.flatMap((object) => [(offset += object.length) - object.length, object.length]);
  trees.add({ id: 1, raw: Buffer.concat(objects), places, names: Buffer.concat(names.map(hashToBytes)) });
  return trees;
}

const mayHold = (trees: ScannedTrees, tree: Buffer | ObjectHash) =>
  trees.mayHold(keyOfName(typeof tree === "string" ? tree : hashBytes(tree)));

test("exactly those that hold it, directly or below, in whatever order they come", () => {
  // each number is a child: a content, or a tree that came before
  const shape = fc.array(fc.array(fc.nat(40), { maxLength: 5 }), { maxLength: 12 });
  fc.assert(
    fc.property(shape, fc.uniqueArray(fc.nat(7)), fc.infiniteStream(fc.nat()), (shapes, wanted, order) => {
      const contents = Array.from({ length: 8 }, (_, at) => Buffer.from(`content ${at}`));
      const trees: { bytes: Buffer; holds: boolean }[] = [];
      for (const children of shapes) {
        const held = children.map((child) =>
          trees.length === 0 || child < 20 ? child % contents.length : trees[child % trees.length]!,
        );
        trees.push({
          bytes: treeOf(
            held.map((each) => (typeof each === "number" ? file(contents[each]!) : directory(each.bytes))),
          ),
          holds: held.some((each) => (typeof each === "number" ? wanted.includes(each) : each.holds)),
        });
      }
      const objects = [...contents, ...trees.map(({ bytes }) => bytes)]
        .map((bytes) => ({ bytes, at: order.next().value }))
        .sort((a, b) => a.at - b.at)
        .map(({ bytes }) => bytes);
      const found = scanned([...new Map(objects.map((bytes) => [hashBytes(bytes), bytes])).values()]);
      found.markHolders(wanted.map((at) => hashBytes(contents[at]!)));
      for (const { bytes, holds } of trees) expect(mayHold(found, bytes)).toBe(holds);
    }),
    { numRuns: 300 },
  );
});

test("many names", () => {
  const contents = Array.from({ length: 5000 }, (_, at) => Buffer.from(`content ${at}`));
  const trees = contents.map((content, at) => treeOf([file(content), file(contents[(at * 7) % 5000]!)]));
  const found = scanned([...trees, ...contents]);
  found.markHolders([hashBytes(contents[4321]!)]);
  const holders = trees.flatMap((tree, at) => (mayHold(found, tree) ? [at] : []));
  expect(holders).toEqual(trees.flatMap((_, at) => (at === 4321 || (at * 7) % 5000 === 4321 ? [at] : [])));
});

describe("may hold anything", () => {
  const content = Buffer.from("content");
  const inner = treeOf([file(content)]);
  const outer = treeOf([directory(inner)]);

  test("a tree that was not seen, and one that names it", () => {
    const found = scanned([content, outer]);
    found.markHolders([]);
    expect([mayHold(found, inner), mayHold(found, outer)]).toEqual([true, true]);
  });

  test("one that names a content that was not seen, until its name is known", () => {
    const found = scanned([inner, outer]);
    found.markHolders([]);
    expect([mayHold(found, inner), mayHold(found, outer)]).toEqual([true, true]);
    found.addName(hashBytes(content));
    found.markHolders([]);
    expect([mayHold(found, inner), mayHold(found, outer)]).toEqual([false, false]);
  });

  test("one whose bytes are damaged, and what is above it", () => {
    for (let at = 0; at < inner.length; at += 1) {
      const damaged = Buffer.from(inner);
      damaged[at]! ^= 0xff;
      const found = scanned([content, damaged, outer], [content, inner, outer].map(hashBytes));
      found.markHolders([]);
      // mode, size and name say nothing about contents, and half of a hash tells it from all others
      const isHarmless = (at >= 14 && at < 22) || (at >= 24 && at < 30) || at >= 46;
      expect([at, mayHold(found, inner), mayHold(found, outer)]).toEqual([at, !isHarmless, !isHarmless]);
    }
  });

  test("a directory that a file's name stands for", () => {
    const found = scanned([content, treeOf([{ kind: "directory", mode: 0o755, hash: hashBytes(content) }])]);
    found.markHolders([]);
    expect(mayHold(found, treeOf([{ kind: "directory", mode: 0o755, hash: hashBytes(content) }]))).toBe(true);
  });
});
