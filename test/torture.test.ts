/** Every torture suite in its short form, each in a process of its own as `npm run torture` runs it. */
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { PLANTED_BUGS } from "../torture/planted-bugs.ts";
import { assertPlantable } from "../torture/self-test.ts";

describe("in its short form", () => {
  test("[N0, R1, G5, I23, I29] model: restore, undo and redo are exact whatever happened before", () =>
    expectPassed("model"));

  test("[R94] copies: two working copies of one store are each as if the other were not there", () =>
    expectPassed("copies"));

  test("[R90, R91, R92] forks: each is exact, touches nothing else, and leaves nothing but its branch", () =>
    expectPassed("forks"));

  test("[G2, R2, R4, R5, R9, R10, R1756] crash: killed at any call, the tree is before or after and every checkpoint whole", () =>
    expectPassed("crash"));

  test("[G3, R6] errors: with any call failing it is done, or refused, and says which", () =>
    expectPassed("errors"));

  test("[R26] corruption: a store that is damaged anywhere gives no wrong byte", () =>
    expectPassed("corruption"));

  test("[R2, I55] power: what was acknowledged survives a power cut", () => expectPassed("power"));

  test("[R7, I23] detection: no quick edit is missed", () => expectPassed("detection"));

  test("[R136] databases: what a checkpoint has of a database in use is the state after a commit", () =>
    expectPassed("databases"));

  test("[R18, R27, R111, R1951, R1891] paths: neither forged names nor swapped directories, the stage's among them, lead outside", () =>
    expectPassed("paths"));

  test(
    "[R172] order: whatever agents, hands and restores do, undo leaves the files that a plain model has",
    {
      timeout: 300_000,
    },
    () => expectPassed("order"),
  );

  test("[R130, R131, R160] narrow: a turn that meets limits, FIFOs, new rules and the cap is undone exactly", () =>
    expectPassed("narrow"));

  test("[I61, R21] soak: processes killed and stopped at random lose nothing", () => expectPassed("soak"));

  test("[R97] merges: what is merged unasked is what git makes of it", () => expectPassed("merges"));

  test("[T6, T7, T8, T16, R739] sync: weeks of pushes, clones and sweeps on a bad network lose nothing that was claimed", () =>
    expectPassed("sync"));
  test("[T1, T5, T6] devices: many devices in one space; every line can be read as a fresh machine reads it", () =>
    expectPassed("devices"));

  test(
    "[T1, T2, T3, T9, R705, R1846] network: whatever happens to a request, work is done or not, and what was claimed can be read",
    { timeout: 300_000 },
    () => expectPassed("network"),
  );

  test(
    "[T1, T4, T9, R2051] killed: at any request and at any change of a file, the next try ends it, and no clone is half there",
    { timeout: 600_000 },
    () => expectPassed("killed"),
  );

  test("[R113, R10, I77] zombie: a restore that was killed and never reaped holds nothing up", () =>
    expectPassed("zombie"));

  test("[R110, N0, I76] writers: what other programs write during restores is on disk or in a checkpoint", () =>
    expectPassed("writers"));

  test("[I43, R14] full: with hardly any room it is done, or refused, and all is well when there is room", () =>
    expectPassed("full"));

  test("[R140, I81] settings: what other processes set and take back holds at once", () =>
    expectPassed("settings"));
});

test.each(PLANTED_BUGS)("there is a place to plant the bug: $name", (bug) => {
  expect(() => assertPlantable(bug)).not.toThrow();
});

/** What other seeds find belongs to `npm run torture`: here the same is tried each time. */
const SEED = "5000";

function expectPassed(name: string): void {
  const printed = execFileSync(process.execPath, ["torture/main.ts", name, "--short", "--seed", SEED], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(printed).toMatch(new RegExp(`^${name} +(?:[1-9]|skipped: )`));
}
