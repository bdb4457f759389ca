/** Writes the public interface of each package to its `api.md`; run it after a build. */
import { writeFileSync } from "node:fs";
import { compareApi } from "../test/api/compare-api.ts";
import { apiPath, describeApi, packagesWithApi, recordedApi } from "../test/api/describe-api.ts";

for (const directory of packagesWithApi()) {
  const [before, after] = [recordedApi(directory) ?? "", describeApi(directory)];
  if (before === after) continue;
  writeFileSync(apiPath(directory), after);
  process.stdout.write(`${[apiPath(directory), ...compareApi(before, after)].join("\n")}\n`);
}
