/** Shared by undo and redo: everything but the direction. */
import type { UndoOptions, Workspace } from "@belay/engine";
import { ALL_ENTRIES, DRY_RUN, THREAD, YES, type Call, type OptionSpecs } from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { threadId } from "../call/thread-option.ts";

/** The options of undo, redo and reset. */
export const STEP_OPTIONS = {
  "include-shared": { type: "boolean", about: "also take changes that several tools made at the same time" },
  "best-effort": { type: "boolean", about: "skip paths with conflicts instead of changing nothing" },
  thread: THREAD,
  "dry-run": DRY_RUN,
  yes: YES,
  all: ALL_ENTRIES,
} as const satisfies OptionSpecs;

/** The engine's options for the parsed ones. */
export async function stepOptions(
  call: Call<typeof STEP_OPTIONS>,
  workspace: Workspace,
): Promise<UndoOptions> {
  const thread = await threadId(workspace, call.options.thread);
  return {
    count: stepCount(call.operands[0]),
    includeShared: call.options["include-shared"] === true,
    bestEffort: call.options["best-effort"] === true,
    ...(thread && { thread }),
  };
}

function stepCount(given: string | undefined): number {
  if (given === undefined) return 1;
  const count = Number(given);
  if (/^\d+$/.test(given) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw usageError(`"${given}" is not a number of steps.`, "Give a number from 1, or nothing for one step.");
}
