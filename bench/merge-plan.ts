/** The plan of a merge: an agent and the user each changed many files, a tenth of them the same, at different places. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { createSyntax } from "@belay/syntax";
import { median, ms, type Row } from "./measure.ts";

const BUDGET_MS = 1000;

/** Each side changes `changed` files. */
export async function measureMergePlan(place: string, changed: number, rounds: number): Promise<Row> {
  const root = join(place, "merging");
  const both = Math.ceil(changed / 10);
  const files = Array.from({ length: 2 * changed - both }, (_, at) => `src/${at % 50}/file-${at}.ts`);
  for (const [at, file] of files.entries()) {
    mkdirSync(join(root, "src", String(at % 50)), { recursive: true });
    writeFileSync(join(root, file), sourceOf(at));
  }
  await using workspace = await openWorkspace(root, { home: join(place, "merging-home") });
  const base = (await workspace.checkpoint()).id;
  for (const file of files.slice(0, changed)) change(join(root, file), "work_1(");
  const head = (await workspace.checkpoint()).id;
  await workspace.restoreTo(base);
  for (const file of files.slice(changed - both)) change(join(root, file), "work_60(");
  const sources = [{ name: "agent", base, head }];
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // the parsers are started each time, as a command would
    const started = performance.now();
    const preview = await workspace.merges.preview(sources, { syntax: createSyntax(), detail: "names" });
    times.push(performance.now() - started);
    if (preview.merged.length !== both || !preview.resolution.success)
      throw new Error(`${preview.merged.length} files were merged, not ${both}`);
  }
  const time = median(times);
  const work = `plan of a merge, ${changed} + ${changed} files, ${both} on both`;
  return {
    work,
    files: files.length,
    belay: ms(time),
    git: "",
    ratio: "",
    budget: "≤ 1 s",
    holds: time <= BUDGET_MS,
  };
}

/** Some 8 KB of code that parses. */
function sourceOf(seed: number): string {
  const body = (at: number) =>
    `export function work_${at}(a: number): number {\n  const sum = a + ${seed};\n  return sum * ${at};\n}\n`;
  return Array.from({ length: 80 }, (_, at) => body(at)).join("\n");
}

function change(file: string, where: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(`${where}a: number`, `${where}a: number, b = work_2(${text.length})`));
}

/** A merge is carried out as a restore of the same files is, and may take twice as long. */
const APPLY_RATIO = 2;

/** Applies a merge of `changed` files, and restores the same files, in turn. */
export async function measureMergeApply(place: string, changed: number, rounds: number): Promise<Row> {
  const root = join(place, "applying");
  const files = Array.from({ length: changed }, (_, at) => `src/${at % 50}/file-${at}.ts`);
  for (const [at, file] of files.entries()) {
    mkdirSync(join(root, "src", String(at % 50)), { recursive: true });
    writeFileSync(join(root, file), sourceOf(at));
  }
  await using workspace = await openWorkspace(root, { home: join(place, "applying-home") });
  const before = (await workspace.checkpoint()).id;
  await workspace.createBranch("agent");
  await workspace.restore(await workspace.planSwitch("agent"));
  for (const file of files) change(join(root, file), "work_1(");
  await workspace.restore(await workspace.planSwitch("main"));
  const [applied, restored]: number[][] = [[], []];
  const timed = async (times: number[], work: () => Promise<{ modified: number }>) => {
    const started = performance.now();
    const { modified } = await work();
    times.push(performance.now() - started);
    if (modified !== changed) throw new Error(`${modified} files were changed, not ${changed}`);
  };
  for (let round = 0; round < rounds; round += 1) {
    const merge = await workspace.planMerge(["agent"]);
    await timed(applied!, () => workspace.merge(merge));
    const back = await workspace.planRestore(before);
    await timed(restored!, () => workspace.restore(back));
  }
  const ratio = median(applied!) / median(restored!);
  return {
    work: `apply of a merge, ${changed} files (a restore: ${ms(median(restored!))})`,
    files: changed,
    belay: ms(median(applied!)),
    git: "",
    ratio: ratio.toFixed(2),
    budget: `≤ ${APPLY_RATIO} × a restore`,
    holds: ratio <= APPLY_RATIO,
  };
}
