/**
 * A file system with hardly any room, from none upwards: each command is done or refused, and all is well
 * when there is room again. Every other time another process has the workspace open and watches it, as the
 * resident process does.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  expectHonest,
  expectProtected,
  expectSound,
} from "../../packages/engine/test/support/fault-check.ts";
import { FaultLab, hasCompiler } from "../../packages/engine/test/support/fault-lab.ts";
import { carryOut, type Operation, type Said } from "../../packages/engine/test/support/fault-operations.ts";
import { buildFaultProject } from "../../packages/engine/test/support/fault-project.ts";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import { canMount, mountSmall, unmount } from "../../packages/engine/test/support/project.ts";
import { processScript } from "../../packages/engine/test/support/temp-workspace.ts";
import { readTreeMap, type TreeMap } from "../../packages/engine/test/support/tree-map.ts";
import { openWorkspace } from "../../packages/engine/src/index.ts";
import type { Round, Suite } from "../suite.ts";
import { COMMON_SCENES } from "./faults.ts";

const OPERATIONS = [
  ...COMMON_SCENES,
  ["forget", "turned"],
  ["switch", "start"],
  ["merge", "start"],
  ["check", "start"],
  ["resolve", "start"],
] as const;
/** The self-test plays what its bug is in. */
const CHOSEN = OPERATIONS.filter(([operation]) =>
  [operation, "", undefined].includes(process.env["BELAY_TORTURE_SCENE"]),
);
/** What frees space or goes back, and may therefore use the reserve. */
const HAS_RESERVE: ReadonlySet<Operation> = new Set<Operation>([
  "restore",
  "undo",
  "redo",
  "reset",
  "prune",
  "gc",
  "forget",
]);
const RESERVE_BYTES = 4 * 1024 * 1024;
const PAGE_BYTES = 4096;
const SIZE = "32m";
/** Beyond this nothing is refused any more. */
const MOST_PAGES = 1500;

export const full: Suite = {
  name: "full",
  unit: "commands on a full disk",
  goal: 2_000,
  short: 60,
  missing: () => (canMount && hasCompiler ? undefined : "no file system can be mounted here"),
  async round(round) {
    const [small, elsewhere] = [makeDirectory("belay-full-"), makeDirectory("belay-kept-")];
    if (!mountSmall(small, SIZE)) throw new Error("cannot mount");
    try {
      const lab = new FaultLab(small, elsewhere);
      const known = await buildFaultProject(lab, round.random);
      while (!round.isOver)
        for (const [operation, kept] of CHOSEN) await squeeze(lab, { operation, kept, known }, round);
    } finally {
      unmount(small);
      for (const path of [small, elsewhere]) rmSync(path, { recursive: true, force: true });
    }
  },
};

interface Scene {
  readonly operation: Operation;
  readonly kept: string;
  readonly known: ReadonlyMap<string, TreeMap>;
}

async function squeeze(lab: FaultLab, { operation, kept, known }: Scene, round: Round): Promise<void> {
  lab.putBack(kept);
  await carryOut(operation, lab, { forgotten: false });
  const after = readTreeMap(lab.root);
  lab.putBack(kept);
  const found = readTreeMap(lab.root);
  const hasReserve = HAS_RESERVE.has(operation) && round.random.below(2) === 0;
  if (hasReserve) setReserveAside(lab);
  const beside = operation !== "open" && round.random.below(2) === 0 ? await startBeside(lab) : undefined;
  // few pages more often than many: that is where it gets tight
  const pages = Math.floor(MOST_PAGES ** (round.random.below(1000) / 999)) - 1;
  const filler = fill(join(lab.home, ".."), pages);
  const states = { found, before: found, after, known };
  const said = await carryOut(operation, lab, { forgotten: false });
  try {
    expectHonest(said, lab, states);
    // [R162]
    if (hasReserve) assert.ok(said.done, "there was a reserve for this");
    beside?.kill("SIGKILL");
    rmSync(filler);
    if (operation === "forget") await expectForgotten(lab, said);
    else if (operation === "open") await expectProtected(lab, states);
    else await expectSound(lab, states, { restore: true });
  } catch (error) {
    throw new Error(`${operation} with ${pages} pages free: ${JSON.stringify(said)}`, { cause: error });
  }
  round.count(`${operation} ${said.done ? "done" : "refused"}`);
}

/** The laboratory's reserve has no content: this one takes room. */
function setReserveAside({ home }: FaultLab): void {
  const workspaces = join(home, "workspaces");
  for (const store of readdirSync(workspaces))
    writeFileSync(join(workspaces, store, "reserve"), Buffer.alloc(RESERVE_BYTES, 1));
}

/** A process that has the workspace open and watches it. */
async function startBeside(lab: FaultLab): Promise<ChildProcess> {
  const script =
    'await workspace.watch(); process.stdout.write("ready"); await new Promise((r) => setTimeout(r, 1e9));';
  const child = spawn(process.execPath, processScript(lab, script), { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

/**
 * [R164] Checks what was reported: forgotten, not forgotten, or forgotten and still to be overwritten by gc.
 */
async function expectForgotten({ root, home }: FaultLab, said: Said): Promise<void> {
  await using workspace = await openWorkspace(root, { home });
  const code = said.done ? "" : said.code;
  const gone = said.done || code === "PURGE_UNFINISHED" || code === "CHECKPOINT_NOT_FOUND";
  assert.equal(await isInAnyCheckpoint(workspace), !gone);
  if (code === "PURGE_UNFINISHED") await workspace.upkeep.gc();
  assert.deepEqual((await workspace.status()).warnings, []);
  assert.deepEqual((await workspace.upkeep.verify({ full: true })).problems, []);
}

async function isInAnyCheckpoint(workspace: Awaited<ReturnType<typeof openWorkspace>>): Promise<boolean> {
  for (const { id } of await workspace.list())
    for await (const { path } of workspace.files(id))
      if (path === "edited" || path.startsWith("edited/")) return true;
  return false;
}

/** Takes all room except this many pages. */
function fill(directory: string, pages: number): string {
  const filler = join(directory, "filler");
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - pages * PAGE_BYTES)));
  return filler;
}
