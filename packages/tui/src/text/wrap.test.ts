import { expect, test } from "vitest";
import { fitLine, wrap } from "./wrap.ts";

test("breaks between words, keeps paragraphs, indents what follows", () => {
  expect(wrap("one two\nthree four\n\nfive", 9)).toBe("one two\nthree\nfour\n\nfive");
  expect(wrap("one two three", 8, "  ")).toBe("one two\n  three");
  expect(wrap("a-word-that-is-longer than that", 6)).toBe("a-word-that-is-longer\nthan\nthat");
});

test("leaves a line that fits as it is, spaces included", () => {
  expect(fitLine("a  b", 4, "  ")).toBe("a  b");
  expect(fitLine("a  b c", 5, "  ")).toBe("a b c");
  expect(fitLine("one two three", 9, "  ")).toBe("one two\n  three");
});
