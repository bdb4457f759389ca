/**
 * Random programs of edits, checkpoints, restores, undos … against a plain model; a failing one is shortened.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { SETTLE_MS } from "../../packages/engine/src/capture/read-pending.ts";
import { LONG_FILES } from "../../packages/engine/test/support/choice-commands.ts";
import type { Command } from "../../packages/engine/test/support/model-command.ts";
import { MODEL_COMMANDS } from "../../packages/engine/test/support/model-commands.ts";
import { inWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import { readCheckpointMap, WorkspaceModel } from "../../packages/engine/test/support/workspace-model.ts";
import { isPlanted, type Round, type Suite } from "../suite.ts";

const PROGRAM = fc.array(fc.oneof(...MODEL_COMMANDS), { minLength: 30, maxLength: 36, size: "max" });
const PROGRAMS_A_ROUND = 40;
/** This many programs run at a time, each in its own workspace: while one waits the others continue. */
const LANES = 5;

export const model: Suite = {
  name: "model",
  unit: "programs of 30 commands or more",
  goal: 100_000,
  short: 25,
  async round(round) {
    using _ = settleAtOnce();
    const programs = fc.sample(PROGRAM, { seed: round.random.seed, numRuns: PROGRAMS_A_ROUND });
    const failed: Failed[] = [];
    await Promise.all(Array.from({ length: LANES }, () => runLane(programs, round, failed)));
    // for a planted bug it is enough that it was noticed
    if (failed.length > 0) throw isPlanted ? failed[0]!.error : await explain(failed[0]!);
  },
};

interface Failed {
  readonly program: readonly Command[];
  readonly error: unknown;
}

/** Takes one program after the other until there is none left, or one fails. */
async function runLane(programs: Command[][], round: Round, failed: Failed[]): Promise<void> {
  while (!round.isOver && failed.length === 0) {
    const program = programs.shift();
    if (program === undefined) return;
    const error = await attempt(program);
    if (error !== undefined) failed.push({ program, error });
    else round.count("programs");
  }
}

async function attempt(program: readonly Command[]): Promise<unknown> {
  try {
    await inWorkspace(LONG_FILES, async (temp) => {
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

/** Removes what the failure does not need: halves, quarters … single commands. */
async function explain({ program, error }: Failed): Promise<Error> {
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

/**
 * A capture waits a moment before it reads a fresh file a second time, for a writer to be done. Here no program writes
 * during a capture: the second reading is made all the same, but at once. Without this the wait is most of the time.
 */
function settleAtOnce(): Disposable {
  const { wait } = Atomics;
  Atomics.wait = (cells: Int32Array | BigInt64Array, index: number, value: never, timeoutMs?: number) =>
    timeoutMs === SETTLE_MS ? "timed-out" : wait(cells as Int32Array, index, value, timeoutMs);
  return { [Symbol.dispose]: () => void (Atomics.wait = wait) };
}
