import { expect, test } from "vitest";
import { mergeText, type MergeResult } from "./merge3.ts";

/** Each letter is a line. */
const merge = (base: string, ours: string, theirs: string) =>
  mergeText(
    ...([base, ours, theirs].map((letters) => Buffer.from(letters.replace(/./g, "$&\n"))) as [
      Buffer,
      Buffer,
      Buffer,
    ]),
  );

const merged = (result: MergeResult) =>
  result.clean ? result.content.toString().replaceAll("\n", "") : "conflict";

test("changes in different places are combined", () => {
  expect(merged(merge("abcdefg", "aBcdefg", "abcdeg"))).toBe("aBcdeg");
  expect(merged(merge("abc", "Xabc", "abcY"))).toBe("XabcY");
});

test("what only one side changed is taken", () => {
  expect(merged(merge("abc", "abc", "aXc"))).toBe("aXc");
  expect(merged(merge("abc", "", "abc"))).toBe("");
});

test("the same change on both sides is no conflict", () => {
  expect(merged(merge("abc", "aXc", "aXc"))).toBe("aXc");
  expect(merged(merge("abcdef", "aXcdef", "aXcdeY"))).toBe("aXcdeY");
  expect(merged(merge("", "ab", "ab"))).toBe("ab");
});

test("changes that touch are a conflict, as in git", () => {
  expect(merged(merge("abcd", "aXcd", "abYd"))).toBe("conflict");
  expect(merged(merge("abcd", "abXcd", "abYcd"))).toBe("conflict");
  expect(merged(merge("abcde", "aXcde", "abcYe"))).toBe("aXcYe");
});

test("a conflict names its lines in the three contents", () => {
  expect(merge("abcdefg", "1abcdXfg", "abcdeYg")).toEqual({
    clean: false,
    reason: "overlap",
    conflicts: [{ base: { start: 4, end: 6 }, ours: { start: 5, end: 7 }, theirs: { start: 4, end: 6 } }],
  });
});

test("every conflict is named", () => {
  const result = merge("abcdefg", "aXcdeXg", "aYcdeYg");
  expect(result.clean ? [] : result.conflicts.map(({ base }) => base.start)).toEqual([1, 5]);
});

test("bytes, CRLF and a missing last line break are kept", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");
  const result = mergeText(bytes("a\r\nb\nc\nd\xff"), bytes("\xfe\r\nb\nc\nd\xff"), bytes("a\r\nb\nc\nd\n"));
  expect(result).toEqual({ clean: true, content: bytes("\xfe\r\nb\nc\nd\n") });
});

test("contents with NUL bytes are never merged", () => {
  const text = Buffer.from("a\n");
  const binary = Buffer.concat([Buffer.alloc(20_000, "x"), Buffer.from([0])]);
  for (const contents of [
    [binary, text, text],
    [text, binary, text],
    [text, text, binary],
  ] as const) {
    expect(mergeText(...contents)).toEqual({ clean: false, reason: "binary", conflicts: [] });
  }
});

test("an added repetition conflicts only with changes at its end", () => {
  expect(merged(merge("x{}y", "x{}{}y", "X{}y"))).toBe("X{}{}y");
  expect(merged(merge("x{}y", "x{}{}y", "x{}Y"))).toBe("conflict");
});

test("a place that repeated lines leave open is a conflict", () => {
  // ours added "Xa" before the old a, which git takes for granted, or "X" before and "a" after it, where theirs changed
  expect(merged(merge("paq", "pXaaq", "paQ"))).toBe("conflict");
  expect(merged(merge("pabq", "pXaabq", "pabQ"))).toBe("pXaabQ");
});

test("braces that survive a rewrite do not hold a change in place", () => {
  const rewrite = (letter: string) => Array.from({ length: 10 }, (_, at) => `${letter}${at}\n`).join("");
  const rest = Array.from({ length: 20 }, (_, at) => `rest ${at}\n}\n\n`).join("");
  const base = `${rewrite("a")}}\n\n}\n${rewrite("b")}${rest}`;
  const ours = `${rewrite("A")}}\n\n}\n${rewrite("B")}${rest}`;
  const theirs = base.replace("}\n\n}\n", "}\nchange\n}\n");
  expect(mergeText(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs)).clean).toBe(false);
});

test("far from a large moved block a change is still merged", () => {
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `${from + at}\n`).join("");
  const base = Buffer.from(numbered(0, 3000));
  const ours = Buffer.from(
    numbered(0, 500) + numbered(1000, 1500) + numbered(500, 1000) + numbered(1500, 3000),
  );
  const outside = mergeText(base, ours, Buffer.from(base.toString().replace("\n2000\n", "\nchange\n")));
  expect(outside).toEqual({
    clean: true,
    content: Buffer.from(ours.toString().replace("\n2000\n", "\nchange\n")),
  });
  expect(mergeText(base, ours, Buffer.from(base.toString().replace("\n1200\n", "\nchange\n"))).clean).toBe(
    false,
  );
});
