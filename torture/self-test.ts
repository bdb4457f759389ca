/** Shows that the suites can fail: each planted bug must be noticed by its suite. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFigures } from "./figures.ts";
import { PLANTED_BUGS, type PlantedBug } from "./planted-bugs.ts";
import { SUITES } from "./suites.ts";

const PACKAGES = join(import.meta.dirname, "../packages");
const LIMIT_MS = 600_000;

/** Which bugs are planted; `bug` is part of a name. */
export interface Chosen {
  readonly suites: readonly string[];
  readonly bug: string | undefined;
}

/** True when every bug was noticed. */
export function selfTest({ suites, bug: name = "" }: Chosen, isWritten: boolean): boolean {
  const isIn = (suite: string) => suites.length === 0 || suites.includes(suite);
  const bugs = PLANTED_BUGS.filter((bug) => isIn(bug.suite) && bug.name.includes(name));
  for (const bug of bugs) assertPlantable(bug);
  return bugs.map((bug) => isNoticed(bug, isWritten)).every(Boolean);
}

/** A text that is no longer there would plant nothing and prove nothing. */
export function assertPlantable({ name, edits }: PlantedBug): void {
  for (const { file, text, package: inPackage = "engine" } of edits) {
    const found = readFileSync(join(PACKAGES, inPackage, "src", `${file}.ts`), "utf8").split(text).length - 1;
    if (found !== 1) throw new Error(`"${name}": ${file}.ts has ${found} times: ${text}`);
  }
}

function isNoticed({ name, suite, tries, strikes }: PlantedBug, isWritten: boolean): boolean {
  const missing = SUITES.find((each) => each.name === suite)!.missing?.();
  const title = `${suite.padEnd(11)} ${name}`;
  if (missing !== undefined) {
    console.log(`skipped     ${title}: ${missing}`);
    return true;
  }
  const started = performance.now();
  const { stdout } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "main.ts"), suite, "--runs", String(tries), "--seed", "1"],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: LIMIT_MS,
      env: {
        ...process.env,
        BELAY_PLANTED_BUG: name,
        BELAY_TORTURE_SCENE: strikes?.scene ?? "",
        BELAY_TORTURE_CALLS: strikes?.calls ?? "",
        NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${join(import.meta.dirname, "plant.ts")}`,
      },
    },
  );
  const noticed = stdout.includes("FAILED");
  const seconds = Math.round((performance.now() - started) / 1000);
  const passed = /^\S+ +([\d,]+)/.exec(stdout)?.[1] ?? "?";
  const count = Number(passed.replaceAll(",", ""));
  if (isWritten)
    writeFigures([noticed ? { bug: name, noticedAfter: count } : { bug: name, missedIn: tries }]);
  console.log(
    `${noticed ? "noticed    " : "NOT NOTICED"} ${title} (after ${passed} tries that passed, ${seconds} s)`,
  );
  return noticed;
}
