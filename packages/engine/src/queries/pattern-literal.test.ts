import fc from "fast-check";
import { expect, test } from "vitest";
import { literalOf } from "./pattern-literal.ts";

test.each([
  ["theNeedle\\w+Hay", "theNeedle"],
  ["abc?defg", "defg"],
  ["abcd*ef", "abc"],
  ["abcd+ef", "abcd"],
  ["abc{2}def", "def"],
  ["use\\(inserted, \\d+", "use(inserted, "],
  ["(abcdef)?xyz", "xyz"],
  ["(?!abcdef)xyz", "xyz"],
  ["[abcdef]xyz", "xyz"],
  ["[\\]abc]xyz", "xyz"],
  ["^größe$", "größe"],
  ["abcdef|x", undefined],
  ["\\d\\d", undefined],
  ["\\u0041bcdef", undefined],
])("%s", (source, literal) => {
  expect(literalOf(source)?.toString()).toBe(literal);
});

test("whatever an expression matches contains the text", () => {
  // an expression and something that it matches
  const part = fc.constantFrom(
    ..."abcdefg".split("").map((letter) => [letter, letter] as const),
    ...([
      ["ab?", "a"],
      ["c*", ""],
      ["c*", "cc"],
      ["b+", "bb"],
      ["(ab)", "ab"],
      ["(b)?", ""],
    ] as const),
    ...([
      ["[abc]", "c"],
      [".", "z"],
      ["c{0,2}", ""],
      ["c{2}", "cc"],
      ["\\.", "."],
      ["\\w", "q"],
    ] as const),
    ...([
      ["(?!x)", ""],
      ["\\d+?", "12"],
      ["a??", ""],
      ["a{,2}", "a{,2}"],
      ["\\x41", "A"],
    ] as const),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), (parts) => {
      const [source, line] = [0, 1].map((side) => parts.map((each) => each[side]).join("")) as [
        string,
        string,
      ];
      expect(new RegExp(source).test(line)).toBe(true);
      expect(line).toContain(literalOf(source)?.toString() ?? "");
    }),
    { numRuns: 5000 },
  );
});
