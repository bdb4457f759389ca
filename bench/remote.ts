/**
 * Belay's remotes against restic: the same tree, the same S3 server, the same run, in turns. A server is started for it, in
 * memory. Ratios are what counts: both share the machine with the server.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { missingCeph, startCeph, type TestServer } from "../packages/remote/test/support/ceph-server.ts";
import { createBucket } from "../packages/remote/test/support/create-bucket.ts";
import { Belay } from "./belay.ts";
import { median, mib, ms, type Row } from "./measure.ts";
import { changeFiles, createProject, type Project } from "./project.ts";

/** What was measured in one round. */
interface Round {
  readonly push: number;
  readonly capture: number;
  readonly clone: number;
  readonly next: number;
  readonly pushBytes: number;
  readonly nextBytes: number;
  readonly nextRequests: number;
  readonly changedBytes: number;
}

interface ResticRound {
  readonly push: number;
  readonly clone: number;
  readonly next: number;
}

const BUCKET = "bench";
const CHANGED = 10;
const MOST_MEMORY = 200 * 1024 * 1024;

/** Measures push, clone, the next push, and memory. */
export async function measureRemote(place: string, sizes: readonly number[], rounds: number): Promise<Row[]> {
  const missing = missingCeph();
  if (missing !== undefined) throw new Error(`There is no server to measure with: ${missing}`);
  if (!hasRestic())
    console.error("restic is not installed: there is nothing to compare with. apt-get install restic");
  const server = await startCeph();
  try {
    await createBucket(server, BUCKET);
    process.env["AWS_ACCESS_KEY_ID"] = server.access.accessKeyId;
    process.env["AWS_SECRET_ACCESS_KEY"] = server.access.secretAccessKey;
    process.env["RESTIC_PASSWORD"] = "bench";
    return sizes.flatMap((files) => measureSize({ place, files, rounds, server }));
  } finally {
    await server.stop();
  }
}

interface Bench {
  readonly place: string;
  readonly files: number;
  readonly rounds: number;
  readonly server: TestServer;
}

function measureSize({ place, files, rounds, server }: Bench): Row[] {
  const project = createProject(join(place, `remote-${files}`), files, 11);
  const ours: Round[] = [];
  const theirs: ResticRound[] = [];
  const target = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : place, "belay-bench-"));
  try {
    for (let n = 0; n < rounds; n += 1) {
      console.error(`${files} files, round ${n + 1} …`);
      const round = { project, server, place: join(place, `round-${n}`), target: join(target, "clone"), n };
      // in turns: what the machine does besides meets both
      const [a, b] = n % 2 === 0 ? [runBelay, runRestic] : [runRestic, runBelay];
      for (const run of [a, b]) {
        rmSync(round.target, { recursive: true, force: true });
        if (run === runBelay) ours.push(runBelay(round));
        else if (hasRestic()) theirs.push(runRestic(round));
      }
    }
    const memory = measureMemory({
      project,
      server,
      place: join(place, "memory"),
      target: join(target, "m"),
      n: 0,
    });
    return [...compare(files, ours, theirs), ...memoryRows(files, memory)];
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

interface Place {
  readonly project: Project;
  readonly server: TestServer;
  readonly place: string;
  readonly target: string;
  readonly n: number;
}

function runBelay({ project, server, place, target, n }: Place): Round {
  const belay = new Belay(join(place, "home"), project.root);
  const { ms: capture } = belay.run("init", "--no-agents", "--yes");
  addRemote(belay, `s3://${BUCKET}/belay-${project.files.length}-${n}?endpoint=${server.endpoint}`, place);
  // the look for secrets before the first push has a row of its own
  const pushed = belay.run("push", "--yes");
  const clone = belay.run("clone", "team", target).ms;
  const changed = changeFiles(project, CHANGED);
  belay.run("checkpoint");
  const next = belay.run("push");
  const round = {
    capture,
    push: pushed.ms,
    clone,
    next: next.ms,
    pushBytes: Number(pushed.json["bytes"]),
    nextBytes: Number(next.json["bytes"]),
    nextRequests: Number(next.json["requests"]),
    changedBytes: changed.reduce((sum, file) => sum + statSync(file).size, 0),
  };
  belay.run("uninstall", "--purge", "--yes");
  return round;
}

function addRemote(belay: Belay, url: string, place: string): void {
  mkdirSync(place, { recursive: true });
  belay.run("remote", "add", "team", url, "--recovery-file", join(place, "key.txt"));
}

/** Its cache is there for the second backup, as for its users; a restore elsewhere begins without one. */
function runRestic({ project, server, place, target, n }: Place): ResticRound {
  const repository = `s3:${server.endpoint}/${BUCKET}/restic-${project.files.length}-${n}`;
  const cached = ["-r", repository, "--cache-dir", join(place, "restic")];
  restic(...cached, "init");
  const push = restic(...cached, "backup", project.root);
  const fresh = ["-r", repository, "--cache-dir", join(place, "restic-elsewhere")];
  const clone = restic(...fresh, "restore", "latest", "--target", target);
  changeFiles(project, CHANGED);
  return { push, clone, next: restic(...cached, "backup", project.root) };
}

function restic(...words: string[]): number {
  const start = performance.now();
  const { status, stderr } = spawnSync("restic", ["-q", ...words], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`restic ${words.join(" ")}: exit ${status}\n${stderr}`);
  return performance.now() - start;
}

function hasRestic(): boolean {
  return spawnSync("restic", ["version"], { stdio: "ignore" }).error === undefined;
}

interface Peaks {
  readonly push: number;
  readonly clone: number;
  /** How long a first push takes that looks for secrets. */
  readonly lookMs: number;
}

function measureMemory({ project, server, place, target }: Place): Peaks {
  const belay = new Belay(join(place, "home"), project.root);
  belay.run("init", "--no-agents", "--yes");
  addRemote(belay, `s3://${BUCKET}/memory-${project.files.length}?endpoint=${server.endpoint}`, place);
  const started = performance.now();
  const push = belay.peakMemory(join(place, "peak"), "push");
  const lookMs = performance.now() - started;
  const clone = belay.peakMemory(join(place, "peak"), "clone", "team", target);
  belay.run("uninstall", "--purge", "--yes");
  return { push, clone, lookMs };
}

function compare(files: number, ours: readonly Round[], theirs: readonly ResticRound[]): Row[] {
  const of = <Key extends keyof Round>(key: Key) => median(ours.map((round) => round[key]));
  const resticOf = (key: keyof ResticRound) => median(theirs.map((round) => round[key]));
  const row = (work: string, own: number, [other, least]: readonly [number, number]): Row => ({
    work,
    files,
    belay: ms(own),
    git: Number.isNaN(other) ? "not installed" : ms(other),
    ratio: Number.isNaN(other) ? "" : `${(other / own).toFixed(1)} ×`,
    budget: `≥ ${least} ×`,
    holds: Number.isNaN(other) ? undefined : other / own >= least,
  });
  const both = median(ours.map(({ capture, push }) => capture + push));
  return [
    row("push of a captured store", of("push"), [resticOf("push"), 1.5]),
    row("capture and push", both, [resticOf("push"), 1]),
    row("clone, durable", of("clone"), [resticOf("clone"), 1]),
    row(`push after ${CHANGED} changed files`, of("next"), [resticOf("next"), 1]),
    {
      work: `bytes of that push, for ${mib(of("changedBytes"))} of changed files`,
      files,
      belay: mib(of("nextBytes")),
      git: "",
      ratio: `${of("nextRequests")} requests`,
      budget: "≤ what changed + 0.1 MiB, 2 requests",
      holds: of("nextBytes") <= of("changedBytes") + 100 * 1024 && of("nextRequests") === 2,
    },
    {
      work: "bytes of the first push",
      files,
      belay: mib(of("pushBytes")),
      git: "",
      ratio: "",
      budget: "",
      holds: undefined,
    },
  ];
}

function memoryRows(files: number, { push, clone, lookMs }: Peaks): Row[] {
  const peaks = [["memory of a push", push] as const, ["memory of a clone", clone] as const];
  const rows = peaks.map(([work, peak]) => ({
    work,
    files,
    belay: mib(peak),
    git: "",
    ratio: "",
    budget: "≤ 200 MiB",
    holds: peak <= MOST_MEMORY,
  }));
  const look = { belay: ms(lookMs), git: "", ratio: "", budget: "", holds: undefined };
  return [...rows, { work: "first push, which looks for secrets", files, ...look }];
}
