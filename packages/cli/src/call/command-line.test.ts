import { describe, expect, test } from "vitest";
import { GLOBAL_OPTIONS, optionValue, splitAtOperand } from "./command-line.ts";
import { parseWords } from "./parse-words.ts";
import { nearest } from "./nearest.ts";

const SPECS = {
  ...GLOBAL_OPTIONS,
  limit: { type: "string", short: "n", value: "n", about: "" },
  tag: { type: "string", multiple: true, about: "" },
  yes: { type: "boolean", short: "y", about: "" },
} as const;

describe("parseWords", () => {
  test("takes options anywhere and knows what followed --", () => {
    const line = parseWords(["a", "--yes", "--limit=3", "b", "--", "--json", "c"], SPECS);
    expect(line).toEqual({
      options: { yes: true, limit: "3" },
      operands: ["a", "b", "--json", "c"],
      dashesAt: 2,
    });
  });

  test("collects options that may be repeated; of others the last counts", () => {
    const { options } = parseWords(["--tag", "a", "--tag=b", "--limit", "1", "--limit", "2"], SPECS);
    expect(options).toEqual({ tag: ["a", "b"], limit: "2" });
  });

  test.each([
    [["--yess"], /Unknown option --yess/, /--yes/],
    [["-x"], /Unknown option -x/, /--help/],
    [["--limit"], /--limit needs a value/, /--limit=<n>/],
    [["--limit", "--json"], /--limit needs a value/, /--limit=<n>/],
    // `-n=-3` would be the value "=-3"
    [["-n", "-3"], /-n needs a value: -n <n>/, /written --limit=<n>/],
    [["--yes=no"], /--yes takes no value/, /./],
    [["--constructor"], /Unknown option --constructor/, /./],
  ])("refuses %j", (words, message, hint) => {
    expect(() => parseWords(words, SPECS)).toThrow(
      expect.objectContaining({
        code: "USAGE",
        message: expect.stringMatching(message),
        details: { hint: expect.stringMatching(hint) },
      }),
    );
  });

  test("a lone dash is a value", () => {
    expect(parseWords(["--limit", "-"], SPECS).options).toEqual({ limit: "-" });
  });
});

test("splitAtOperand leaves everything after the first word alone", () => {
  expect(splitAtOperand(["-C", "dir", "--json", "run", "--json"], SPECS)).toEqual([
    ["-C", "dir", "--json"],
    ["run", "--json"],
  ]);
  expect(splitAtOperand(["--json", "--", "x"], SPECS)).toEqual([["--json"], ["--", "x"]]);
  expect(splitAtOperand([], SPECS)).toEqual([[], []]);
});

test("nearest finds slips of the finger and beginnings, and nothing else", () => {
  const known = ["restore", "redo", "revert", "list", "checkpoint"];
  expect(nearest("resotre", known)).toBe("restore");
  expect(nearest("lst", known)).toBe("list");
  expect(nearest("check", known)).toBe("checkpoint");
  expect(nearest("xyz", known)).toBeUndefined();
  expect(nearest("approve", known)).toBeUndefined();
});

describe("optionValue", () => {
  test.each([
    [["list", "--home", "a"], "a"],
    [["--home", "a", "list", "--home=b"], "b"],
    [["checkpoint", "-m", "name", "--home", "a", "--tag", "t"], "a"],
    [["run", "--", "--home", "a"], undefined],
    [["list"], undefined],
  ])("finds --home in %j before the command's options are known", (argv, value) => {
    expect(optionValue(argv, "home")).toBe(value);
  });
});
