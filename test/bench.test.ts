/** The benchmark in its short form: it runs, measures against git and says which budgets hold. Figures are not judged. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test(
  "[A64] the benchmark prints its table: captures and restores of a small project among them",
  { timeout: 120_000 },
  () => {
    const small = ["--files", "200", "--rounds", "1", "--checkpoints", "3", "--history", "30"];
    const args = ["bench/main.ts", ...small];
    const printed = execFileSync(process.execPath, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 110_000,
      killSignal: "SIGKILL",
    });
    for (const work of [
      "first capture",
      "cold capture, 10 changed",
      "live capture, 10 changed",
      "restore of 10 files, live",
      "list 100",
      "memory",
      "after gc",
    ]) {
      expect(printed).toContain(work);
    }
    expect(printed).not.toMatch(/NaN|undefined/);
  },
);
