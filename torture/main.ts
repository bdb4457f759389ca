/**
 * `npm run torture [suite] [-- --seconds n | --runs n] [--seed s] [--self-test]`: tries to make Belay lose something.
 * Without a limit each suite runs to its goal. The seed is printed; a failing one is repeated with --seed.
 * --short is what runs among the tests; --self-test plants bugs, or those with --bug in their name, and shows that the
 * suites notice them; --write adds what was tried to docs/figures.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { inspect, parseArgs } from "node:util";
import { shimBase, underShim } from "../packages/engine/test/support/fault-control.ts";
import { makeDirectory } from "../packages/engine/test/support/place.ts";
import { writeFigures } from "./figures.ts";
import { runSuite, type Result, type Suite } from "./suite.ts";
import { selfTest } from "./self-test.ts";
import { SUITES } from "./suites.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string" },
    runs: { type: "string" },
    seed: { type: "string" },
    short: { type: "boolean", default: false },
    "self-test": { type: "boolean", default: false },
    bug: { type: "string" },
    write: { type: "boolean", default: false },
  },
});

const chosen = positionals.length === 0 ? SUITES : SUITES.filter(({ name }) => positionals.includes(name));
if (chosen.length === 0) {
  console.error(`The suites are: ${SUITES.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}
let failed = values["self-test"] && !selfTest({ suites: positionals, bug: values.bug }, values.write);
for (const suite of values["self-test"] ? [] : chosen) failed = !(await run(suite)) || failed;
process.exitCode = failed ? 1 : 0;

async function run(suite: Suite): Promise<boolean> {
  const missing = suite.missing?.();
  if (missing !== undefined) {
    console.log(`${suite.name.padEnd(11)} skipped: ${missing}`);
    return true;
  }
  const leftOut = suite.leftOut?.();
  if (leftOut !== undefined) console.error(`${suite.name.padEnd(11)} without ${leftOut}`);
  if (suite.underShim === true && shimBase === undefined) return runUnderShim(suite);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
  const runs =
    values.runs ?? (values.short ? suite.short : values.seconds === undefined ? suite.goal : Infinity);
  const limits = { seed, runs: Number(runs), seconds: Number(values.seconds ?? Infinity) };
  const result = await runSuite(suite, limits, (sofar) => console.error(line(suite, seed, sofar)));
  console.log(line(suite, seed, result));
  if (values.write) writeFigures([{ suite: suite.name, tried: result.count, seeds: [seed] }]);
  if (result.failure === undefined) return true;
  console.error(inspect(result.failure.error, { depth: Infinity }));
  console.error(`Again: npm run torture ${suite.name} -- --seed ${result.failure.seed}`);
  return false;
}

function line({ name, unit }: Suite, seed: number, { count, kinds, seconds, failure }: Result): string {
  const parts = [...kinds].map(([kind, number]) => `${kind} ${number.toLocaleString("en")}`).join(", ");
  const verdict = failure === undefined ? "" : "  FAILED";
  return `${name.padEnd(11)} ${count.toLocaleString("en")} ${unit} (${parts})  seed ${seed}  ${Math.round(seconds)} s${verdict}`;
}

/** The same suite in a process whose calls can be made to fail. */
function runUnderShim({ name }: Suite): boolean {
  const base = makeDirectory("belay-torture-");
  const options = Object.entries(values).flatMap(([key, value]) =>
    value === false ? [] : value === true ? [`--${key}`] : [`--${key}`, value],
  );
  try {
    const { status, signal } = spawnSync(
      process.execPath,
      [...process.execArgv, import.meta.filename, name, ...options],
      {
        stdio: "inherit",
        env: { ...process.env, ...underShim(base) },
      },
    );
    if (signal !== null) console.error(`${name}: ended by ${signal}`);
    return status === 0;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
