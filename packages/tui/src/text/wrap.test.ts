import { expect, test } from "vitest";
import { fitLine, fitLines, pieces, wrap } from "./wrap.ts";

test("breaks between words, keeps paragraphs, indents what follows", () => {
  expect(wrap("one two\nthree four\n\nfive", 9)).toBe("one two\nthree\nfour\n\nfive");
  expect(wrap("one two three", 8, "  ")).toBe("one two\n  three");
  expect(wrap("a-word-that-is-longer than that", 6)).toBe("a-word-that-is-longer\nthan\nthat");
});

test("leaves a line that fits as it is, spaces included", () => {
  expect(fitLine("a  b", 4, "  ")).toBe("a  b");
  expect(fitLine("a  b c", 5, "  ")).toBe("a b c");
  expect(fitLine("one two three", 9, "  ")).toBe("one two\n  three");
  expect(fitLine("  one two three", 9, "    ")).toBe("  one two\n    three");
});

test("makes every line fit: between words, else inside them, further in than the line began", () => {
  expect(fitLines("short\n  one two three", 9)).toBe("short\n  one two\n    three");
  expect(fitLines("a/long/path/that/does/not/fit", 10)).toBe("a/long/pat\n  h/that/d\n  oes/not/\n  fit");
  expect(fitLines("  x  日本語日本語", 8)).toBe("  x\n    日本\n    語日\n    本語");
  expect(fitLines("a  b", 4)).toBe("a  b");
  expect(fitLines("any width", Number.POSITIVE_INFINITY)).toBe("any width");
});

test("keeps a command in backticks on one line, so that it can be copied", () => {
  expect(fitLines("now type `belay undo 2` here", 16)).toBe("now type\n  `belay undo 2`\n  here");
  expect(fitLines("so `belay restore 12`.", 12)).toBe("so `belay\n  restore\n  12`.");
  expect(fitLines("one ` alone", 7)).toBe("one `\n  alone");
});

test("colours take no columns and stay", () => {
  const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
  expect(fitLines(`${red("abc")} ${red("def")}`, 7)).toBe(`${red("abc")} ${red("def")}`);
  expect(fitLines(red("abcdef"), 4)).toBe("\u001b[31mabcd\n  ef\u001b[39m");
});

test("a piece that ends before a space does not leave it to the next one", () => {
  expect(pieces("65 MiB, over the limit", 7)).toEqual(["65 MiB,", "over", "the", "limit"]);
});
