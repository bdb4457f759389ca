/** How texts are cut, and which words they have. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { chunksOf, wordsOf } from "../src/index.ts";

test("[A51] pieces have at most 1000 characters, overlap by about 200, and together are the text", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(fc.string({ maxLength: 400, unit: "grapheme" }), fc.constantFrom("\n", "\n\n", " ")),
        {
          maxLength: 60,
        },
      ),
      (parts) => {
        const text = parts.join("");
        const chunks = chunksOf(text);
        if (text.trim() === "") {
          expect(chunks).toEqual([]);
          return;
        }
        expect(chunks[0]!.start).toBe(0);
        expect(chunks.at(-1)!.stop).toBe(text.length);
        chunks.forEach(({ start, stop, startLine, endLine }, at) => {
          expect(stop - start).toBeLessThanOrEqual(1000);
          expect(text.slice(start, stop).isWellFormed() || !text.isWellFormed()).toBe(true);
          expect(startLine).toBe(text.slice(0, start).split("\n").length);
          expect(endLine).toBe(text.slice(0, stop - 1).split("\n").length);
          const next = chunks[at + 1];
          if (next === undefined) return;
          expect(next.start).toBeGreaterThan(start);
          expect(next.start).toBeLessThanOrEqual(stop);
          expect(stop - next.start).toBeLessThanOrEqual(200);
        });
      },
    ),
  );
});

test("[A51] a cut is at a blank line, else at a line, else at a space", () => {
  const line = `${"x".repeat(79)}\n`;
  const paragraphs = `${line.repeat(9)}\n${line.repeat(9)}`;
  expect(chunksOf(paragraphs)[0]!.stop).toBe(721);
  expect(chunksOf(line.repeat(20))[0]!.stop).toBe(960);
  expect(chunksOf(line.repeat(20))[1]!.start).toBe(800);
  expect(chunksOf("word ".repeat(500))[0]!.stop).toBe(1000);
  expect(chunksOf("x".repeat(1500)).map(({ start, stop }) => [start, stop])).toEqual([
    [0, 1000],
    [800, 1500],
  ]);
});

test("identifiers are split at case, digits and underscores, and kept whole", () => {
  expect(wordsOf("parseHTTPHeader_v2(größe)")).toEqual([
    "parsehttpheaderv2",
    "parse",
    "http",
    "header",
    "v",
    "2",
    "größe",
  ]);
  expect(wordsOf("a snake_case_name")).toEqual(["a", "snakecasename", "snake", "case", "name"]);
});
