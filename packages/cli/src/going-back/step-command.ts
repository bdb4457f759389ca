/** Shared by undo and redo: everything but the direction. */
import type { UndoOptions, Workspace } from "@belay/engine";
import {
  ALL_ENTRIES,
  BEST_EFFORT,
  DRY_RUN,
  INCLUDE_SHARED,
  MERGE_ANYWAY,
  PATCH,
  THREAD,
  YES,
  type Call,
  type OptionSpecs,
} from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { threadId } from "../call/thread-option.ts";

/** The options of undo, redo and reset. */
export const STEP_OPTIONS = {
  "include-shared": INCLUDE_SHARED,
  "best-effort": BEST_EFFORT,
  "merge-anyway": MERGE_ANYWAY,
  thread: THREAD,
  "dry-run": DRY_RUN,
  patch: PATCH,
  yes: YES,
  all: ALL_ENTRIES,
} as const satisfies OptionSpecs;

/** The engine's options for the parsed ones. */
export async function stepOptions(
  call: Call<typeof STEP_OPTIONS>,
  workspace: Workspace,
  steps: string | null | undefined = call.operands[0],
): Promise<UndoOptions> {
  const thread = await threadId(workspace, call.options.thread);
  return {
    count: stepCount(steps),
    includeShared: call.options["include-shared"] === true,
    mergeAnyway: call.options["merge-anyway"] === true,
    bestEffort: call.options["best-effort"] === true,
    ...(thread && { thread }),
  };
}

function stepCount(given: string | null | undefined): number {
  if (given === undefined || given === null) return 1;
  const count = Number(given);
  if (isCount(given) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw usageError(
    `"${given}" is not a number of steps.`,
    "Give a number of at least 1, or leave it out for one step.",
  );
}

/** Whether an operand is meant as a number of steps: a file of that name is written `./3`. */
export function isCount(operand: string | undefined): boolean {
  return operand !== undefined && /^\d+$/.test(operand);
}
