import { expect, test } from "vitest";
import { nearTime } from "./relative-time.ts";

test("today has its time alone, yesterday a word, earlier days their date", () => {
  const now = new Date(2026, 10, 17, 9, 30).getTime();
  expect(nearTime(new Date(2026, 10, 17, 0, 5).getTime(), now)).toBe("00:05");
  expect(nearTime(new Date(2026, 10, 16, 17, 40).getTime(), now)).toBe("yesterday 17:40");
  expect(nearTime(new Date(2026, 10, 15, 17, 40).getTime(), now)).toBe("2026-11-15 17:40");
});
