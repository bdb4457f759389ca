/**
 * Commands as people meet them, launcher and resident process included: what the start of a command costs beside Node's
 * own, a capture through the resident process, and the first commands in a new workspace, one by one.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Belay } from "./belay.ts";
import { median, milliseconds, ms, type Row } from "./measure.ts";
import { changeFiles, type Project } from "./project.ts";
import type { ShadowGit } from "./shadow-git.ts";

const CHANGED_FILES = 10;
/** A command may take so many times as long as `node -e 0`. */
const MOST_NODES = 1.6;
const STARTED = [["--version"], ["list", "--limit", "20"], ["status"], ["checkpoint"]];
/** The first commands of a new user, one right after the other. */
const FIRST_COMMANDS = [["list"], ["status"], ["checkpoint"], ["checkpoint"], ["checkpoint"]];
const OPENED_MS = 60_000;

export async function measureCommands(
  project: Project,
  git: ShadowGit,
  { home, rounds }: { home: string; rounds: number },
): Promise<Row[]> {
  const belay = new Belay(home, project.root, { resident: true });
  try {
    const first = measureFirstCommands(project, belay, rounds);
    await untilWatched(belay);
    return [
      ...first,
      ...measureStart(project, belay, rounds),
      measureCapture(project, git, { belay, rounds }),
    ];
  } finally {
    belay.run("stop");
  }
}

/** Each command in turn with Node alone, so that a busy machine slows both. */
function measureStart(project: Project, belay: Belay, rounds: number): Row[] {
  const times = Array.from({ length: Math.max(rounds, 5) * 3 }, () => ({
    node: milliseconds(() => spawnSync(process.execPath, ["-e", "0"])),
    own: STARTED.map((command) => belay.time(...command)),
  }));
  const node = median(times.map((time) => time.node));
  return STARTED.map(([verb], index) => {
    const own = median(times.map((time) => time.own[index]!));
    return {
      work: `belay ${verb}, beside node -e 0`,
      files: project.files.length,
      belay: ms(own),
      git: `node ${ms(node)}`,
      ratio: `${(own / node).toFixed(2)} ×`,
      budget: `≤ ${MOST_NODES} ×`,
      holds: own / node <= MOST_NODES,
    };
  });
}

function measureCapture(
  project: Project,
  git: ShadowGit,
  { belay, rounds }: { belay: Belay; rounds: number },
): Row {
  const times = Array.from({ length: Math.max(rounds, 5) }, () => {
    changeFiles(project, CHANGED_FILES);
    waitOutFileClock();
    return { git: milliseconds(() => git.checkpoint()), own: belay.time("checkpoint") };
  });
  const [own, shadow] = [median(times.map((time) => time.own)), median(times.map((time) => time.git))];
  return {
    work: "live capture, 10 changed, belay checkpoint",
    files: project.files.length,
    belay: ms(own),
    git: ms(shadow),
    ratio: `${(shadow / own).toFixed(2)} ×`,
    budget: "",
    holds: undefined,
  };
}

function measureFirstCommands(project: Project, belay: Belay, rounds: number): Row[] {
  const times = Array.from({ length: Math.max(1, Math.min(rounds, 3)) }, () => {
    if (belay.run("stop").json["running"] !== false) throw new Error("the resident process does not end");
    rmSync(belay.home, { recursive: true, force: true });
    belay.run("init", "--no-agents", "--yes");
    return FIRST_COMMANDS.map((command) => {
      if (command[0] === "checkpoint") changeFiles(project, CHANGED_FILES);
      return belay.time(...command);
    });
  });
  return FIRST_COMMANDS.map(([verb], index) => ({
    work: `command ${index + 1} after init: belay ${verb}`,
    files: project.files.length,
    belay: ms(median(times.map((time) => time[index]!))),
    git: "",
    ratio: "",
    budget: "",
    holds: undefined,
  }));
}

/** Until the resident process has opened the workspace: from then on it runs the commands. */
async function untilWatched(belay: Belay): Promise<void> {
  for (let waited = 0; waited < OPENED_MS; waited += 100) {
    const { resident } = belay.run("status").json as { resident: { watching: boolean } };
    if (resident.watching) return;
    await pause(100);
  }
  throw new Error("the resident process does not watch");
}

/** Beyond the granularity of file times, so that nothing is racy. */
function waitOutFileClock(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
