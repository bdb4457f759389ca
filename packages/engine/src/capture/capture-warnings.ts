/** Warnings for the user about a checkpoint that was just taken. */
import { listCheckpoints } from "../history/list-checkpoints.ts";
import type { StepSummary } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import type { Recorded } from "../history/record.ts";

/** Warnings about what a checkpoint recorded. */
export function captureWarnings(recorded: Recorded): string[] {
  return [...emptiedWarning(recorded), ...(recorded.comparable ? [] : [DAMAGED_PREVIOUS])];
}

/** Two checkpoints may have one name; then only numbers and ids tell them apart. */
export function namesakeWarnings(db: Database, name: string | undefined): string[] {
  if (name === undefined) return [];
  const namesake = listCheckpoints(db, { search: name, branch: "all" }).find((each) => each.name === name);
  if (namesake === undefined) return [];
  return [
    `Checkpoint ${namesake.seq} has the name ${JSON.stringify(name)} too. Their ids tell them apart; that one is ${namesake.id}.`,
  ];
}

const NAMED = 2;

/** [R160] The steps that were given up to stay below the cap. */
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

function emptiedWarning({ filesBefore, checkpoint }: Recorded): string[] {
  return filesBefore >= 2 && checkpoint.files === 0
    ? [
        "The directory is empty now. Earlier checkpoints still have everything: `belay restore <checkpoint>` brings it back.",
      ]
    : [];
}
