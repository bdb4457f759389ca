import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pathFromText, ROOT_PATH, type BytePath } from "./byte-path.ts";
import { isEngineError } from "./errors.ts";
import type { ObjectHash } from "./object-hash.ts";
import { decodeRules, encodeRules, type RecordedRules } from "./rules.ts";

const NAME = "a".repeat(64) as ObjectHash;

const RULES: RecordedRules = {
  defaultsVersion: 1,
  prefix: pathFromText("packages/a"),
  ignoreFiles: [
    { path: pathFromText("../../.gitignore"), layer: "gitignore", content: Buffer.from([0, 255, 10, 13]) },
    { path: pathFromText(".git/info/exclude"), layer: "exclude", content: Buffer.alloc(0) },
    { path: pathFromText("ü/.belayignore"), layer: "belayignore", content: Buffer.from("!x") },
  ],
  excluded: [{ path: pathFromText("nested"), reason: "a workspace of its own – ü" }],
  named: ["dist/a", "dist/b", "\xff\xfe"] as BytePath[],
  overBudget: [],
  included: [],
  tracked: [pathFromText("dist/c")],
  settings: { fileLimitBytes: 67108864, nested: { a: [1, "x", null], b: true } },
};

describe("encodeRules", () => {
  test("what was encoded is decoded", () => {
    expect(decodeRules(encodeRules(RULES), NAME)).toEqual(RULES);
    expect(encodeRules(RULES).toString("latin1", 0, 14)).toBe("belay rules 1\n");
  });

  test("what depends on the one capture is the form 2", () => {
    const overBudget = [{ path: pathFromText("data"), reason: ".gitignore:1, more than 2000 files" }];
    const rules = { ...RULES, included: ["a/b", "\xff"] as BytePath[], overBudget };
    expect(decodeRules(encodeRules(rules), NAME)).toEqual(rules);
    expect(encodeRules(rules).toString("latin1", 0, 14)).toBe("belay rules 2\n");
  });

  test("equal rules have equal bytes, in whatever order they were found", () => {
    const shuffled: RecordedRules = {
      ...RULES,
      ignoreFiles: RULES.ignoreFiles.toReversed(),
      named: [...RULES.named.toReversed(), ...RULES.named],
      settings: { nested: { b: true, a: [1, "x", null] }, fileLimitBytes: 67108864 },
    };
    expect(encodeRules(shuffled)).toEqual(encodeRules(RULES));
  });

  test("empty rules", () => {
    const empty = {
      ...RULES,
      prefix: ROOT_PATH,
      ignoreFiles: [],
      excluded: [],
      named: [],
      tracked: [],
      overBudget: [],
      included: [],
      settings: {},
    };
    expect(decodeRules(encodeRules(empty), NAME)).toEqual(empty);
  });
});

describe("decodeRules refuses", () => {
  test("every cut, every appended byte and every flipped bit that it cannot have written", () => {
    const bytes = encodeRules(RULES);
    for (let length = 0; length < bytes.length; length += 1)
      expectCorruptOrCanonical(bytes.subarray(0, length));
    expectCorruptOrCanonical(Buffer.concat([bytes, Buffer.from([0])]));
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const damaged = Buffer.from(bytes);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        expectCorruptOrCanonical(damaged);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["a path out of the workspace", { named: ["../x"] as BytePath[] }],
    ["an absolute path", { tracked: ["/x"] as BytePath[] }],
    ["a path out of the workspace", { excluded: [{ path: "a/../b" as BytePath, reason: "" }] }],
    [
      "an ignore file of another name",
      { ignoreFiles: [{ ...RULES.ignoreFiles[0]!, path: "../.npmignore" as BytePath }] },
    ],
    ["a prefix that leads up", { prefix: ".." as BytePath }],
  ])("%s", (_, part) => {
    const bytes = encodeRules({ ...RULES, ...part });
    expect(() => decodeRules(bytes, NAME)).toThrow(expect.objectContaining({ code: "OBJECT_CORRUPT" }));
  });
});

/** Damage is reported as such, or the bytes are the one encoding of other rules (the object's hash tells then). */
function expectCorruptOrCanonical(bytes: Buffer): void {
  let outcome: string;
  try {
    outcome = encodeRules(decodeRules(bytes, NAME)).equals(bytes) ? "canonical" : "accepted";
  } catch (error) {
    outcome =
      isEngineError(error, "OBJECT_CORRUPT") && error.facts.object === NAME ? "corrupt" : String(error);
  }
  expect(["canonical", "corrupt"]).toContain(outcome);
}
