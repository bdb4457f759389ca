/** Hunks of a file: all are the new version, none the old one, and what is chosen in two goes is the same as at once. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hunksBetween } from "./choose-hunks.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`);
const text = (lines: readonly string[]) => Buffer.from(lines.join(""), "latin1");

test("each hunk is made or left by itself", () => {
  const old = numbered(40);
  const now = old.with(2, "two\n").with(20, "twenty\n").toSpliced(35, 2);
  const hunks = hunksBetween(text(old), text(now))!;
  expect(hunks.count).toBe(3);
  expect(hunks.with(new Set([1]))).toEqual(text(old.with(20, "twenty\n")));
  expect(hunks.with(new Set([0, 2]))).toEqual(text(old.with(2, "two\n").toSpliced(35, 2)));
});

test("content without lines has no hunks", () => {
  expect(hunksBetween(Buffer.from("a\0b"), Buffer.from("a\n"))).toBeUndefined();
  expect(hunksBetween(Buffer.alloc(2 ** 20 + 1, "a"), Buffer.from("a\n"))).toBeUndefined();
});

test("bytes, CRLF and a missing last line break survive", () => {
  const before = Buffer.from(`a\r\n${"x\n".repeat(9)}\xff`, "latin1");
  const after = Buffer.from(`A\r\n${"x\n".repeat(9)}\xfe\n`, "latin1");
  const hunks = hunksBetween(before, after)!;
  expect(hunks.with(new Set([1]))).toEqual(Buffer.from(`a\r\n${"x\n".repeat(9)}\xfe\n`, "latin1"));
});

const line = fc.constantFrom("a\n", "b\n", "c\n", "{\n", "}\n", "\n", "last");
const file = fc.array(line, { maxLength: 60, size: "max" }).map(text);

test("[R233] all hunks are the new version, none the old one", () => {
  fc.assert(
    fc.property(file, file, (before, after) => {
      const hunks = hunksBetween(before, after)!;
      const all = new Set(Array.from({ length: hunks.count }, (_, at) => at));
      expect(hunks.with(all)).toEqual(after);
      expect(hunks.with(new Set())).toEqual(before);
    }),
    { numRuns: 500 },
  );
});

test("[R233] any hunks first and then all that are left make the new version", () => {
  fc.assert(
    fc.property(file, file, fc.infiniteStream(fc.boolean()), (before, after, picks) => {
      const hunks = hunksBetween(before, after)!;
      const some = new Set([...picks.take(hunks.count)].flatMap((isIn, at) => (isIn ? [at] : [])));
      const part = hunks.with(some);
      const rest = hunksBetween(part, after)!;
      expect(rest.with(new Set(Array.from({ length: rest.count }, (_, at) => at)))).toEqual(after);
    }),
    { numRuns: 500 },
  );
});
