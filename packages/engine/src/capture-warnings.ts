/** What a person should be told about a checkpoint that was just taken. */
import type { Checkpoint } from "./model/checkpoint.ts";
import type { Taken } from "./worktree/take-checkpoint.ts";

export function captureWarnings(before: Checkpoint | undefined, taken: Taken): string[] {
  return [...emptiedWarning(before, taken), ...(taken.comparable ? [] : [DAMAGED_PREVIOUS])];
}

const DAMAGED_PREVIOUS =
  "The previous checkpoint is damaged: what changed since it cannot be told. This one is complete.";

function emptiedWarning(before: Checkpoint | undefined, taken: Taken): string[] {
  const emptied = before !== undefined && before.files >= 2 && taken.checkpoint.files === 0;
  return emptied
    ? ["The directory is empty now. Earlier checkpoints still have everything: belay restore brings it back."]
    : [];
}
