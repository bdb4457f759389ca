/**
 * The programs of the model, in two working copies of one store at once: each has its own model, and must be exactly as if
 * the other were not there. Only pruning is about both.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Command } from "../../packages/engine/test/support/model-command.ts";
import { MODEL_COMMANDS } from "../../packages/engine/test/support/model-commands.ts";
import { inWorkspace, type TempWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import { readCheckpointMap, WorkspaceModel } from "../../packages/engine/test/support/workspace-model.ts";
import type { Suite } from "../suite.ts";
import { runPrograms } from "./programs.ts";

/** One command in one of the two working copies. */
interface Move {
  readonly inFork: boolean;
  readonly command: Command;
  toString(): string;
}

const MOVE = fc
  .record({ inFork: fc.boolean(), command: fc.oneof(...MODEL_COMMANDS) })
  .map((move: Move): Move => ({
    ...move,
    toString: () => ` ${move.inFork ? "fork" : "root"}${String(move.command)}`,
  }));
const PROGRAM = fc.array(MOVE, { minLength: 30, maxLength: 44, size: "max" });
const PROGRAMS_A_ROUND = 40;
/** So many commands come before the fork: they are on its line, and not its own. */
const BEFORE_FORK = 8;

export const copies: Suite = {
  name: "copies",
  unit: "programs of 30 commands or more in two working copies",
  goal: 50_000,
  short: 15,
  async round(round) {
    const programs = fc.sample(PROGRAM, { seed: round.random.seed, numRuns: PROGRAMS_A_ROUND });
    await runPrograms(round, programs, runProgram);
  },
};

interface Copy {
  readonly temp: TempWorkspace;
  readonly known: WorkspaceModel;
}

async function runProgram(program: readonly Move[]): Promise<void> {
  await inWorkspace({}, async (temp) => {
    const root: Copy = { temp, known: new WorkspaceModel() };
    root.known.snapshots.set((await temp.workspace.list())[0]!.id, temp.tree());
    for (const { command } of program.slice(0, BEFORE_FORK)) await command.run(root.known, temp);
    const fork = await forkOff(root);
    for (const { inFork, command } of program.slice(BEFORE_FORK)) {
      const [here, there] = inFork ? [fork, root] : [root, fork];
      await runIn(here, there, command);
    }
    for (const { temp: each, known } of [root, fork])
      for (const [id, tree] of known.snapshots) assert.deepEqual(await readCheckpointMap(each, id), tree);
  })();
}

/** The fork has the checkpoints that the root had, and none of its steps. */
async function forkOff({ temp, known }: Copy): Promise<Copy> {
  const fork = { temp: await temp.fork("fork"), known: new WorkspaceModel(known) };
  const [newest] = await temp.workspace.list({ limit: 1 });
  known.snapshots.set(newest!.id, temp.tree());
  for (const [id, tree] of known.snapshots) fork.known.snapshots.set(id, tree);
  fork.known.isIgnoring = known.isIgnoring;
  return fork;
}

async function runIn(here: Copy, there: Copy, command: Command): Promise<void> {
  const before = there.temp.tree();
  await command.run(here.known, here.temp);
  assert.deepEqual(there.temp.tree(), before, "the other working copy changed");
  if (!String(command).startsWith("\nprune")) return;
  const listed = await there.temp.workspace.list();
  there.known.keepOnly(new Set(listed.map(({ id }) => id)));
}
