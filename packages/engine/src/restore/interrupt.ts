/** A person interrupts a long operation: it is taken back, or left to the next command. */
import type { Context } from "../capture/context.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import type { JournalEntry } from "../history/journal.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { HalfDone, HowToApply } from "./apply.ts";

/** [R114] The first interrupt takes the operation back; the second one leaves it to the next command. */
export function stopsOnInterrupt(
  { interrupt }: Context,
  { edits }: JournalEntry,
): Pick<HowToApply, "stopIfAsked" | "stopTakingBack"> {
  if (interrupt === undefined) return {};
  const total = edits.length;
  return {
    stopIfAsked(done) {
      if (interrupt.count() === 0) return;
      interrupt.takingBack(done, total);
      const how = done === 0 ? "before anything was changed" : `after ${done} of ${total} files`;
      throw interrupted(`Interrupted ${how}.`, { done, total });
    },
    stopTakingBack() {
      if (interrupt.count() > 1) throw interrupted("Interrupted again.", { done: total, total });
    },
  };
}

function interrupted(message: string, facts: { done: number; total: number }): EngineError<"INTERRUPTED"> {
  return new EngineError("INTERRUPTED", message, facts);
}

/** [N1] Neither done nor put back: says so. */
export function leftHalfDone({ workingCopy }: Context, { cause }: HalfDone): EngineError {
  const path = displayAbsolute(workingCopy.root);
  if (isEngineError(cause, "INTERRUPTED")) {
    const message = `Interrupted while changes were being taken back: some files of ${path} are changed and some are not. The next command finishes that first.`;
    return interrupted(message, cause.facts);
  }
  const message = `Some files of ${path} were changed and some not, and they could not be put back. The next command tries again.`;
  return new EngineError("FILE_SYSTEM", message, { path, operation: "restore" }, cause);
}
