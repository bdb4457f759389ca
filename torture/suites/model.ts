/**
 * Random programs of edits, checkpoints, restores, undos … against a plain model; a failing one is shortened.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { LONG_FILES } from "../../packages/engine/test/support/choice-commands.ts";
import type { Command } from "../../packages/engine/test/support/model-command.ts";
import { MODEL_COMMANDS } from "../../packages/engine/test/support/model-commands.ts";
import { inWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import { readCheckpointMap, WorkspaceModel } from "../../packages/engine/test/support/workspace-model.ts";
import type { Suite } from "../suite.ts";
import { runPrograms } from "./programs.ts";

const PROGRAM = fc.array(fc.oneof(...MODEL_COMMANDS), { minLength: 30, maxLength: 36, size: "max" });
const PROGRAMS_A_ROUND = 40;

export const model: Suite = {
  name: "model",
  unit: "programs of 30 commands or more",
  goal: 100_000,
  short: 25,
  async round(round) {
    const programs = fc.sample(PROGRAM, { seed: round.random.seed, numRuns: PROGRAMS_A_ROUND });
    await runPrograms(round, programs, runProgram);
  },
};

async function runProgram(program: readonly Command[]): Promise<void> {
  await inWorkspace(LONG_FILES, async (temp) => {
    const known = new WorkspaceModel();
    known.snapshots.set((await temp.workspace.list())[0]!.id, temp.tree());
    for (const command of program) await command.run(known, temp);
    for (const [id, { files }] of known.imports) assert.deepEqual(await readCheckpointMap(temp, id), files);
    for (const [id, tree] of known.fetched) assert.deepEqual(await readCheckpointMap(temp, id), tree);
    for (const [id, tree] of known.snapshots) assert.deepEqual(await readCheckpointMap(temp, id), tree);
  })();
}
