import { expect, test } from "vitest";
import { wrap } from "./wrap.ts";

test("breaks between words, keeps paragraphs, indents what follows", () => {
  expect(wrap("one two\nthree four\n\nfive", 9)).toBe("one two\nthree\nfour\n\nfive");
  expect(wrap("one two three", 8, "  ")).toBe("one two\n  three");
  expect(wrap("a-word-that-is-longer than that", 6)).toBe("a-word-that-is-longer\nthan\nthat");
});
