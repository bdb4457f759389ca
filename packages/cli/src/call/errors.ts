/** Errors as this terminal reads them. What each one means is in the contract's table. */
import { reportError as reportTo, type ErrorReport } from "@belay/protocol/errors";
import { currentDirectory } from "../output/belay-at.ts";

/** Makes a report of whatever a command threw. */
export function reportError(error: unknown): ErrorReport {
  return reportTo(error, { kind: "terminal", shellDirectory: currentDirectory });
}
