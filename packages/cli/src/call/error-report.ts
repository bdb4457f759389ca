/** Errors for this terminal. Their meaning is in the contract's table. */
import { reportError as reportTo, type ErrorReport } from "@belay/protocol/errors";
import { currentDirectory } from "../output/belay-at.ts";

/** Turns any thrown value into a report. */
export function reportError(error: unknown): ErrorReport {
  return reportTo(error, { kind: "terminal", shellDirectory: currentDirectory });
}
