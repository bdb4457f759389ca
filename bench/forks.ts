/** Making a fork with its dependencies, against `git worktree add` and `cp -a` of the same dependencies. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
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
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, stdio: "ignore", timeout: 600_000 });
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "all");
  await using workspace = await openWorkspace(root, { home: join(place, "forking/home") });
  const [own, others]: [number[], number[]] = [[], []];
  let method: keyof typeof BUDGETS = "copy";
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    const { fork } = await workspace.forks.create(`round-${round}`);
    own.push(performance.now() - started);
    method = fork.method === "clone" ? "clone" : "copy";
    await workspace.forks.remove(fork.id, { now: true });
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

function worktree(root: string, target: string, git: (...words: string[]) => void): number {
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
