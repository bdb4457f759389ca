/** First, cold and unchanged capture, restore and list, each in turn with the shadow repository. */
import { findWorkspace } from "@belay/engine";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { Belay } from "./belay.ts";
import { measureCommands } from "./commands.ts";
import { measureLive } from "./live.ts";
import { median, mib, milliseconds, ms, type Row } from "./measure.ts";
import { changeFiles, createProject, type Project } from "./project.ts";
import { ShadowGit } from "./shadow-git.ts";

const CHANGED_FILES = 10;

export async function measureSpeed(
  place: string,
  files: number,
  rounds: number,
): Promise<{ rows: Row[]; captureMs: number }> {
  const project = createProject(join(place, `project-${files}`), files, files);
  const git = new ShadowGit(join(place, `shadow-${files}`), project.root);
  const belay = new Belay(join(place, `home-${files}`), project.root);
  // both have the files in the page cache
  execFileSync("sh", [
    "-c",
    `cat $(find '${project.root}' -type f | head -1) >/dev/null; tar cf - '${project.root}' 2>/dev/null | cat >/dev/null`,
  ]);
  const rows = [measureFirst(project, git, belay, rounds), ...measureCold(project, git, belay, rounds)];
  rows.push(...(await measureInProcess(project, git, belay, rounds)));
  const live = await measureLive(project, git, { home: belay.home, rounds });
  const commands = await measureCommands(project, git, { home: join(place, `resident-${files}`), rounds });
  return { rows: [...rows, ...live.rows, ...commands], captureMs: live.captureMs };
}

function row(facts: {
  work: string;
  files: number;
  belay: number;
  git: number;
  budget?: string;
  least?: number;
}): Row {
  const ratio = facts.git / facts.belay;
  return {
    work: facts.work,
    files: facts.files,
    belay: ms(facts.belay),
    git: ms(facts.git),
    ratio: `${ratio.toFixed(2)} ×`,
    budget: facts.budget ?? "",
    holds: facts.least === undefined ? undefined : ratio >= facts.least,
  };
}

function measureFirst(project: Project, git: ShadowGit, belay: Belay, rounds: number): Row {
  const times = Array.from({ length: Math.max(1, Math.min(rounds, 3)) }, () => {
    execFileSync("rm", ["-rf", belay.home]);
    const shadow = milliseconds(() => {
      git.create();
      git.checkpoint();
    });
    return { shadow, own: belay.run("init", "--no-agents", "--yes").ms };
  });
  const facts = {
    belay: median(times.map(({ own }) => own)),
    git: median(times.map(({ shadow }) => shadow)),
  };
  const budget = project.files.length >= 50_000 ? { budget: "≥ 5 ×", least: 5 } : {};
  return row({
    work: `first capture (${mib(project.bytes)})`,
    files: project.files.length,
    ...facts,
    ...budget,
  });
}

function measureCold(project: Project, git: ShadowGit, belay: Belay, rounds: number): Row[] {
  const times = Array.from({ length: rounds }, () => {
    changeFiles(project, CHANGED_FILES);
    waitOutFileClock();
    const shadow = milliseconds(() => git.checkpoint());
    const own = belay.run("checkpoint").ms;
    const unchanged = { shadow: milliseconds(() => git.checkpoint()), own: belay.run("checkpoint").ms };
    const floor = milliseconds(() =>
      execFileSync("find", [project.root, "-printf", "%s %T@ %C@ %i\n"], { maxBuffer: 1 << 28 }),
    );
    return { shadow, own, unchanged, floor };
  });
  const of = (pick: (time: (typeof times)[number]) => number) => median(times.map(pick));
  const files = project.files.length;
  const budget = files >= 50_000 ? { budget: "≥ 1 ×", least: 1 } : {};
  return [
    row({
      work: "cold capture, 10 changed, new process",
      files,
      belay: of(({ own }) => own),
      git: of(({ shadow }) => shadow),
      ...budget,
    }),
    row({
      work: "cold capture, nothing changed",
      files,
      belay: of(({ unchanged }) => unchanged.own),
      git: of(({ unchanged }) => unchanged.shadow),
    }),
    {
      work: "find -printf (the floor)",
      files,
      belay: "",
      git: ms(of(({ floor }) => floor)),
      ratio: "",
      budget: "",
      holds: undefined,
    },
  ];
}

/** Beyond the granularity of file times, so that nothing is racy. */
function waitOutFileClock(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}

async function measureInProcess(
  project: Project,
  git: ShadowGit,
  belay: Belay,
  rounds: number,
): Promise<Row[]> {
  const files = project.files.length;
  await using workspace = await findWorkspace(project.root, { home: belay.home });
  const times: { scan: number; restore: number; git: number; list: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { checkpoint } = await workspace.checkpoint();
    const commit = git.checkpoint();
    waitOutFileClock();
    const scan = (await workspace.checkpoint()).durationMs;
    changeFiles(project, CHANGED_FILES);
    waitOutFileClock();
    const shadow = milliseconds(() => {
      git.checkpoint();
      git.restore(commit);
    });
    await workspace.restoreTo(checkpoint.id);
    changeFiles(project, CHANGED_FILES);
    waitOutFileClock();
    const restore = (await workspace.restoreTo(checkpoint.id)).durationMs;
    while ((await workspace.list({ limit: 100 })).length < Math.min(100, rounds * 20))
      await workspace.checkpoint();
    const start = performance.now();
    await workspace.list({ limit: 100 });
    times.push({ scan, restore, git: shadow, list: performance.now() - start });
  }
  const of = (pick: (time: (typeof times)[number]) => number) => median(times.map(pick));
  const [scan, restore, list] = [
    of((time) => time.scan),
    of((time) => time.restore),
    of((time) => time.list),
  ];
  return [
    row({
      work: `restore of 10 files (a scan takes ${ms(scan)})`,
      files,
      belay: restore,
      git: of((time) => time.git),
    }),
    {
      work: "list 100 checkpoints, in process",
      files,
      belay: ms(list),
      git: "",
      ratio: "",
      budget: "≤ 20 ms",
      holds: list <= 20,
    },
  ];
}
