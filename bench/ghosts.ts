/** A ghost of a working copy, as a turn makes one: Belay's against `add -A` with an index of its own, in the same repository. */
import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { median, milliseconds, ms, type Row } from "./measure.ts";
import { createProject, type Project } from "./project.ts";

const CHANGED = 10;
const MOST = 0.3;

/** Captures and commits ten changed files, over and over; each side once a round, on the same changes. */
export async function measureGhosts(place: string, files: number, rounds: number): Promise<Row> {
  const project = createProject(join(place, "ghosts"), files, 11);
  const git = gitIn(project.root);
  const aside = gitIn(project.root, { GIT_INDEX_FILE: join(place, "ghost-index") });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "all");
  await using workspace = await openWorkspace(project.root, { home: join(place, "ghost-home") });
  await workspace.watch();
  await workspace.ghost();
  addAll(aside);
  const own: number[] = [];
  const shadow: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    changeSome(project, round);
    const start = performance.now();
    await workspace.ghost();
    own.push(performance.now() - start);
    shadow.push(milliseconds(() => addAll(aside)));
  }
  rmSync(project.root, { recursive: true, force: true });
  const [belay, other] = [median(own), median(shadow)];
  return {
    work: `ghost of ${CHANGED} changed files, live`,
    files,
    belay: ms(belay),
    git: ms(other),
    ratio: `${(other / belay).toFixed(2)} ×`,
    budget: `≤ ${MOST} × git's time`,
    holds: belay <= MOST * other,
  };
}

type Git = (...args: string[]) => string;

/** The user's index stays as it is: `add -A` has one of its own, and keeps it. */
function gitIn(root: string, env: NodeJS.ProcessEnv = {}): Git {
  const settings = ["-c", "user.name=b", "-c", "user.email=b@b", "-c", "commit.gpgsign=false"];
  return (...args) =>
    execFileSync("git", [...settings, ...args], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      env: { ...process.env, ...env },
    }).trim();
}

/** The same commit, the usual way. */
function addAll(git: Git): void {
  git("add", "-A");
  const commit = git("commit-tree", git("write-tree"), "-p", "HEAD", "-m", "ghost");
  git("update-ref", "refs/ghost", commit);
}

function changeSome({ files, random }: Project, round: number): void {
  for (let changed = 0; changed < CHANGED; changed += 1)
    appendFileSync(files[random.below(files.length)]!, `// ${round}\n`);
}
