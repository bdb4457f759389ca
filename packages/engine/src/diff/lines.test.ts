import { expect, test } from "vitest";
import { diffLines, joinLines, splitLines } from "./lines.ts";

const lines = (letters: string) => letters.split("").map((letter) => `${letter}\n`);

test("splitLines keeps terminators and a last line without one", () => {
  expect(splitLines(Buffer.from("a\r\n\nb\rc"))).toEqual(["a\r\n", "\n", "b\rc"]);
  expect(splitLines(Buffer.from("a\n"))).toEqual(["a\n"]);
  expect(splitLines(Buffer.alloc(0))).toEqual([]);
});

test("every byte survives splitting and joining", () => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
  expect(joinLines(splitLines(bytes))).toEqual(bytes);
});

test("diffLines reports nothing for equal contents", () => {
  expect(diffLines(lines("abc"), lines("abc"))).toEqual([]);
  expect(diffLines([], [])).toEqual([]);
});

test("diffLines reports additions, deletions and replacements", () => {
  expect(diffLines([], lines("ab"))).toEqual([[0, 0, 0, 2]]);
  expect(diffLines(lines("ab"), [])).toEqual([[0, 2, 0, 0]]);
  expect(diffLines(lines("abcdef"), lines("aXcdf"))).toEqual([
    [1, 2, 1, 2],
    [4, 5, 4, 4],
  ]);
});

test("a lost last line break is a change of that line", () => {
  expect(diffLines(["a\n", "b\n"], ["a\n", "b"])).toEqual([[1, 2, 1, 2]]);
});

test("an added repetition stands at its last possible place, as in git", () => {
  expect(diffLines(lines("x{}y"), lines("x{}{}y"))).toEqual([[3, 3, 3, 5]]);
  expect(diffLines(lines("x{}{}y"), lines("x{}y"))).toEqual([[3, 5, 3, 3]]);
});

test("beyond the cost limit the middle is replaced as a whole", () => {
  expect(diffLines(lines("xabcdey"), lines("xedcbay"), 3)).toEqual([[1, 6, 1, 6]]);
});

test("200,000 reversed lines are compared in bounded time", () => {
  const long = Array.from({ length: 200_000 }, (_, at) => `line ${at}\n`);
  expect(diffLines(long, long.toReversed())).toEqual([[0, 200_000, 0, 200_000]]);
});
