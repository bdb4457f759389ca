import { expect, test } from "vitest";
import { progressLine } from "./progress-bar.ts";

const about = { label: "Restoring", noun: "file" };

test.each([
  [{ done: 0, total: 5000 }, 0, "0 of 5,000 files"],
  [{ done: 1200, total: 50_000 }, 1000, "1,200 of 50,000 files, 1,200/s, 41 s left"],
  [{ done: 10, total: 50_000 }, 1000, "10 of 50,000 files, 10/s, 84 min left"],
  [{ done: 5, total: 500_000 }, 1000, "5 of 500,000 files, 5/s, 28 h left"],
  [{ done: 3, total: 3, bytes: 2048 }, 1500, "3 of 3 files, 2 KiB, 2/s"],
])("[R262] %j after %i ms: %s", (at, elapsedMs, after) => {
  expect(progressLine(at, { ...about, elapsedMs })).toEqual({ before: "Restoring", after });
});
