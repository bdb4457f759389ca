/** The comparison with others, as Markdown tables and plots. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { compare, MEASURES, type Comparison, type CompareOptions, type Measure } from "./compare.ts";
import { mib, ms } from "./measure.ts";
import { plot } from "./plot.ts";
import { createMonorepo, createProject } from "./project.ts";

interface ReportOptions extends Omit<CompareOptions, "said"> {
  readonly place: string;
  readonly sizes: readonly number[];
  /** Where tables and plots go; undefined = standard output only */
  readonly directory: string | undefined;
}

const PLOTTED: readonly Measure[] = ["first capture", "cold capture, 10 changed", "restore of 10 files"];
/** A history on disk is tried with the smallest project and the monorepo: more says nothing new and takes hours. */
const MONOREPO_FILES = 5000;

export function compareWithPeers(options: ReportOptions): void {
  const { place, sizes, directory } = options;
  const said = (text: string) => console.error(`${text} …`);
  const measure = (workload: string, count: number, create: typeof createProject) => {
    const root = join(place, workload.replaceAll(/\W+/g, "-"));
    const project = create(root, count, count);
    const hasHistory = create === createMonorepo || count === Math.min(...sizes);
    const checkpoints = hasHistory ? options.checkpoints : 0;
    const result = compare(place, workload, project, { ...options, checkpoints, said });
    for (const used of [root, join(place, `peers-${workload.replaceAll(/\W+/g, "-")}`)])
      rmSync(used, { recursive: true, force: true });
    return result;
  };
  const comparisons = sizes.map((count) => measure(`${count} files`, count, createProject));
  const monorepo = measure("monorepo", Math.min(MONOREPO_FILES, Math.max(...sizes)), createMonorepo);
  const text = [
    `Node ${process.versions.node}, ${cpus().length} cores; medians of ${options.rounds} rounds in one run. In brackets: times Belay's figure.`,
    ...[...comparisons, monorepo].map(table),
  ].join("\n\n");
  console.log(text);
  if (directory === undefined) return;
  mkdirSync(join(directory, "benchmarks"), { recursive: true });
  writeFileSync(join(directory, "benchmarks", "tables.md"), `${text}\n`);
  for (const plotted of PLOTTED)
    writeFileSync(
      join(directory, "benchmarks", `${plotted.replaceAll(/\W+/g, "-")}.svg`),
      plot(plotted, comparisons),
    );
}

function table({ workload, files, peers }: Comparison): string {
  const own = peers[0]!.figures;
  const rows = MEASURES.filter((measure) => own[measure] !== undefined).map((measure) => [
    measure,
    ...peers.map(({ figures }) => cell(measure, figures[measure], own[measure]!)),
  ]);
  const head = [`${workload} (${files})`, ...peers.map(({ name }) => name)];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function cell(measure: Measure, value: number | undefined, own: number): string {
  if (value === undefined) return "–";
  const text = /disk|memory/.test(measure) ? mib(value) : ms(value);
  return value === own ? text : `${text} (${(value / own).toFixed(2)} ×)`;
}
