/**
 * The three-way merge against `git merge-file`. What is clean here is clean there, with the same bytes.
 * One exception: where both sides made the same change, git may align it differently for each and report a conflict
 * between equal texts; then it must agree once that change is made part of the base.
 * The reverse is not demanded of every case: where repeated lines leave more than one smallest difference, git takes
 * one of them and this merge reports a conflict. How often that may happen is bounded, by kind of file.
 * BELAY_FUZZ_RUNS asks for more cases than the default.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { mergeText, type MergeResult } from "../src/merge/merge3.ts";
import { mergeByGit, type MergeCase } from "./support/merge-cases.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 400);
const LIMIT_MS = 600_000;

const folder = mkdtempSync(join(tmpdir(), "belay-merge-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A place as a fraction of the file, lines to delete, lines to add. */
type Edit = readonly [place: number, deleted: number, added: string[]];

function editsOf(
  line: fc.Arbitrary<string>,
  { edits, length }: { edits: number; length: number },
): fc.Arbitrary<Edit[]> {
  const place = fc.noBias(fc.nat(1000)).map((number) => number / 1000);
  return fc.array(fc.tuple(place, fc.nat(length), fc.array(line, { maxLength: length })), {
    maxLength: edits,
  });
}

function editLines(lines: readonly string[], edits: readonly Edit[]): string[] {
  return edits.reduce(
    (now, [place, deleted, added]) => now.toSpliced(Math.round(place * now.length), deleted, ...added),
    [...lines],
  );
}

/** A file and two versions of it that share some of their edits; each may lack its last line break. */
function inputs(
  line: fc.Arbitrary<string>,
  size: { lines: number; edits: number; length: number },
): fc.Arbitrary<MergeCase> {
  const edits = editsOf(line, size);
  const hasEnd = fc.integer({ min: 0, max: 7 }).map((number) => number > 0);
  const file = fc.array(line, { maxLength: size.lines, size: "max" });
  return fc
    .tuple(file, fc.oneof(fc.constant([]), edits), edits, edits, fc.tuple(hasEnd, hasEnd, hasEnd))
    .map(([base, sharedEdits, oursEdits, theirsEdits, ends]) => {
      const shared = editLines(base, sharedEdits);
      return {
        base: toContent(base, ends[0]),
        shared: toContent(shared, ends[0]),
        ours: toContent(editLines(shared, oursEdits), ends[1]),
        theirs: toContent(editLines(shared, theirsEdits), ends[2]),
      };
    });
}

function toContent(lines: readonly string[], hasEnd: boolean): Buffer {
  return Buffer.from(
    lines
      .map((line) => `${line}\n`)
      .join("")
      .slice(0, hasEnd ? undefined : -1),
    "latin1",
  );
}

const letters = (count: number) => fc.nat(count - 1).map((number) => String.fromCharCode(0x61 + number));
const code = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom("", "}", "  }", "  return;\r", "\xff") },
  { weight: 3, arbitrary: fc.nat(100_000).map((number) => `  call(${number});`) },
);

test.each([
  { kind: "two different lines", line: letters(2), lines: 12, edits: 2, length: 3, cautious: 0.35 },
  { kind: "five different lines", line: letters(5), lines: 20, edits: 2, length: 3, cautious: 0.2 },
  { kind: "26 different lines", line: letters(26), lines: 30, edits: 3, length: 3, cautious: 0.1 },
  { kind: "lines like code", line: code, lines: 60, edits: 3, length: 6, cautious: 0.05 },
  { kind: "many lines like code", line: code, lines: 1500, edits: 6, length: 30, cautious: 0.05 },
])(
  "what is clean here is clean and equal in git: $kind",
  { timeout: LIMIT_MS },
  ({ line, cautious, ...size }) => {
    const seen = { cleanInGit: 0, onlyInGit: 0 };
    fc.assert(
      fc.property(inputs(line, size), (input) => {
        const git = mergeByGit(folder, input);
        const result = mergeText(input.base, input.ours, input.theirs);
        if (git !== undefined) seen.cleanInGit++;
        if (git !== undefined && !result.clean) seen.onlyInGit++;
        if (!result.clean) return true;
        return (git ?? mergeByGit(folder, { ...input, base: input.shared }))?.equals(result.content) === true;
      }),
      // shrinking a large file takes longer than reading it
      { numRuns: RUNS, endOnFailure: size.lines > 100 },
    );
    expect(seen.cleanInGit).toBeGreaterThan(RUNS / 10);
    expect(seen.onlyInGit / seen.cleanInGit).toBeLessThan(cautious);
  },
);

test("the sides may be exchanged", () => {
  fc.assert(
    fc.property(inputs(letters(5), { lines: 20, edits: 2, length: 3 }), ({ base, ours, theirs }) => {
      const [one, other] = [mergeText(base, ours, theirs), mergeText(base, theirs, ours)];
      expect(mergedContent(other)).toEqual(mergedContent(one));
    }),
    { numRuns: 10 * RUNS },
  );
});

test("a side that changed nothing gives the other side", () => {
  fc.assert(
    fc.property(inputs(letters(3), { lines: 20, edits: 3, length: 4 }), ({ base, ours }) => {
      expect(mergeText(base, ours, base)).toEqual({ clean: true, content: ours });
      expect(mergeText(base, base, ours)).toEqual({ clean: true, content: ours });
      expect(mergeText(base, ours, ours)).toEqual({ clean: true, content: ours });
    }),
    { numRuns: 10 * RUNS },
  );
});

function mergedContent(result: MergeResult): Buffer | undefined {
  return result.clean ? result.content : undefined;
}
