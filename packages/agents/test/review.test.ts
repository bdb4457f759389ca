/** Reviews as tools really print them: each file in fixtures/reviews is the output of the tool it is named after. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readReview, type ReadReviewOptions } from "../src/review/read-review.ts";

const ROOT = "/project";

function printed(name: string): string {
  return readFileSync(join(import.meta.dirname, "fixtures/reviews", name), "utf8");
}

function read(stdout: string, options: Partial<ReadReviewOptions> = {}) {
  return readReview({ stdout, stderr: "", exitCode: 1 }, { root: ROOT, ...options });
}

/** `severity file:line message` of each. */
function lines(name: string, options: Partial<ReadReviewOptions> = {}): string[] {
  return read(printed(name), options).map(
    ({ severity, file, line, message }) => `${severity} ${file}:${line} ${message}`,
  );
}

describe("[M58] reviews are read as the tools print them", () => {
  test("tsc, plain and pretty: a file that does not parse is high", () => {
    expect(lines("tsc.txt")).toEqual([
      "medium src/cart.ts:1 TS2307: Cannot find module './missing' or its corresponding type declarations.",
      "medium src/cart.ts:5 TS2322: Type 'string' is not assignable to type 'number'.",
      "high src/broken.ts:2 TS1005: ':' expected.",
      "high src/broken.ts:2 TS1005: ':' expected.",
      "high src/broken.ts:3 TS1005: '}' expected.",
    ]);
    expect(lines("tsc-pretty.txt")).toEqual(lines("tsc.txt").slice(0, 2));
  });

  test("ESLint: fatal is high, an error medium, a warning low", () => {
    expect(lines("eslint.json.txt")).toEqual([
      "high src/fatal.js:1 Parsing error: Unexpected token =",
      "medium src/lint.js:1 Unexpected var, use let or const instead.",
      "medium src/lint.js:1 'unused' is assigned a value but never used.",
      "medium src/lint.js:2 Unexpected 'debugger' statement.",
      "medium src/lint.js:3 'a' is not defined.",
      "low src/lint.js:3 Expected '===' and instead saw '=='.",
      "medium src/lint.js:3 'a' is not defined.",
    ]);
  });

  test("the same as SARIF", () => {
    expect(lines("eslint.sarif.txt").toSorted()).toEqual(lines("eslint.json.txt").toSorted());
    expect(lines("ruff.sarif.txt").map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "medium py/r.py:1",
      "medium py/r.py:5",
      "medium py/r.py:6",
    ]);
  });

  test("SARIF with scores of CVSS: from 9 critical, from 7 high; suppressed and passed results are none", () => {
    const result = (score: string, more: object = {}) => ({
      level: "error",
      message: { text: score },
      properties: { "security-severity": score },
      ...more,
    });
    const results = [
      result("9.8"),
      result("7.0"),
      result("6.9"),
      result("9.9", { suppressions: [{ kind: "inSource" }] }),
      result("9.9", { kind: "pass" }),
      { message: { text: "a note" }, level: "note" },
    ];
    const issues = read(JSON.stringify({ version: "2.1.0", runs: [{ results }] }));
    expect(issues.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
      "critical 9.8",
      "high 7.0",
      "medium 6.9",
      "low a note",
    ]);
  });

  test("Oxlint and Biome", () => {
    expect(lines("oxlint.json.txt")).toEqual([
      "low src/lint.js:1 Variable 'unused' is declared but never used. Unused variables should start with a '_'.",
      "low src/lint.js:2 `debugger` statement is not allowed",
    ]);
    expect(read(printed("oxlint.json.txt"))[1]!.suggestion).toBe("Remove the debugger statement");
    expect(lines("biome.json.txt")).toEqual([
      "low src/lint.js:1 This variable unused is unused.",
      "medium src/lint.js:2 This is an unexpected use of the debugger statement.",
    ]);
  });

  test("JUnit: a failure is medium, an error high", () => {
    expect(lines("pytest.junit.txt")).toEqual([
      "high test_import.py:1 test_import: collection failure",
      "medium test_cart.py:8 test_total: assert 3 == 4",
      'high test_cart.py:5 test_uses_fixture: failed on setup with "RuntimeError: no database"',
    ]);
    expect(lines("node.junit.txt")).toEqual(["medium node/a.test.js:2 adds: 2 == 3"]);
  });

  test.each(["pytest-all.txt", "pytest-short.txt"])(
    "pytest (%s): what cannot be collected or set up is high",
    (name) => {
      expect(lines(name)).toEqual([
        "medium test_cart.py:8 test_total: assert 3 == 4",
        "high test_import.py:1 ModuleNotFoundError: No module named 'not_there'",
        "high test_cart.py:5 test_uses_fixture: RuntimeError: no database",
      ]);
    },
  );

  test("pytest stops at what it cannot collect", () => {
    expect(lines("pytest.txt")).toEqual([
      "high test_import.py:1 ModuleNotFoundError: No module named 'not_there'",
    ]);
  });

  test("cargo as JSON and as text", () => {
    expect(lines("cargo.json.txt")).toEqual(["medium src/main.rs:3 mismatched types"]);
    expect(
      read("error[E0308]: mismatched types\n --> src/main.rs:3:18\n  |\nerror: aborting due to 1 error\n"),
    ).toEqual([{ severity: "medium", message: "mismatched types", file: "src/main.rs", line: 3 }]);
  });

  test("compilers: what a note adds is no issue; also on stderr", () => {
    const { stdout, stderr } = { stdout: "", stderr: printed("gcc.txt") };
    const issues = readReview({ stdout, stderr, exitCode: 1 }, { root: ROOT });
    expect(issues.map(({ severity, line }) => `${severity} ${line}`)).toEqual(["low 1", "medium 1", "low 1"]);
    expect(lines("oxlint-unix.txt")).toEqual(
      ["eslint(no-unused-vars)", "eslint(no-debugger)"].map((rule, index) =>
        expect.stringMatching(new RegExp(`^low src/lint.js:${index + 1} .*${rule.replace(/[()]/g, "\\$&")}`)),
      ),
    );
    expect(read("./main.go:7:2: undefined: total\n")).toEqual([
      { severity: "medium", message: "undefined: total", file: "main.go", line: 7 },
    ]);
    expect(lines("github.txt")).toHaveLength(2);
    expect(lines("github.txt")[0]).toMatch(/^low src\/lint.js:1 /);
  });
});

describe("[M58] what a reviewer agent says is data", () => {
  const issue = {
    severity: "critical",
    message: "drops the table",
    file: "a.sql",
    line: 3,
    suggestion: "keep it",
  };

  test("the answer alone, or at the end of what it says", () => {
    const answer = JSON.stringify({ issues: [issue] });
    expect(read(answer)).toEqual([issue]);
    expect(read(`I looked at it.\n\`\`\`json\n${answer}\n\`\`\`\n`)).toEqual([issue]);
    expect(read(`I looked at it.\n${answer}`)).toEqual([issue]);
  });

  test("no issue and exit code 0 is clean; an entry that is none makes it no answer", () => {
    expect(readReview({ stdout: '{"issues":[]}', stderr: "", exitCode: 0 }, { root: ROOT })).toEqual([]);
    const [only, ...others] = read('{"issues":[{"severity":"fatal","message":"x"}]}');
    expect(others).toEqual([]);
    expect(only).toMatchObject({ severity: "high", file: "", line: 0 });
  });
});

test("what no form fits is one high issue with the last 20 lines, unless it ended with 0", () => {
  const text = Array.from({ length: 30 }, (_, index) => `said ${index + 1}`).join("\n");
  expect(read(text)).toEqual([
    { severity: "high", message: text.split("\n").slice(-20).join("\n"), file: "", line: 0 },
  ]);
  expect(readReview({ stdout: text, stderr: "", exitCode: 0 }, { root: ROOT })).toEqual([]);
  expect(read("")).toEqual([
    { severity: "high", message: "The review failed: exit code 1", file: "", line: 0 },
  ]);
});

test("a tool that reports nothing and fails is not clean", () => {
  expect(read("[]")).toHaveLength(1);
});

test("the user's names of severities", () => {
  expect(lines("tsc.txt", { severity: { medium: "critical" } })[0]).toMatch(/^critical /);
});

test("a named form is not guessed", () => {
  expect(read(printed("tsc.txt"), { format: "eslint" })).toEqual([
    expect.objectContaining({ severity: "high", file: "" }),
  ]);
});
