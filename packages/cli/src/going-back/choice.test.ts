import { expect, test } from "vitest";
import type { BytePath, PlannedFile } from "@belay/engine";
import { Choice, parseNumbers } from "./choice.ts";

const file = (path: string): PlannedFile => ({
  path: path as BytePath,
  change: "change",
  plus: 1,
  minus: 1,
  binary: false,
  reasons: [],
  scripts: false,
  byHand: false,
  threads: [],
  others: [],
});

test("everything goes back until it is switched off; a file of which all hunks are chosen is not limited", () => {
  const choice = new Choice(["a", "b", "c"].map(file));
  expect([choice.count, choice.limits()]).toEqual([3, []]);
  choice.toggle(0);
  choice.setHunks(1, new Set([2, 0]), 3);
  expect(choice.count).toBe(2);
  expect(choice.limits()).toEqual([
    { path: "a", hunks: [] },
    { path: "b", hunks: [0, 2] },
  ]);
  choice.toggle(0);
  choice.setHunks(1, new Set([0, 1, 2]), 3);
  expect(choice.limits()).toEqual([]);
  choice.setHunks(2, new Set(), 2);
  expect(choice.limits()).toEqual([{ path: "c", hunks: [] }]);
  choice.setAll("none");
  expect(choice.count).toBe(0);
});

test.each([
  ["1", [0]],
  ["1 3-5,9", [0, 2, 3, 4, 8]],
  [" 2 ", [1]],
])("%j is a choice of files", (text, numbers) => expect(parseNumbers(text, 9)).toEqual(numbers));

test.each(["", "0", "10", "3-1", "a", "1a", "-1", "1-", "y"])("%j is not", (text) =>
  expect(parseNumbers(text, 9)).toBeUndefined(),
);
