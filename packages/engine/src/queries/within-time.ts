/** Work that may never end by itself: a regular expression on the wrong text. */
import { createContext, Script } from "node:vm";
import { EngineError } from "../model/errors.ts";

/** Runs `work`; throws `PATTERN_TOO_SLOW` when it takes longer. No other way stops an expression in the middle. */
export function withinTime(limitMs: number, work: () => void): void {
  try {
    new Script("work()").runInContext(createContext({ work }), { timeout: limitMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new EngineError(
      "PATTERN_TOO_SLOW",
      "The expression takes too long: there are too many ways in which it could match. Nothing was changed.",
      { limitMs },
    );
  }
}
