/** Writes the public interface of each package to its `api.md`; run it after a build. */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { compareApi } from "../test/api/compare-api.ts";
import { apiPath, describeApi, packagesWithApi, recordedApi } from "../test/api/describe-api.ts";

for (const directory of packagesWithApi()) {
  const [before, after] = [recordedApi(directory) ?? "", describeApi(directory)];
  if (before === after) continue;
  writeFileSync(apiPath(directory), after);
  const changed = [relative(process.cwd(), apiPath(directory)), ...compareApi(before, after)];
  process.stdout.write(`${changed.join("\n")}\n`);
}
