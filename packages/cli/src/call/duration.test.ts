import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";

test.each([
  ["45s", 45_000],
  ["30m", 1_800_000],
  ["2h", 7_200_000],
  ["1h30m", 5_400_000],
  ["1d", 86_400_000],
])("%s", (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each(["", "30", "m", "1h30", "0m", "-5m", "1.5h", "2 h", "1w", "5mm"])("not: %j", (text) =>
  expect(() => parseDuration(text)).toThrow(/not a duration/),
);
