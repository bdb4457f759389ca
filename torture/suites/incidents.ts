/** Incidents of users of similar products, one test each: ordinary tests, run here with the rest. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import type { Suite } from "../suite.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
const RUNNER = join(REPOSITORY, "node_modules/vitest/vitest.mjs");

export const incidents: Suite = {
  name: "incidents",
  unit: "incidents",
  goal: 1,
  short: 0,
  async round(round) {
    const directory = makeDirectory("belay-incidents-");
    const file = join(directory, "report.json");
    const words = ["run", "packages/engine/test/incidents", "--reporter=json", `--outputFile=${file}`];
    spawnSync(process.execPath, [RUNNER, ...words], { cwd: REPOSITORY, stdio: "ignore" });
    const report = JSON.parse(readFileSync(file, "utf8")) as Report;
    rmSync(directory, { recursive: true });
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.filter(({ status }) => status === "failed").map(({ title }) => title);
    if (failed.length > 0) throw new Error(failed.join("\n"));
    const ids = new Set(tests.flatMap(({ title }) => title.match(/I\d\d/g) ?? []));
    round.count("without a loss", ids.size);
  },
};

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}
