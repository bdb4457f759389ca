import { describe, expect, test } from "vitest";
import { pathFromText, ROOT_PATH } from "../model/byte-path.ts";
import type { IgnoreLayer, RecordedRules } from "../model/rules.ts";
import { DEFAULTS_VERSION } from "./default-excludes.ts";
import { createRecordedMatcher, trackedExceptions, wouldCapture } from "./recorded-rules.ts";

describe("wouldCapture", () => {
  test("[A83] a path that became ignored later would still have been captured then", () => {
    const then = recorded({ ignoreFiles: [ignoreFile(".gitignore", "gitignore", "*.log\n")] });
    const now = recorded({ ignoreFiles: [ignoreFile(".gitignore", "gitignore", "*.log\ndata/\n")] });
    const path = pathFromText("data/big.bin");
    expect(wouldCapture(then, path, false)).toBe(true);
    expect(wouldCapture(now, path, false)).toBe(false);
  });

  test("every directory on the way must be captured, by its own ignore files too", () => {
    const rules = recorded({
      ignoreFiles: [
        ignoreFile(".belayignore", "belayignore", "!dist/\n"),
        ignoreFile("a/.gitignore", "gitignore", "/b/c/\n*.tmp\n"),
        ignoreFile("a/b/.gitignore", "gitignore", "!keep.tmp\n"),
        ignoreFile(".git/info/exclude", "exclude", "secret\n"),
      ],
    });
    const { wouldCapture: captures } = createRecordedMatcher(rules);
    const ask = (path: string, isDirectory = false) => captures(pathFromText(path), isDirectory);
    expect(ask("dist/x/y")).toBe(true);
    expect(ask("node_modules/x/y")).toBe(false);
    expect(ask("a/b/c/d")).toBe(false);
    expect(ask("a/b/c", true)).toBe(false);
    expect(ask("a/b/c")).toBe(true);
    expect(ask("a/x.tmp")).toBe(false);
    expect(ask("a/b/keep.tmp")).toBe(true);
    expect(ask("x/secret/y")).toBe(false);
    expect(ask("x/.git/config")).toBe(false);
    expect(captures(ROOT_PATH, true)).toBe(true);
  });

  test("listed paths below excluded directories, and nothing else there", () => {
    const rules = recorded({
      named: [pathFromText("dist/js/a.js")],
      tracked: [pathFromText("build/b.js")],
      excluded: [{ path: pathFromText("nested"), reason: "a workspace of its own" }],
    });
    const ask = (path: string, isDirectory = false) => wouldCapture(rules, pathFromText(path), isDirectory);
    expect(ask("dist/js/a.js")).toBe(true);
    expect(ask("dist/js", true)).toBe(true);
    expect(ask("dist/js/b.js")).toBe(false);
    expect(ask("dist/js/.env")).toBe(true);
    expect(ask("build/b.js")).toBe(true);
    expect(ask("build/c/b.js")).toBe(false);
    expect(ask("nested/x")).toBe(false);
  });

  test("[N6] rules of an unknown version prove nothing", () => {
    const rules = recorded({ defaultsVersion: DEFAULTS_VERSION + 1 });
    expect(wouldCapture(rules, pathFromText("a"), false)).toBe(false);
  });
});

test("trackedExceptions are the tracked paths that only git's index keeps in", () => {
  const rules = recorded({ ignoreFiles: [ignoreFile(".gitignore", "gitignore", "*.log\nvendor/\n")] });
  const tracked = ["a.log", "a.ts", "dist/x", "src/.env", "vendor/a/b.js"].map(pathFromText);
  const exceptions = trackedExceptions(rules, tracked);
  expect(exceptions).toEqual(["a.log", "dist/x", "vendor/a/b.js"]);
  const matcher = createRecordedMatcher({ ...rules, tracked: exceptions });
  expect(tracked.every((path) => matcher.wouldCapture(path, false))).toBe(true);
});

function recorded(parts: Partial<RecordedRules>): RecordedRules {
  return {
    // what git ignores is left out: its verdicts are git's
    defaultsVersion: 1,
    prefix: ROOT_PATH,
    ignoreFiles: [],
    excluded: [],
    named: [],
    tracked: [],
    overBudget: [],
    included: [],
    settings: {},
    ...parts,
  };
}

function ignoreFile(path: string, layer: IgnoreLayer, text: string) {
  return { path: pathFromText(path), layer, content: Buffer.from(text) };
}
