/**
 * `npm run bench [-- --files n[,n…]] [--rounds n] [--checkpoints n] [--history n] [--page n] [--targets rounds] [--hooks calls]`: Belay against the shadow-git sequence in the
 * same run, medians and ratios, and which of the budgets hold. Reports only; nothing here passes or fails.
 * `--files 0` measures only the targets of the replaced designs, and hooks in forks.
 * `--parallel` measures only what concerns forks and merges; files are below TMPDIR, which tells the file system.
 * `--against git,cp,restic,borg` compares with these instead, on the same sizes and on a monorepo; `--write docs`
 * leaves the tables and plots there.
 * `--remote` compares push and clone with restic, on an S3 server that it starts; `--files` and `--rounds` apply.
 * `--merges <repository> [--most n]` replays the merge commits of a git repository instead.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Belay } from "./belay.ts";
import { measureDisk } from "./disk.ts";
import { measureForkHooks } from "./fork-hooks.ts";
import { measureForks, measureSpareForks } from "./forks.ts";
import { measureGhosts } from "./ghosts.ts";
import { growthRow } from "./live.ts";
import { measureMergeApply, measureMergePlan } from "./merge-plan.ts";
import { replayMerges } from "./merges.ts";
import { mib, printTable, type Row } from "./measure.ts";
import { compareWithPeers } from "./report.ts";
import { measureRetrieval } from "./retrieval.ts";
import { measurePage } from "./page.ts";
import { measureSpeed } from "./speed.ts";
import { measureTargets } from "./targets.ts";
import { measureTimelineScreen } from "./timeline-screen.ts";
import { measureTimeline } from "./timeline.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "500,5000,50000" },
    rounds: { type: "string", default: "5" },
    checkpoints: { type: "string", default: "200" },
    history: { type: "string", default: "10000" },
    page: { type: "string", default: "5000" },
    targets: { type: "string", default: "5" },
    hooks: { type: "string", default: "20" },
    against: { type: "string" },
    write: { type: "string" },
    remote: { type: "boolean", default: false },
    parallel: { type: "boolean", default: false },
    merges: { type: "string" },
    most: { type: "string", default: "12000" },
  },
});

const sizes = values.files.split(",").map(Number);
const rounds = Number(values.rounds);
const place = mkdtempSync(join(tmpdir(), "belay-bench-"));
const rows: Row[] = [];
const captures: { files: number; captureMs: number }[] = [];
const checkpoints = Number(values.checkpoints);
try {
  if (values.merges !== undefined) await replayMerges(values.merges, Number(values.most));
  else if (values.remote) await reportRemote();
  else if (values.against === undefined) await reportBudgets();
  else
    compareWithPeers({
      place,
      sizes,
      rounds,
      checkpoints,
      against: values.against.split(","),
      directory: values.write,
    });
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** Prints what was measured, also where a later measurement failed. */
async function reportBudgets(): Promise<void> {
  try {
    await (values.parallel ? measureParallel() : measureBudgets());
  } finally {
    console.log(
      `Node ${process.versions.node}, ${cpus().length} cores, ${mib(totalmem())}; medians of ${rounds}; git = add -A, write-tree, commit-tree\n`,
    );
    printTable(rows);
  }
}

async function reportRemote(): Promise<void> {
  const { measureRemote } = await import("./remote.ts");
  const measured = await measureRemote(place, sizes, rounds);
  console.log(
    `Node ${process.versions.node}, ${cpus().length} cores; medians of ${rounds}; Ceph RGW in memory\n`,
  );
  printTable(measured, "restic");
}

/** Hooks in forks, merges, forks. */
async function measureParallel(): Promise<void> {
  const most = Math.max(...sizes);
  if (Number(values.hooks) > 0) {
    console.error("hooks in forks …");
    rows.push(...(await measureForkHooks(Number(values.hooks))));
  }
  if (most === 0) return;
  const changed = Math.min(1000, most);
  console.error(`a merge of ${changed} files …`);
  rows.push(await measureMergePlan(place, changed, rounds));
  rows.push(await measureMergeApply(place, changed, rounds));
  console.error(`forks of ${most} files …`);
  rows.push(...(await measureForks(place, most, rounds)));
  rows.push(...(await measureSpareForks(place, most, rounds)));
}

async function measureBudgets(): Promise<void> {
  for (const files of sizes.filter((size) => size > 0)) {
    console.error(`${files} files …`);
    const { rows: measured, captureMs } = await measureSpeed(place, files, rounds);
    rows.push(...measured, measureMemory(files));
    captures.push({ files, captureMs });
  }
  if (Number(values.targets) > 0) {
    console.error("targets of the replaced designs …");
    rows.push(...(await measureTargets(place, Number(values.targets))));
  }
  if (captures.length > 1) rows.push(growthRow(captures));
  await measureParallel();
  if (Math.max(...sizes) === 0) return;
  const ghosted = Math.min(20_000, Math.max(...sizes));
  console.error(`ghosts of ${ghosted} files …`);
  rows.push(await measureGhosts(place, ghosted, rounds));
  const indexed = { files: Math.min(5000, ghosted), chunks: Math.min(50_000, 10 * ghosted), rounds };
  console.error(`a search index of ${indexed.files} files …`);
  rows.push(...(await measureRetrieval(place, indexed)));
  if (checkpoints > 0) {
    console.error(`${checkpoints} checkpoints …`);
    rows.push(
      ...(await measureDisk(place, { files: Math.min(5000, Math.max(...sizes)), checkpoints, rounds })),
    );
  }
  if (Number(values.history) > 0) {
    console.error(`a history of ${values.history} checkpoints …`);
    rows.push(...(await measureTimeline(place, Number(values.history), rounds)));
    rows.push(...(await measureTimelineScreen(place, Number(values.history), rounds)));
    rows.push(
      ...(await measurePage(place, {
        checkpoints: Number(values.history),
        many: Number(values.page),
        rounds,
      })),
    );
  }
}

function measureMemory(files: number): Row {
  const belay = new Belay(join(place, `home-${files}`), join(place, `project-${files}`));
  const peak = belay.peakMemory(join(place, "memory"), "checkpoint");
  return {
    work: "memory of a cold capture",
    files,
    belay: mib(peak),
    git: "",
    ratio: "",
    budget: "≤ 200 MiB",
    holds: peak <= 200 * 1024 * 1024,
  };
}
