/** The difference of two trees, read from their bytes, is the difference of what they decode to. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "./entry.ts";
import { HASH_BYTES, hashBytes, hashFromBytes, nameOfKey } from "./object-hash.ts";
import { decodeTree, differingEntries, encodeTree, everyContent } from "./tree.ts";

const name = fc.oneof(
  fc.constantFrom("a", "a-", "a.ts", "ab", "b", "\u00ff"),
  fc.string({ minLength: 1, maxLength: 200, unit: fc.constantFrom("x", "y", "z") }),
);
const content = fc.nat(3).map((number) => hashBytes(Buffer.from([number])));
const mode = fc.constantFrom(0o644, 0o755);
const entry = fc.oneof(
  fc.record({ kind: fc.constant("file" as const), mode, size: fc.nat(300), hash: content }),
  fc.record({ kind: fc.constant("directory" as const), mode, hash: content }),
  fc.record({ kind: fc.constant("symlink" as const), size: fc.nat(9), hash: content }),
  fc.record({ kind: fc.constant("gap" as const), reason: fc.constant("limit" as const), size: fc.nat(9) }),
);
const entries = fc.array(fc.tuple(name, entry), { maxLength: 60 });
/** Versions of one directory: most of it is the same in both. */
const versions = fc.tuple(entries, entries, entries);

const treeOf = (list: readonly (readonly [string, Entry])[]) =>
  encodeTree([...new Map(list)].sort(([a], [b]) => (a < b ? -1 : 1)));
const decoded = (bytes: Buffer) => decodeTree(bytes, hashBytes(bytes));

test("every entry that differs is told once, in order, with both sides of it", () => {
  fc.assert(
    fc.property(versions, ([common, onlyA, onlyB]) => {
      const [a, b] = [treeOf([...common, ...onlyA]), treeOf([...onlyB, ...common])];
      const told: [string, Entry | undefined, Entry | undefined][] = [];
      differingEntries(a, b, (inA, inB) => told.push([(inA ?? inB)!.name, inA?.entry(), inB?.entry()]));
      const [treeA, treeB] = [decoded(a), decoded(b)];
      const expected = [...new Set([...treeA.keys(), ...treeB.keys()])]
        .sort()
        .filter((each) => JSON.stringify(treeA.get(each)) !== JSON.stringify(treeB.get(each)))
        .map((each) => [each, treeA.get(each), treeB.get(each)]);
      expect(told).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("an entry in the bytes of a tree says its kind and the name of its content", () => {
  fc.assert(
    fc.property(entries, (list) => {
      const told: (string | undefined)[] = [];
      const bytes = treeOf(list);
      differingEntries(treeOf([]), bytes, (_, placed) => {
        expect(placed!.isDirectory).toBe(placed!.entry().kind === "directory");
        told.push(placed!.key === "" ? undefined : nameOfKey(placed!.key));
      });
      expect(told).toEqual(
        [...decoded(bytes).values()].map((each) => ("hash" in each ? each.hash : undefined)),
      );
    }),
  );
});

test("the contents of a tree are told with their kind; what is cut off or longer is no tree", () => {
  fc.assert(
    fc.property(entries, fc.nat(), (list, cut) => {
      const bytes = treeOf(list);
      const told: [string, boolean][] = [];
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const look = (end: number) =>
        everyContent(view, { start: 0, end }, (at, isDirectory) =>
          told.push([hashFromBytes(bytes.subarray(at, at + HASH_BYTES)), isDirectory]),
        );
      expect(look(bytes.length)).toBe(true);
      const values = [...decoded(bytes).values()];
      expect(told).toEqual(
        values.flatMap((each) => ("hash" in each ? [[each.hash, each.kind === "directory"]] : [])),
      );
      const end = 13 + (cut % Math.max(1, bytes.length - 13));
      const isWhole = end === 13 || isTree(bytes.subarray(0, end));
      expect(look(end)).toBe(isWhole);
    }),
  );
});

function isTree(bytes: Buffer): boolean {
  try {
    return decoded(bytes).size >= 0;
  } catch {
    return false;
  }
}

test("bytes that are cut off in the middle of an entry are refused", () => {
  const bytes = treeOf([["a", { kind: "file", mode: 0o644, size: 1, hash: hashBytes(Buffer.from("a")) }]]);
  for (let end = 14; end < bytes.length; end += 1)
    expect(() => differingEntries(bytes.subarray(0, end), treeOf([]), () => {})).toThrow("cut off");
});
