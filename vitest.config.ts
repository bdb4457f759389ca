import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/long-first.ts";
import { StallReporter } from "./test/stall-reporter.ts";

if (Number.parseInt(process.versions.node, 10) < 24) {
  throw new Error(
    "The tests need Node 24: run them with `npm test`, after an `npm install` that ran scripts.",
  );
}

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.{ts,tsx}", "packages/*/test/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    environment: "node",
    // commands in tests start no resident process behind the test's back
    env: { BELAY_RESIDENT: "off", BELAY_SEED: process.env["BELAY_SEED"] ?? "20261115" },
    setupFiles: ["test/fixed-seed.ts"],
    pool: "forks",
    // most tests wait for other processes: two at a time, also on two cores
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongFirst },
    reporters: ["default", new StallReporter()],
    // what is waited for is a screen or another process: it gets its time also where the machine is busy
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
