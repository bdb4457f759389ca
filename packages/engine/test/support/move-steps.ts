/** Undo and redo of whole steps, against the model. */
import assert from "node:assert/strict";
import type { Outcome } from "../../src/index.ts";
import type { TempWorkspace } from "./temp-workspace.ts";
import {
  deltaOf,
  expectMovedAround,
  moveExactly,
  watchDestructive,
  type ModelStep,
  type WorkspaceModel,
} from "./workspace-model.ts";

export interface StepMove {
  readonly count: number;
  readonly from: "applied" | "undone";
  readonly to: "applied" | "undone";
  work(): Promise<Outcome>;
}

/** Does `work` and expects that it moved the last steps from one list to the other. */
export async function moveSteps(
  model: WorkspaceModel,
  temp: TempWorkspace,
  { count, from, to, work }: StepMove,
): Promise<string | void> {
  const available = model[from].length;
  if (model[from].slice(-count).some(({ isPruned }) => isPruned)) {
    await assert.rejects(work(), { code: "CONTENT_PRUNED" });
    return `${count}: pruned`;
  }
  if (available > 0 && available < count) {
    return assert.rejects(work(), { code: "STEPS_MISSING" });
  }
  const { outcome, before, after } = await watchDestructive(temp, model, work);
  if (available === 0) return assert.deepEqual([outcome.outcome, outcome.steps], ["unchanged", []]);
  const steps = model[from].slice(-count).reverse();
  const deltas = steps.map((step) => deltaInDirection(step, to));
  const expected = moveExactly(before, deltas);
  if (expected !== undefined) {
    assert.deepEqual(after, expected);
    assert.equal(outcome.outcome, deltaOf(before, after).size === 0 ? "unchanged" : "applied");
  } else if (count === 1 && outcome.outcome === "applied") {
    expectMovedAround(deltas[0]!, { before, after, kept: outcome.kept.map(({ path }) => path) });
  }
  const moved = `${count}: ${outcome.outcome}`;
  if (outcome.outcome === "conflicts") return moved;
  model[from] = model[from].slice(0, -count);
  model[to].push(...steps);
  return moved;
}

/** What moving a step to a list does to the tree. */
export function deltaInDirection(
  { before, after }: ModelStep,
  to: "applied" | "undone",
): ReturnType<typeof deltaOf> {
  return to === "applied" ? deltaOf(before, after) : deltaOf(after, before);
}
