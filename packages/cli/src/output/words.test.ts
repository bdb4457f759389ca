import { describe, expect, test } from "vitest";
import type { Conflict, Doubt, Gap, Kept } from "@belay/engine";
import { count, duration, REASONS, reasonWords, relativeTime, size } from "@belay/tui/text";
import { createStyle } from "./style.ts";
import { table } from "./table.ts";

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0);

describe("relativeTime", () => {
  test.each([
    [0, "just now"],
    [42, "42 s ago"],
    [61, "1 min ago"],
    [3 * 60, "3 min ago"],
    [3600, "1 h ago"],
    [86_400, "1 day ago"],
    [6 * 86_400, "6 days ago"],
    [15 * 86_400, "2 weeks ago"],
    [-5, "just now"],
  ])("%i seconds: %s", (seconds, words) => {
    expect(relativeTime(NOW - seconds * 1000, NOW)).toBe(words);
  });

  test("says the day of what is long ago, and the time of what is in the future", () => {
    expect(relativeTime(NOW - 100 * 86_400_000, NOW)).toMatch(/^2025-10-2\d$/);
    expect(relativeTime(NOW + 3_600_000, NOW)).toMatch(/^2026-01-31 \d\d:\d\d$/);
  });
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1 KiB"],
  [9318, "9.1 KiB"],
  [64 * 1024 * 1024, "64 MiB"],
  [10 * 1024 ** 3, "10 GiB"],
])("%i bytes are %s", (bytes, words) => {
  expect(size(bytes)).toBe(words);
});

test("counts with the right noun, durations with the right unit", () => {
  expect([count(1, "file"), count(0, "file"), count(12_000, "file")]).toEqual([
    "1 file",
    "0 files",
    "12,000 files",
  ]);
  expect([duration(4.13), duration(230.4), duration(1430)]).toEqual(["4.1 ms", "230 ms", "1.4 s"]);
});

describe("table", () => {
  const rows = [
    [{ text: "1" }, { text: "a description that is long" }, { text: "+1" }],
    [{ text: "12" }, { text: "短い" }, { text: "+20" }],
  ];

  test("aligns by display width", () => {
    expect(table(rows, { width: Infinity, right: [0] })).toBe(
      [" 1  a description that is long  +1", "12  短い                        +20"].join("\n"),
    );
  });

  test("cuts the flexible column to keep rows on their line", () => {
    const lines = table(rows, { width: 24, flexible: 1, right: [0] }).split("\n");
    expect(lines[0]).toBe(" 1  a description …  +1");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(24);
  });
});

test("[R1913] a table that wraps loses nothing: pieces in their column, or rows on two lines", () => {
  const remark = (path: string, text: string) => [{ text: "M" }, { text: path }, { text }];
  const wraps = { indent: "  ", flexible: 1, wraps: true } as const;
  const short = [remark("src/payments/retry/backoff.ts", "+30"), remark("README.md", "+1")];
  expect(table(short, { ...wraps, width: 40 })).toBe(
    ["  M  src/payments/retry/backoff.ts  +30", "  M  README.md                      +1"].join("\n"),
  );
  expect(table(short, { ...wraps, width: 36 })).toBe(
    ["  M  src/payments/retry/         +30", "     backoff.ts", "  M  README.md                   +1"].join(
      "\n",
    ),
  );
  const long = [remark("fixtures/dump.bin", "70 MiB, over the limit of 64 MiB")];
  expect(table(long, { ...wraps, width: 32 })).toBe(
    ["  M  fixtures/dump.bin", "      70 MiB, over the limit of", "      64 MiB"].join("\n"),
  );
});

test("styles colour only when asked to", () => {
  expect(createStyle(false).red("x")).toBe("x");
  expect(createStyle(true).red("x")).toBe("\u001b[31mx\u001b[39m");
});

test("every reason of the engine has words; text that is no code stays as it is", () => {
  // a reason without words does not compile
  const all = [
    REASONS.gap satisfies Record<Gap["reason"], string>,
    REASONS.doubt satisfies Record<Doubt["reason"], string>,
    REASONS.kept satisfies Record<Kept["reason"], string>,
    REASONS.conflict satisfies Record<Conflict["reason"], string>,
  ];
  for (const [code, words] of all.flatMap((group) => Object.entries(group)))
    expect(reasonWords(code)).toBe(words);
  expect(reasonWords("EACCES: permission denied")).toBe("EACCES: permission denied");
  expect(reasonWords("toString")).toBe("toString");
});
