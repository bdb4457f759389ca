/** Every torture suite in its short form, each in a process of its own as `npm run torture` runs it. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** What each suite proves. */
const SUITES = {
  model: "[N0, R1, G5, I23, I29] random programs: restore, undo and redo are exact whatever happened before",
  crash:
    "[G2, R2, R4, R5, R9, R10] killed at any call, the tree is before or after and every checkpoint whole",
  errors: "[G3, R6] with any call failing it is done, or refused, and says which",
  corruption: "[R26] a store damaged anywhere gives no wrong byte",
};

test.for(Object.entries(SUITES))("%s: %s", { timeout: 120_000 }, ([name]) => {
  const printed = execFileSync(process.execPath, ["torture/main.ts", name, "--short"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(printed).toMatch(new RegExp(`^${name} +(?:[1-9]|skipped: )`));
});
