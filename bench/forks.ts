/** Making a fork with its dependencies, against `git worktree add` and `cp -a` of the same dependencies. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openWorkspace, writeSetting } from "@belay/engine";
import { median, ms, type Row } from "./measure.ts";

/** Times may be this many times those of git and cp: where copies share blocks, and elsewhere. */
const BUDGETS = { clone: 0.6, copy: 1.2 };
const FILE_BYTES = 7_000;
/** For so many files of the project there is one of a dependency, which is larger. */
const FILES_A_DEPENDENCY = 7;
const DEPENDENCY_BYTES = 49_000;

/** Measures both in turn, so that a busy machine is busy for both. */
export async function measureForks(place: string, files: number, rounds: number): Promise<Row> {
  const root = join(place, "forking/project");
  writeProject(root, files);
  const git = gitIn(root);
  await using workspace = await openWorkspace(root, { home: join(place, "forking/home") });
  const [own, others]: [number[], number[]] = [[], []];
  let method: keyof typeof BUDGETS = "copy";
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    const fork = await workspace.fork(`round-${round}`);
    own.push(performance.now() - started);
    method = fork.method === "clone" ? "clone" : "copy";
    await workspace.removeFork(fork.id, { now: true });
    others.push(worktree(root, join(place, "forking/worktree"), git));
  }
  rmSync(join(place, "forking"), { recursive: true });
  const [time, other] = [median(own), median(others)];
  return {
    work: `a fork with its dependencies (${method}), against git worktree add + cp -a`,
    files,
    belay: ms(time),
    git: ms(other),
    ratio: (time / other).toFixed(2),
    budget: `≤ ${BUDGETS[method]} ×`,
    holds: time / other <= BUDGETS[method],
  };
}

/** A spare fork has to be so many times faster than `git worktree add`. */
const SPARE_RATIO = 5;
const DIFFERENT_FILES = 100;

/** Forks of files only, each of which takes over a spare one of which some files differ, against `git worktree add`. */
export async function measureSpareForks(place: string, files: number, rounds: number): Promise<Row[]> {
  const [root, home] = [join(place, "sparing/project"), join(place, "sparing/home")];
  writeProject(root, files);
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
    for (let at = 0; at < Math.min(files, DIFFERENT_FILES); at += 1)
      write(root, `src/${at % 250}/file-${at}.ts`, FILE_BYTES, round + 1 + at);
    await pause(AT_REST_MS);
    const [started, before] = [performance.now(), process.cpuUsage()];
    const fork = await workspace.fork(`round-${round}`, wanted);
    const { user, system } = process.cpuUsage(before);
    const own = { time: performance.now() - started, cpu: (user + system) / 1000 };
    if (fork.method !== "spare") throw new Error(`the fork was made by ${fork.method}`);
    await pause(AT_REST_MS);
    await workspace.removeFork(fork.id);
    times.push({ own, git: worktreeCost(root, join(place, "sparing/worktree"), git) });
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

/** In milliseconds. */
interface Cost {
  readonly time: number;
  readonly cpu: number;
}

/** A shell tells what the programs it started took. */
function worktreeCost(root: string, target: string, git: Git): Cost {
  const started = performance.now();
  const script = 'git worktree add -q --detach "$0" >&2 && sync -f "$0" && times';
  const printed = execFileSync("sh", ["-c", script, target], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 600_000,
  });
  const time = performance.now() - started;
  git("worktree", "remove", "--force", target);
  const [, children = ""] = printed.split("\n");
  const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
  return { time, cpu };
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

function worktree(root: string, target: string, git: Git): number {
  const started = performance.now();
  git("worktree", "add", "-q", "--detach", target);
  execFileSync("cp", ["-a", join(root, "node_modules"), join(target, "node_modules")], { timeout: 600_000 });
  // a fork is on the disk when it is ready
  execFileSync("sync", ["-f", target], { timeout: 600_000 });
  const time = performance.now() - started;
  git("worktree", "remove", "--force", target);
  return time;
}

function writeProject(root: string, files: number): void {
  for (let at = 0; at < files; at += 1) write(root, `src/${at % 250}/file-${at}.ts`, FILE_BYTES, at);
  for (let at = 0; at < files / FILES_A_DEPENDENCY; at += 1)
    write(root, `node_modules/package-${at % 100}/file-${at}.js`, DEPENDENCY_BYTES, at);
  writeFileSync(join(root, ".gitignore"), "node_modules\n");
}

function write(root: string, path: string, bytes: number, seed: number): void {
  const line = `export const value_${seed} = ${seed};\n`;
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), line.repeat(Math.ceil(bytes / line.length)));
}
