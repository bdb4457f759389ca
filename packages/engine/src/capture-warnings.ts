/** What a person should be told about a checkpoint that was just taken. */
import type { Checkpoint } from "./model/checkpoint.ts";
import type { StepSummary } from "./model/plan.ts";
import type { Taken } from "./worktree/take-checkpoint.ts";

export function captureWarnings(before: Checkpoint | undefined, taken: Taken): string[] {
  return [...emptiedWarning(before, taken), ...(taken.comparable ? [] : [DAMAGED_PREVIOUS])];
}

const NAMED = 2;

/** [R160] What was given up to stay below the cap. */
export function droppedWarnings(steps: readonly StepSummary[]): string[] {
  if (steps.length === 0) return [];
  const named = steps.slice(-NAMED).map(({ kind, description }) => `${kind} "${description}"`);
  const rest = steps.length - named.length;
  const list = rest === 0 ? named.join(", ") : `${named.join(", ")} and ${rest} more`;
  const what = steps.length === 1 ? "1 step" : `${steps.length} steps`;
  return [
    `The store reached its cap (disk.capBytes). To make room, older checkpoints were dropped; ${what} can no longer be undone: ${list}.`,
  ];
}

const DAMAGED_PREVIOUS =
  "The previous checkpoint is damaged: what changed since it cannot be told. This one is complete.";

function emptiedWarning(before: Checkpoint | undefined, taken: Taken): string[] {
  const emptied = before !== undefined && before.files >= 2 && taken.checkpoint.files === 0;
  return emptied
    ? [
        "The directory is empty now. Earlier checkpoints still have everything: `belay restore <checkpoint>` brings it back.",
      ]
    : [];
}
