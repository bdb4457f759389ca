/** Documents that can be compared with the code say what the code does. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import {
  PRUNE_GRACE_MS,
  RETENTION_PRESETS,
  SAFETY_KEEP_MS,
  THREAD_SILENCE_MS,
} from "../packages/engine/src/model/retention.ts";
import { STORE_MIGRATIONS } from "../packages/engine/src/store/schema.ts";
import { TARGETS } from "../bench/targets.ts";
import { SUITES } from "../torture/suites.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../docs", name), "utf8");
const HOUR_MS = 3_600_000;

test("[Y73] the storage schema: the document has every table with exactly its columns", () => {
  using db = new DatabaseSync(":memory:");
  for (const migration of STORE_MIGRATIONS) {
    if (typeof migration !== "string")
      throw new Error("a migration that is no text: teach this test to run it");
    db.exec(migration);
  }
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map(({ name }) => String(name));
  const wanted = tables.map((table) => {
    const columns = db.prepare("SELECT name FROM pragma_table_info(?) ORDER BY cid").all(table);
    return `| \`${table}\` | ${columns.map(({ name }) => `\`${String(name)}\``).join(" ")} |`;
  });
  const section = read("format.md").split("## Tables and columns")[1]?.split("\n## ")[0] ?? "";
  expect(section.split("\n").filter((line) => line.startsWith("| `"))).toEqual(wanted);
});

test("[Y74] the pruning algorithm: the document has each preset's numbers", () => {
  const text = read("retention.md");
  const hours = (number = Infinity) => (number === Infinity ? "no limit" : `${number} h`);
  for (const { name, ...policy } of Object.values(RETENTION_PRESETS)) {
    const { keepAllHours, keepTurnsHours, closedHours, keepMinimum, keepMaximum, manualLimit } = policy;
    const cells = [hours(keepAllHours), hours(keepTurnsHours), hours(closedHours), keepMinimum];
    const row = `| \`${name}\` | ${[...cells, keepMaximum ?? "no limit", manualLimit ?? "no limit"].join(" | ")} |`;
    expect(text).toContain(row);
  }
  expect(text).toContain(`${THREAD_SILENCE_MS / HOUR_MS / 24} days without an event`);
  expect(text).toContain(`${PRUNE_GRACE_MS / HOUR_MS} hours`);
  expect(text).toContain(`${SAFETY_KEEP_MS / HOUR_MS / 24} days`);
});

test("[Y76] stress results: every suite has its row", () => {
  const text = read("reliability.md");
  for (const { name } of SUITES) expect(text, name).toContain(`| \`${name}\` |`);
});

test("[Y75] performance benchmarks: the document has every target with its budget, and the table of budgets its rows", () => {
  const text = read("benchmarks.md");
  for (const { work, files, mostMs } of Object.values(TARGETS))
    expect(text).toContain(`| ${work} | ${files} | < ${mostMs} ms |`);
  const budgets = read("benchmarks/budgets.md");
  for (const work of ["first capture", "live capture", "restore of 10 files", "list 100", "after gc"])
    expect(budgets).toContain(work);
});
