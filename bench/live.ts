/** Live capture and restore in a process that watches, each in turn with the shadow repository. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { LeastCapture } from "./live-floor.ts";
import { median, mib, milliseconds, ms, type Row } from "./measure.ts";
import { changeFiles, type Project } from "./project.ts";
import type { ShadowGit } from "./shadow-git.ts";

const SCRIPT = fileURLToPath(new URL("./live-process.ts", import.meta.url));
const CHANGED_FILES = 10;
const MOST_MS = 2.5;
const LEAST_RATIO = 60;
/** A process that watches takes hundreds of captures: the first ones, before its code is compiled, are not the rule. */
const LEAST_ROUNDS = 40;
const FIRST_ROUNDS = 10;
/** The resident process is started with the same (`cli/src/resident/resident-process.ts`). */
const RESIDENT_OPTIONS = ["--max-semi-space-size=4"];
const MOST_MEMORY = 200 * 1024 * 1024;

type Answer = Record<string, number> & { id: string; state: string };

/** The rows, and what a live capture took. */
export async function measureLive(
  project: Project,
  git: ShadowGit,
  options: { home: string; rounds: number },
): Promise<{ rows: Row[]; captureMs: number }> {
  using least = new LeastCapture(project.root, options.home, `${options.home}-least`);
  const child = spawn(process.execPath, [...RESIDENT_OPTIONS, SCRIPT, project.root, options.home], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (command: string): Promise<Answer> => {
    child.stdin.write(`${command}\n`);
    return JSON.parse((await answers.next()).value as string) as Answer;
  };
  const { scanMs } = await ask("start");
  const times: { own: number; least: number; git: number; restore: number }[] = [];
  for (let round = 0; round < Math.max(options.rounds, LEAST_ROUNDS); round += 1) {
    const { id } = await ask("checkpoint");
    const changed = changeFiles(project, CHANGED_FILES);
    waitOutFileClock();
    const shadow = milliseconds(() => git.checkpoint());
    const own = await ask("checkpoint");
    if (own.state !== "live") throw new Error("the process does not watch");
    waitOutFileClock();
    const bare = milliseconds(() => least.capture(changed));
    const { ms: restore } = await ask(`restore ${id}`);
    times.push({ own: own["ms"]!, least: bare, git: shadow, restore: restore! });
    waitOutFileClock();
  }
  const idle = await ask("idle");
  child.stdin.end();
  await once(child, "close");
  const of = (pick: (time: (typeof times)[number]) => number) => median(times.map(pick));
  const captureMs = of(({ own }) => own);
  const facts = {
    files: project.files.length,
    captureMs,
    gitMs: of((time) => time.git),
    scanMs: scanMs!,
    leastMs: of(({ least: bare }) => bare),
    firstMs: median(times.slice(0, FIRST_ROUNDS).map(({ own }) => own)),
  };
  return { captureMs, rows: rowsOf({ ...facts, restoreMs: of((time) => time.restore), idle }) };
}

function rowsOf(facts: {
  files: number;
  captureMs: number;
  gitMs: number;
  restoreMs: number;
  scanMs: number;
  leastMs: number;
  firstMs: number;
  idle: Answer;
}): Row[] {
  const { files, captureMs, gitMs, restoreMs, scanMs, leastMs, firstMs, idle } = facts;
  const isLarge = files >= 50_000;
  const ratio = gitMs / captureMs;
  const none = { files, git: "", ratio: "", budget: "", holds: undefined };
  return [
    {
      work: "live capture, 10 changed",
      files,
      belay: ms(captureMs),
      git: ms(gitMs),
      ratio: `${ratio.toFixed(1)} ×`,
      budget: isLarge ? `≤ ${MOST_MS} ms, ≥ ${LEAST_RATIO} ×` : "",
      holds: isLarge ? captureMs <= MOST_MS && ratio >= LEAST_RATIO : undefined,
    },
    { ...none, work: `the first ${FIRST_ROUNDS} of them in a new process`, belay: ms(firstMs) },
    {
      ...none,
      work: "the floor: names known, read, hash, pack, one commit",
      belay: ms(leastMs),
      ratio: `${(captureMs / leastMs).toFixed(2)} ×`,
    },
    {
      ...none,
      work: "restore of 10 files, live",
      belay: ms(restoreMs),
      budget: `≤ a full scan (${ms(scanMs)}) + 30 ms`,
      holds: restoreMs <= scanMs + 30,
    },
    {
      ...none,
      work: "memory of a process that watches, now (peak)",
      belay: `${mib(idle["residentBytes"]!)} (${mib(idle["peakBytes"]!)})`,
      budget: "≤ 200 MiB",
      holds: idle["residentBytes"]! <= MOST_MEMORY,
    },
    { ...none, work: "CPU of that process in an idle second", belay: ms(idle["cpuMs"]!) },
  ];
}

/** How much more the largest tree costs than the smallest. */
export function growthRow(captures: readonly { files: number; captureMs: number }[]): Row {
  const [first, last] = [captures[0]!, captures.at(-1)!];
  const growth = last.captureMs / first.captureMs;
  return {
    work: `growth of a live capture from ${first.files} files`,
    files: last.files,
    belay: `${growth.toFixed(2)} ×`,
    git: "",
    ratio: "",
    budget: "< 2 ×",
    holds: growth < 2,
  };
}

/** Beyond the granularity of file times, so that nothing is racy. */
function waitOutFileClock(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
