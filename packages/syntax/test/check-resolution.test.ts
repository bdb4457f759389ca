/** What a resolution has to keep to, by a person or a machine. */
import { beforeAll, expect, test } from "vitest";
import { checkResolution } from "../../engine/src/merge/check-resolution.ts";
import type { BytePath, DroppedLine } from "../../engine/src/index.ts";
import { createSyntax } from "../src/index.ts";

const syntax = createSyntax();
beforeAll(() => syntax.load(["a.ts"]));

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join("");
const BASE = ["import { a } from 'a';", "start();", "one();", "two();", "end();", "finish();", "last();"];
const VERSIONS = {
  base: lines(...BASE),
  // the first line is merged; the third and fourth are in conflict
  ours: lines("import { a, b } from 'a';", "start();", "one(1);", "end();", "finish();", "last();"),
  theirs: lines(...BASE.with(2, "one(2);").with(3, "two(2);").with(6, "last(a);")),
};
const HEAD = ["import { a, b } from 'a';", "start();"];
const TAIL = ["end();", "finish();", "last(a);"];
const conflict = {
  path: "a.ts" as BytePath,
  content: (version: keyof typeof VERSIONS) => Buffer.from(VERSIONS[version]),
};
const check = (content: string, dropped: DroppedLine[] = []) =>
  checkResolution(conflict, { content: Buffer.from(content), dropped }, syntax).map(
    ({ check: kind, detail }) => [kind, detail],
  );
const drop = (side: "ours" | "theirs", text: string): DroppedLine => ({
  side,
  text,
  reason: "the other is right",
});

test("[M45] a resolution with all that both sides added is good, and so is one that names what it drops", () => {
  expect(check(lines(...HEAD, "one(1);", "one(2);", "two(2);", ...TAIL))).toEqual([]);
  expect(
    check(lines(...HEAD, "  one( 1 );".replace("( 1 )", "(1)"), ...TAIL), [
      drop("theirs", "one(2);\ntwo(2);"),
    ]),
  ).toEqual([]);
});

test("[M45] [I71] marks that are left are found", () => {
  const text = lines(
    ...HEAD,
    "<<<<<<< ours",
    "one(1);",
    "=======",
    "one(2);",
    "two(2);",
    ">>>>>>> theirs",
    ...TAIL,
  );
  expect(check(text).filter(([kind]) => kind === "marks")).toHaveLength(3);
});

test.each([
  ["before it", lines("import { c } from 'a';", "start();", "one(1);", "one(2);", "two(2);", ...TAIL)],
  ["after it", lines(...HEAD, "one(1);", "one(2);", "two(2);", "end();", "changed();", "last(a);")],
  ["at the end", lines(...HEAD, "one(1);", "one(2);", "two(2);", ...TAIL, "more();")],
  [
    "the other side's clean change",
    lines(...HEAD, "one(1);", "one(2);", "two(2);", "end();", "finish();", "last();"),
  ],
])("[M45] [I71] a change beside the conflict is found: %s", (_, text) => {
  expect(check(text)).toContainEqual(["outside", "lines beside the conflict are not those of the merge"]);
});

test("[M45] [I71] a side's line that is gone, or was deleted and is back, is named", () => {
  expect(check(lines(...HEAD, "one(1);", ...TAIL))).toEqual([
    ["lost", 'theirs added "one(2);"'],
    ["lost", 'theirs added "two(2);"'],
  ]);
  const all = ["one(1);", "one(2);", "two(2);"];
  expect(check(lines(...HEAD, ...all, "two();", ...TAIL))).toEqual([
    ["back", 'ours deleted "two();"'],
    ["back", 'theirs deleted "two();"'],
  ]);
  expect(
    check(lines(...HEAD, ...all, "two();", ...TAIL), [drop("ours", "two();"), drop("theirs", "two();")]),
  ).toEqual([]);
});

test("[M45] a resolution that does not parse is broken", () => {
  expect(check(lines(...HEAD, "one(1);", "one(2);", "two(2);", "if (", ...TAIL))).toContainEqual([
    "broken",
    "the merged text does not parse, though both sides do",
  ]);
});
