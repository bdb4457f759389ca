/**
 * The engine against a plain model: what the tree was at each checkpoint (a Map, read by a walker of the test's own)
 * and two lists of steps. Random programs of edits, checkpoints, turns, restores, undos, redos, reverts, prunings and
 * reopenings; after each the tree must be what the model says, everything that was on disk before a destructive
 * operation must be in its safety checkpoint (N0), and what did not change must not have been touched.
 * BELAY_MODEL_RUNS asks for more programs, BELAY_SEED repeats one, BELAY_MODEL_PATH goes straight to its failure.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { countCommands, MODEL_COMMANDS } from "./support/model-commands.ts";
import { inWorkspace } from "./support/temp-workspace.ts";
import { readCheckpointMap, WorkspaceModel } from "./support/workspace-model.ts";

const RUNS = Number(process.env["BELAY_MODEL_RUNS"] ?? 20);
const SEED = Number(process.env["BELAY_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const LIMIT_MS = 7_200_000;

test(
  "[N0, G5, I23, I29] restore, undo and redo are exact whatever happened before",
  { timeout: LIMIT_MS },
  async () => {
    console.info(`model test: ${RUNS} runs, BELAY_SEED=${SEED}`);
    countCommands();
    const program = fc.commands(MODEL_COMMANDS, { maxCommands: 100, size: "max" });
    const property = fc.asyncProperty(program, async (commands) => {
      await inWorkspace({}, async (temp) => {
        const model = new WorkspaceModel();
        model.snapshots.set((await temp.workspace.list())[0]!.id, temp.tree());
        await fc.asyncModelRun(() => ({ model, real: temp }), commands);
        for (const [id, tree] of model.snapshots) expect(await readCheckpointMap(temp, id)).toEqual(tree);
      })();
    });
    const path = process.env["BELAY_MODEL_PATH"];
    await fc.assert(property, { numRuns: RUNS, seed: SEED, ...(path === undefined ? {} : { path }) });
    if (path === undefined) expect(countCommands() / RUNS).toBeGreaterThanOrEqual(30);
  },
);
