/**
 * Stores with names that lead elsewhere, and directories swapped for links during captures and restores, and while forks
 * are made and removed: nothing outside is written, removed, or read into a fork.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EngineError, openWorkspace, type Workspace } from "../../packages/engine/src/index.ts";
import { expectVerified } from "../../packages/engine/test/support/fault-check.ts";
import { FORGERIES, forgeStore } from "../../packages/engine/test/support/forged-store.ts";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import type { SeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import { readTreeMap, type TreeMap } from "../../packages/engine/test/support/tree-map.ts";
import type { Round, Suite } from "../suite.ts";

const RESTORES_A_ROUND = 60;
const FORKS_A_ROUND = 30;

export const paths: Suite = {
  name: "paths",
  unit: "attempts to write outside",
  goal: 4_000,
  short: 60,
  async round(round) {
    await inTrap((trap) => restoreUnderSwaps(trap, round));
    await inTrap((trap) => forkUnderSwaps(trap, round));
    const first = round.random.below(FORGERIES.length);
    for (const forgery of [...FORGERIES.slice(first), ...FORGERIES.slice(0, first)]) {
      if (round.isOver) return;
      await inTrap((trap) => expectHarmless(trap, forgery, round));
    }
  },
};

/** What only files outside hold. */
const PRECIOUS = "precious";

/** A workspace surrounded by what must not be touched. */
interface Trap {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  readonly outside: string;
}

async function inTrap(body: (trap: Trap) => Promise<void>): Promise<void> {
  const base = makeDirectory("belay-paths-");
  const trap = { base, root: join(base, "root"), home: join(base, "home"), outside: join(base, "outside") };
  try {
    for (const path of [join(trap.root, "d/e"), join(trap.root, ".git"), trap.outside])
      mkdirSync(path, { recursive: true });
    for (const path of ["d/e/file", "d/file", ".git/config", "same"])
      writeFileSync(join(trap.root, path), "1\n");
    for (const path of ["file", "precious", "n0", "o1"]) writeFileSync(join(trap.outside, path), PRECIOUS);
    await body(trap);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** What is outside the workspace, and what is in `.git`. */
function watched({ outside, root, base }: Trap): TreeMap[] {
  return [
    readTreeMap(outside),
    readTreeMap(join(root, ".git")),
    new Map(readdirSync(base).map((name) => [name, ""])),
  ];
}

async function expectHarmless(trap: Trap, forgery: (typeof FORGERIES)[number], round: Round): Promise<void> {
  await forgeStore(trap, forgery);
  const before = watched(trap);
  const attempts: ((workspace: Workspace) => Promise<unknown>)[] = [
    (workspace) => workspace.restoreTo("2"),
    (workspace) => workspace.restoreTo("2", { bestEffort: true }),
    (workspace) => workspace.undo(),
    (workspace) => workspace.revert("2"),
    (workspace) => workspace.restoreTo("1"),
  ];
  for (const attempt of attempts) {
    await quietly(async () => {
      await using workspace = await openWorkspace(trap.root, { home: trap.home });
      await attempt(workspace);
    });
    assert.deepEqual(watched(trap), before, forgery.name);
    for (const [path, node] of readTreeMap(trap.root, { specialBits: true }))
      assert.doesNotMatch(
        node,
        /^(?:file|directory) [1-7]\d{3} /,
        `${forgery.name}: ${path} has a special bit`,
      );
  }
  round.count("forged stores", attempts.length);
}

/** Refusals are expected. */
async function quietly(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

async function restoreUnderSwaps(trap: Trap, round: Round): Promise<void> {
  const workspace = await openWorkspace(trap.root, trap);
  for (const path of ["d/e/file", "d/file", "d/e/new", "d/new"]) writeFileSync(join(trap.root, path), "2\n");
  await workspace.checkpoint({ name: "two" });
  const before = watched(trap);
  // not both in every round: on few processors they leave little time to each other
  const script = round.random.below(2) === 0 ? SWAPPER : STAGE_SWAPPER;
  const swapper = spawn(process.execPath, ["-e", script, trap.root, trap.outside], { stdio: "ignore" });
  try {
    const restores = Math.min(RESTORES_A_ROUND, round.left / 3);
    for (let number = 0; number < restores && !round.isOver; number += 1) {
      await quietly(() => restore(workspace, round.random, number));
      assert.deepEqual(watched(trap), before);
      round.count("restores among swapped directories");
    }
  } finally {
    swapper.kill("SIGKILL");
    await sleep(20);
    await workspace.close();
  }
  await openWorkspace(trap.root, trap).then(expectVerifiedAndClose, ignoreBlocked);
}

async function restore(workspace: Workspace, random: SeededRandom, number: number): Promise<void> {
  await workspace.restoreTo(number % 2 === 0 ? "1" : "two", { bestEffort: random.below(2) === 0 });
}

async function expectVerifiedAndClose(workspace: Workspace): Promise<void> {
  await expectVerified(workspace);
  await workspace.close();
}

/** A swap during a killed restore can block its recovery, which says so. */
function ignoreBlocked(error: unknown): void {
  if (!(error instanceof EngineError)) throw error;
}

/** [R1951] Directories of the original and of its forks are swapped while forks are made and removed. */
async function forkUnderSwaps(trap: Trap, round: Round): Promise<void> {
  const { root, base, outside } = trap;
  mkdirSync(join(root, "node_modules/x/y"), { recursive: true });
  for (const path of ["node_modules/x/file", "node_modules/x/y/file", "node_modules/file"])
    writeFileSync(join(root, path), "1\n");
  const workspace = await openWorkspace(root, trap);
  const before = readTreeMap(outside);
  const swapper = spawn(process.execPath, ["-e", FORK_SWAPPER, base, outside], { stdio: "ignore" });
  try {
    const forks = Math.min(FORKS_A_ROUND, round.left / 3);
    for (let number = 0; number < forks && !round.isOver; number += 1) {
      await quietly(() => forkAndRemove(workspace, swapper, `f${number}`));
      assert.deepEqual(readTreeMap(outside), before);
      round.count("forks among swapped directories");
    }
  } finally {
    swapper.kill("SIGKILL");
    await sleep(20);
    await workspace.close();
  }
  await openWorkspace(root, trap).then(expectVerifiedAndClose, ignoreBlocked);
}

async function forkAndRemove(workspace: Workspace, swapper: ChildProcess, name: string): Promise<void> {
  const { path } = await workspace.fork(name);
  // looking from here would be led astray too
  swapper.kill("SIGSTOP");
  try {
    while (!isStopped(swapper)) await sleep(1);
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) expectNothingOfOutside(path);
  } finally {
    swapper.kill("SIGCONT");
  }
  await workspace.removeFork(name, { now: true, despiteGaps: true });
}

/** A signal takes a moment to arrive. */
function isStopped({ pid }: ChildProcess): boolean {
  return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") T ");
}

function expectNothingOfOutside(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) expectNothingOfOutside(path);
    else if (entry.isFile()) assert.notEqual(readFileSync(path, "utf8"), PRECIOUS, `${path} is from outside`);
  }
}

/** Swaps directories for links that lead outside, and back, as fast as it can. */
const SWAPPER = `
  const fs = require("node:fs");
  const [root, outside] = process.argv.slice(1);
  const attempt = (work) => { try { work(); } catch {} };
  for (;;) for (const name of ["d", "d/e"]) {
    const [path, away] = [root + "/" + name, root + "/away-" + name.length];
    attempt(() => fs.renameSync(path, away));
    attempt(() => fs.symlinkSync(outside, path));
    attempt(() => { if (fs.lstatSync(path).isSymbolicLink()) fs.unlinkSync(path); });
    attempt(() => fs.renameSync(away, path));
  }`;

/** The same with the stage, for long enough that a restore goes on meanwhile. */
const STAGE_SWAPPER = `
  const fs = require("node:fs");
  const [root, outside] = process.argv.slice(1);
  const attempt = (work) => { try { work(); } catch {} };
  for (;;) {
    const name = fs.readdirSync(root).find((each) => /^.belay-stage-[k-z]{16}$/.test(each));
    if (name === undefined) continue;
    const [stage, away] = [root + "/" + name, root + "/.belay-stage-away"];
    attempt(() => fs.renameSync(stage, away));
    attempt(() => fs.symlinkSync(outside, stage));
    for (let i = 0; i < 2000; i += 1) attempt(() => fs.lstatSync(stage));
    attempt(() => { if (fs.lstatSync(stage).isSymbolicLink()) fs.unlinkSync(stage); });
    attempt(() => fs.renameSync(away, stage));
  }`;

/** The same with directories of the original, of forks that are being made or removed, and now and then with a whole fork. */
const FORK_SWAPPER = `
  const fs = require("node:fs");
  const [base, outside] = process.argv.slice(1);
  const attempt = (work) => { try { return work(); } catch {} };
  const place = base + "/.belay-forks/root";
  const below = (path) => (attempt(() => fs.readdirSync(path)) ?? []).map((name) => path + "/" + name);
  for (let turn = 0; ; turn += 1) {
    const forks = [...below(place), ...below(place + "/.trash")].filter((path) => !path.endsWith("/.trash"));
    const names = ["/d", "/d/e", "/node_modules/x", "/node_modules", "/.git", ...(turn % 8 === 0 ? [""] : [])];
    const all = forks.flatMap((fork) => names.map((name) => fork + name));
    for (const path of [...names.slice(0, 3).map((name) => base + "/root" + name), ...all]) {
      const away = base + "/away";
      if (attempt(() => fs.lstatSync(path).isDirectory()) !== true) continue;
      attempt(() => fs.renameSync(path, away));
      attempt(() => fs.symlinkSync(outside, path));
      for (let i = 0; i < 100; i += 1) attempt(() => fs.lstatSync(path));
      attempt(() => { if (fs.lstatSync(path).isSymbolicLink()) fs.unlinkSync(path); });
      attempt(() => fs.renameSync(away, path));
      attempt(() => fs.rmSync(away, { recursive: true }));
    }
  }`;
