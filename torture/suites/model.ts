/** Random programs of edits, checkpoints, restores, undos … against a plain model; a failing one is made as short as it can be. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MODEL_COMMANDS, type Command } from "../../packages/engine/test/support/model-commands.ts";
import { inWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import { readCheckpointMap, WorkspaceModel } from "../../packages/engine/test/support/workspace-model.ts";
import type { Suite } from "../suite.ts";

const PROGRAM = fc.array(fc.oneof(...MODEL_COMMANDS), { minLength: 30, maxLength: 36, size: "max" });
const PROGRAMS_A_ROUND = 20;

export const model: Suite = {
  name: "model",
  unit: "programs of 30 commands or more",
  goal: 100_000,
  short: 25,
  async round(round) {
    for (const program of fc.sample(PROGRAM, { seed: round.random.seed, numRuns: PROGRAMS_A_ROUND })) {
      if (round.isOver) return;
      const error = await attempt(program);
      if (error !== undefined) throw await explain(program, error);
      round.count("programs");
    }
  },
};

async function attempt(program: readonly Command[]): Promise<unknown> {
  try {
    await inWorkspace({}, async (temp) => {
      const known = new WorkspaceModel();
      known.snapshots.set((await temp.workspace.list())[0]!.id, temp.tree());
      for (const command of program) await command.run(known, temp);
      for (const [id, tree] of known.snapshots) assert.deepEqual(await readCheckpointMap(temp, id), tree);
    })();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Leaves out what the failure does not need: halves, quarters … single commands. */
async function explain(program: readonly Command[], error: unknown): Promise<Error> {
  let [shortest, cause] = [program, error];
  for (let size = Math.ceil(program.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length;) {
      const fewer = shortest.toSpliced(at, size);
      const failure = await attempt(fewer);
      if (failure === undefined) at += size;
      else [shortest, cause] = [fewer, failure];
    }
  }
  await attempt(shortest);
  return new Error(`This program fails:${shortest.map(String).join("")}`, { cause });
}
