/**
 * What the suites have tried so far. `--write` appends one line for each run to `docs/figures/torture.jsonl` and makes
 * `docs/figures/torture.md` from all of them.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { SUITES } from "./suites.ts";

const DIRECTORY = join(import.meta.dirname, "../docs/figures");
const LOG = join(DIRECTORY, "torture.jsonl");

/** One run of a suite, or one planted bug that its suite noticed, or did not. */
export type Figure =
  | { readonly suite: string; readonly tried: number; readonly seeds: readonly number[] }
  | { readonly bug: string; readonly noticedAfter: number }
  | { readonly bug: string; readonly missedIn: number };

/** Adds figures to the log and makes the tables again. */
export function writeFigures(figures: readonly Figure[]): void {
  appendFileSync(LOG, figures.map((figure) => `${JSON.stringify(figure)}\n`).join(""));
  writeFileSync(join(DIRECTORY, "torture.md"), describeFigures(readFigures()));
}

function readFigures(): Figure[] {
  const lines = readFileSync(LOG, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Figure);
}

function describeFigures(figures: readonly Figure[]): string {
  const runs = figures.filter((figure) => "suite" in figure);
  const planted = new Map(figures.flatMap((each) => ("bug" in each ? [[each.bug, each] as const] : [])));
  const suites = SUITES.map(({ name, unit, goal }) => {
    const own = runs.filter(({ suite }) => suite === name);
    const tried = own.reduce((sum, run) => sum + run.tried, 0);
    const last = own.flatMap(({ seeds }) => seeds).slice(-SEEDS_SHOWN);
    return `| \`${name}\` | ${number(tried)} ${unit} | ${number(goal)} | ${last.join(", ")} |`;
  });
  const bugs = PLANTED_BUGS.map(({ name, suite }) => {
    const unit = SUITES.find((each) => each.name === suite)!.unit;
    return `| \`${suite}\` | ${name} | ${describeBug(planted.get(name), unit)} |`;
  });
  return `# What the torture suites have tried

Made by \`npm run torture -- --write\`; the runs are in [torture.jsonl](torture.jsonl). What the suites do:
[reliability.md](../reliability.md). A round's seed is the first one plus its number.

| suite | tried | goal | last seeds |
|---|---|---|---|
${suites.join("\n")}

| suite | planted bug | tries that passed before it was noticed |
|---|---|---|
${bugs.join("\n")}
`;
}

function describeBug(figure: Extract<Figure, { bug: string }> | undefined, unit: string): string {
  if (figure === undefined) return "not run yet";
  return "missedIn" in figure
    ? `**not noticed** in ${number(figure.missedIn)} ${unit}`
    : `${number(figure.noticedAfter)} ${unit}`;
}

const SEEDS_SHOWN = 6;

function number(value: number): string {
  return value.toLocaleString("en");
}
