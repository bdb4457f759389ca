import { expect, test } from "vitest";
import { cutToWidth, displayWidth, padToWidth } from "./display-width.ts";

test.each([
  ["", 0],
  ["plain", 5],
  ["café", 4],
  ["cafe\u0301", 4],
  ["日本", 4],
  ["👩‍👩‍👧", 2],
  ["\u001b[31mred\u001b[39m", 3],
  ["…", 1],
])("%j takes %i columns", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test("cuts by columns, never through a character", () => {
  expect(cutToWidth("abcdef", 6)).toBe("abcdef");
  expect(cutToWidth("abcdef", 4)).toBe("abc…");
  expect(cutToWidth("日本語", 5)).toBe("日本…");
  expect(cutToWidth("日本語", 4)).toBe("日…");
});

test("pads by columns on either side", () => {
  expect(padToWidth("日", 4)).toBe("日  ");
  expect(padToWidth("7", 3, "left")).toBe("  7");
  expect(padToWidth("long", 2)).toBe("long");
});
