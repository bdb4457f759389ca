/**
 * Whole trees, changed at random on two sides. Every line has a number of its own, so that it can be followed: through
 * changes, moves and deletions it ends in the result, in a conflict, or was taken out by a side.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { compareTrees } from "../src/diff/compare-trees.ts";
import { editTree } from "../src/diff/edit-tree.ts";
import { mergeSources } from "../src/merge/merge-sources.ts";
import type { Entry } from "../src/model/entry.ts";
import type { ObjectHash } from "../src/model/object-hash.ts";
import { MergeLab, type Files, type LabMerge } from "./support/merge-lab.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 300);

const PATHS = ["a", "b", "d/a", "d/b", "d/e/a", "d/e/f", "x"];

type Change =
  | { readonly do: "change" | "insert" | "cut"; readonly path: number; readonly line: number }
  | { readonly do: "delete" | "add" | "mode"; readonly path: number }
  | { readonly do: "move"; readonly path: number; readonly to: number };

const place = fc.nat(PATHS.length - 1);
const line = fc.nat(11);
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("change", "insert", "cut"), path: place, line }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("delete", "add", "mode"), path: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("move" as const), path: place, to: place }) },
);
const changes = fc.array(change, { maxLength: 5 });

/** Files of twelve lines each; every second path. */
const BASE: Readonly<Record<string, FileNode>> = Object.fromEntries(
  PATHS.slice(0, 5).map((path) => [
    path,
    { mode: 0o644, text: Array.from({ length: 12 }, (_, at) => `${path} ${at}\n`).join("") },
  ]),
);

interface FileNode {
  readonly mode: number;
  readonly text: string;
}

let lines = 0;

/** Applies a side's changes; each new line is one that no other has. */
function changed(side: readonly Change[]): Files {
  const files = new Map(Object.entries(BASE));
  for (const each of side) applyChange(files, each);
  return Object.fromEntries([...files].map(([path, node]) => [path, node.mode === 0o644 ? node.text : node]));
}

function applyChange(files: Map<string, FileNode>, each: Change): void {
  const path = PATHS[each.path]!;
  const node = files.get(path);
  const isFree = (target: string) =>
    ![...files.keys()].some((known) => known.startsWith(`${target}/`) || target.startsWith(`${known}/`));
  if (each.do === "add" && node === undefined && isFree(path))
    files.set(path, { mode: 0o644, text: `new ${(lines += 1)}\n` });
  if (node === undefined) return;
  const text = node.text.split(/(?<=\n)/);
  const added = `new ${(lines += 1)}\n`;
  if (each.do === "change") text.splice(each.line, 1, added);
  if (each.do === "insert") text.splice(each.line, 0, added);
  if (each.do === "cut") text.splice(each.line, 2);
  if (each.do === "delete" || each.do === "move") files.delete(path);
  else files.set(path, { mode: each.do === "mode" ? 0o755 : node.mode, text: text.join("") });
  if (each.do !== "move") return;
  const target = PATHS[each.to]!;
  if (!files.has(target) && isFree(target)) files.set(target, node);
  else files.set(path, node);
}

function textsOf(files: Files): string[] {
  return Object.values(files).map((node) =>
    typeof node === "string" ? node : "text" in node ? node.text : "",
  );
}

function linesOf(files: Files): Set<string> {
  return new Set(textsOf(files).flatMap((text) => text.split("\n")));
}

function plainFiles(files: Readonly<Record<string, FileNode>>): Files {
  return Object.fromEntries(Object.entries(files).map(([path, { text }]) => [path, text]));
}

const BASE_FILES = plainFiles(BASE);

/** The lines of all three versions of every conflict. */
function contestedLines(lab: MergeLab, { conflicts }: LabMerge): Set<string> {
  const contents = conflicts
    .flatMap(({ ours, theirs }) => [ours, theirs])
    .flatMap((entry) => (entry?.kind === "file" ? lab.objects.read(entry.hash).toString() : []));
  return new Set(contents.flatMap((text) => text.split("\n")));
}

test("[R96] every line that a side added is in the result or in a conflict", () => {
  fc.assert(
    fc.property(changes, changes, (left, right) => {
      const lab = new MergeLab();
      const [ours, theirs] = [changed(left), changed(right)];
      const merge = lab.merge({ base: BASE_FILES, ours, theirs });
      const [before, after, contested] = [
        linesOf(BASE_FILES),
        linesOf(merge.files),
        contestedLines(lab, merge),
      ];
      for (const side of [ours, theirs])
        for (const added of linesOf(side))
          if (!before.has(added) && !after.has(added)) expect(contested).toContain(added);
    }),
    { numRuns: RUNS },
  );
});

test("[I72] [R96] a line that base and both sides have stays, and one that neither side has does not come back", () => {
  fc.assert(
    fc.property(changes, changes, (left, right) => {
      const lab = new MergeLab();
      const [ours, theirs] = [changed(left), changed(right)];
      const merge = lab.merge({ base: BASE_FILES, ours, theirs });
      const [inOurs, inTheirs, after] = [linesOf(ours), linesOf(theirs), linesOf(merge.files)];
      const contested = contestedLines(lab, merge);
      for (const each of linesOf(BASE_FILES)) {
        if (inOurs.has(each) && inTheirs.has(each) && !after.has(each)) expect(contested).toContain(each);
        if (!inOurs.has(each) && !inTheirs.has(each)) expect(after).not.toContain(each);
      }
    }),
    { numRuns: RUNS },
  );
});

test("[R97] exchanging the sides gives the same tree, or the same conflicts with the sides exchanged", () => {
  let clean = 0;
  fc.assert(
    fc.property(changes, changes, (left, right) => {
      const lab = new MergeLab();
      const [ours, theirs] = [changed(left), changed(right)];
      const one = lab.merge({ base: BASE_FILES, ours, theirs });
      const other = lab.merge({ base: BASE_FILES, ours: theirs, theirs: ours });
      const told = ({ conflicts }: LabMerge) =>
        conflicts.map(({ path, otherPath = path, kind, severity }) => [
          [path, otherPath].sort(),
          kind,
          severity,
        ]);
      const sorted = (merge: LabMerge) =>
        told(merge)
          .map((each) => JSON.stringify(each))
          .sort();
      expect(sorted(other)).toEqual(sorted(one));
      if (one.conflicts.length > 0 || one.notMerged.length > 0) return;
      clean += 1;
      expect(other.files).toEqual(one.files);
    }),
    { numRuns: RUNS },
  );
  expect(clean).toBeGreaterThan(RUNS / 10);
});

test("[R96] a side that changed nothing gives the other side, and merging again changes nothing", () => {
  fc.assert(
    fc.property(changes, changes, (left, right) => {
      const lab = new MergeLab();
      const [ours, theirs] = [changed(left), changed(right)];
      expect(lab.merge({ base: BASE_FILES, ours: BASE_FILES, theirs }).tree).toBe(lab.tree(theirs));
      expect(lab.merge({ base: BASE_FILES, ours, theirs: BASE_FILES }).tree).toBe(lab.tree(ours));
      const merge = lab.merge({ base: BASE_FILES, ours, theirs });
      const head = lab.tree(theirs);
      expect(lab.mergeTrees({ base: head, ours: merge.tree, theirs: head }).edits).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test("[R95] sources that change different files come to the same tree in any order: all their changes", () => {
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(order, fc.array(line, { minLength: 5, maxLength: 5 }), (shuffled, places) => {
      const lab = new MergeLab();
      const own = PATHS.slice(0, 5).map((_, path) => changed([{ do: "insert", path, line: places[path]! }]));
      const merge = (indexes: readonly number[]) =>
        mergeSources<ObjectHash>({
          ours: lab.tree(BASE_FILES),
          sources: indexes.map((index) => ({
            name: `run ${index}`,
            bases: [lab.tree(BASE_FILES)],
            head: lab.tree(own[index]!),
          })),
          onConflict: "hold",
          syntax: undefined,
          compare: (from, to) => ({ changes: compareTrees(lab.objects, from, to), unknown: [] }),
          isAbsent: () => true,
          edit: (tree, edits) => editTree({ source: lab.objects, sink: lab.objects }, tree, edits),
          read: (entry) => lab.objects.read((entry as Entry & { kind: "file" }).hash),
          put: (content) => lab.objects.put(content),
        });
      const result = merge(shuffled);
      expect(result.outcomes).toEqual(shuffled.map(() => "merged"));
      const union = Object.fromEntries(PATHS.slice(0, 5).map((path, at) => [path, own[at]![path]!]));
      expect(lab.files(result.result)).toEqual(union);
    }),
    { numRuns: RUNS / 10 },
  );
});
