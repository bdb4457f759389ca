/** Making a fork with its dependencies, against `git worktree add` and `cp -a` of the same dependencies. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openWorkspace, writeSetting } from "@belay/engine";
import { median, mib, ms, type Row } from "./measure.ts";
import { createProject } from "./project.ts";

/** Time and processor time may be this many times those of git and cp: where copies share blocks, and elsewhere. */
const BUDGETS = { clone: 0.6, copy: 1.2 };
/** For so many files of the project there is one of a dependency, which is larger. */
const FILES_A_DEPENDENCY = 7;
const DEPENDENCY_BYTES = 49_000;

/** A fork that shares blocks may take so much of the disk that the other way takes. */
const DISK_RATIO = 0.1;

/** Measures both in turn, so that a busy machine is busy for both. */
export async function measureForks(place: string, files: number, rounds: number): Promise<Row[]> {
  const root = join(place, "forking/project");
  writeProject(root, files);
  const git = gitIn(root);
  await using workspace = await openWorkspace(root, { home: join(place, "forking/home") });
  // what the first capture of all files costs is not part of a fork
  await workspace.checkpoint();
  const [own, others]: [Cost[], Cost[]] = [[], []];
  let method: keyof typeof BUDGETS = "copy";
  for (let round = 0; round < rounds; round += 1) {
    const fork = await costOf(place, () => workspace.fork(`round-${round}`));
    own.push(fork.cost);
    method = fork.made.method === "clone" ? "clone" : "copy";
    await workspace.removeFork(fork.made.id, { now: true });
    const target = join(place, "forking/worktree");
    others.push(worktreeCost(root, target, { git, dependencies: join(root, "node_modules") }));
  }
  rmSync(join(place, "forking"), { recursive: true });
  const rowOf = (what: keyof Cost, kind: string, budget: number): Row => {
    const [belay, other] = [own, others].map((costs) => median(costs.map((cost) => cost[what])));
    const shown = what === "disk" ? mib : ms;
    return {
      work: `a fork with its dependencies (${method})${kind}, against git worktree add + cp -a`,
      files,
      belay: shown(belay!),
      git: shown(other!),
      ratio: (belay! / other!).toFixed(2),
      budget: `≤ ${budget} ×`,
      holds: belay! / other! <= budget,
    };
  };
  return [
    rowOf("time", "", BUDGETS[method]),
    rowOf("cpu", ", processor time", BUDGETS[method]),
    // where nothing is shared, both take the same
    ...(method === "clone" ? [rowOf("disk", ", disk", DISK_RATIO)] : []),
  ];
}

/** What work in this process costs. */
async function costOf<Made>(place: string, work: () => Promise<Made>): Promise<{ made: Made; cost: Cost }> {
  const free = freeBytes(place);
  const [started, before] = [performance.now(), process.cpuUsage()];
  const made = await work();
  const { user, system } = process.cpuUsage(before);
  const time = performance.now() - started;
  return { made, cost: { time, cpu: (user + system) / 1000, disk: free - freeBytes(place) } };
}

/** What is free on the disk, with everything written: another program's files count too. */
function freeBytes(place: string): number {
  execFileSync("sync", ["-f", place], { timeout: 600_000 });
  const { bfree, bsize } = statfsSync(place);
  return bfree * bsize;
}

/** A spare fork has to be so many times faster than `git worktree add`. */
const SPARE_RATIO = 5;
const DIFFERENT_FILES = 100;

/** Forks of files only, each of which takes over a spare one of which some files differ, against `git worktree add`. */
export async function measureSpareForks(place: string, files: number, rounds: number): Promise<Row[]> {
  const [root, home] = [join(place, "sparing/project"), join(place, "sparing/home")];
  const changing = writeProject(root, files).slice(0, DIFFERENT_FILES);
  const git = gitIn(root);
  // a removed fork is spare at once
  writeSetting(home, "forks.graceHours", "0");
  await using workspace = await openWorkspace(root, { home });
  const wanted = { dependencies: "none" as const };
  const first = await workspace.fork("first", wanted);
  await pause(AT_REST_MS);
  await workspace.removeFork(first.id);
  const times: { own: Cost; git: Cost }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const path of changing) appendFileSync(path, `// ${round}\n`);
    await pause(AT_REST_MS);
    const { made: fork, cost: own } = await costOf(place, () => workspace.fork(`round-${round}`, wanted));
    if (fork.method !== "spare") throw new Error(`the fork was made by ${fork.method}`);
    await pause(AT_REST_MS);
    await workspace.removeFork(fork.id);
    times.push({ own, git: worktreeCost(root, join(place, "sparing/worktree"), { git }) });
  }
  rmSync(join(place, "sparing"), { recursive: true });
  return (["time", "cpu"] as const).map((what) => {
    const [own, other] = [
      median(times.map((each) => each.own[what])),
      median(times.map((each) => each.git[what])),
    ];
    return {
      work: `a fork from a spare one, ${DIFFERENT_FILES} differ, against git worktree add${what === "cpu" ? ", processor time" : ""}`,
      files,
      belay: ms(own),
      git: ms(other),
      ratio: `${(other / own).toFixed(1)} ×`,
      budget: `≥ ${SPARE_RATIO} ×`,
      holds: other / own >= SPARE_RATIO,
    };
  });
}

/** Longer than the granularity of file times: what was written a moment ago is not taken over. */
const AT_REST_MS = 100;

/** Milliseconds and bytes. */
interface Cost {
  readonly time: number;
  readonly cpu: number;
  readonly disk: number;
}

/** Ends when everything is on the disk, as a fork does. A shell tells what the programs it started took. */
function worktreeCost(
  root: string,
  target: string,
  { git, dependencies = "" }: { git: Git; dependencies?: string },
): Cost {
  const free = freeBytes(root);
  const started = performance.now();
  const script = `git worktree add -q --detach "$0" >&2 && { [ -z "$1" ] || cp -a "$1" "$0"; } && sync -f "$0" && times`;
  const printed = execFileSync("sh", ["-c", script, target, dependencies], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 600_000,
  });
  const time = performance.now() - started;
  const disk = free - freeBytes(root);
  git("worktree", "remove", "--force", target);
  const [, children = ""] = printed.split("\n");
  const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
  return { time, cpu, disk };
}

type Git = (...words: string[]) => void;

/** Makes a repository of a project, with everything in one commit. */
function gitIn(root: string): Git {
  const git: Git = (...words) => {
    execFileSync("git", words, { cwd: root, stdio: "ignore", timeout: 600_000 });
  };
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "all");
  return git;
}

/** Files of the project as those of the other rows, which git packs as it does source code; their paths. */
function writeProject(root: string, files: number): readonly string[] {
  const project = createProject(root, files, SEED);
  for (let at = 0; at < files / FILES_A_DEPENDENCY; at += 1)
    writeDependency(join(root, `node_modules/package-${at % 100}/file-${at}.js`), at);
  writeFileSync(join(root, ".gitignore"), "node_modules\n");
  return project.files;
}

const SEED = 15;

function writeDependency(path: string, at: number): void {
  const line = `export const value_${at} = ${at};\n`;
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, line.repeat(Math.ceil(DEPENDENCY_BYTES / line.length)));
}
