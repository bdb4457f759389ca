/** A file system with hardly any room, from none upwards: each command is done or refused, and all is well when there is room again. */
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  expectHonest,
  expectProtected,
  expectSound,
} from "../../packages/engine/test/support/fault-check.ts";
import { FaultLab, hasCompiler } from "../../packages/engine/test/support/fault-lab.ts";
import { carryOut, type Operation } from "../../packages/engine/test/support/fault-operations.ts";
import { buildFaultProject } from "../../packages/engine/test/support/fault-project.ts";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import { canMount, mountSmall, unmount } from "../../packages/engine/test/support/project.ts";
import { readTreeMap, type TreeMap } from "../../packages/engine/test/support/tree-map.ts";
import type { Round, Suite } from "../suite.ts";

const OPERATIONS: readonly (readonly [Operation, kept: string])[] = [
  ["open", "bare"],
  ["create", "start"],
  ["restore", "start"],
  ["undo", "turned"],
  ["redo", "undone"],
  ["approve", "start"],
  ["reset", "start"],
  ["prune", "start"],
  ["gc", "start"],
];
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
        for (const [operation, kept] of OPERATIONS) await squeeze(lab, { operation, kept, known }, round);
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
  // few pages more often than many: that is where it becomes tight
  const pages = Math.floor(MOST_PAGES ** (round.random.below(1000) / 999)) - 1;
  const filler = fill(join(lab.home, ".."), pages);
  const states = { found, before: found, after, known };
  const said = await carryOut(operation, lab, { forgotten: false });
  try {
    expectHonest(said, lab, states);
    rmSync(filler);
    if (operation === "open") await expectProtected(lab, states);
    else await expectSound(lab, states, { restore: true });
  } catch (error) {
    throw new Error(`${operation} with ${pages} pages free: ${JSON.stringify(said)}`, { cause: error });
  }
  round.count(`${operation} ${said.done ? "done" : "refused"}`);
}

/** Takes all room but so many pages. */
function fill(directory: string, pages: number): string {
  const filler = join(directory, "filler");
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - pages * PAGE_BYTES)));
  return filler;
}
