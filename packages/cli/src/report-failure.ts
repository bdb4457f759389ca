/** What a command that failed says, and the exit code it ends with. */
import { ContractError, errorJson } from "@belay/protocol/errors";
import { reportError } from "./call/error-report.ts";
import { errorText } from "./output/error-text.ts";
import { createOutput } from "./output/output.ts";
import { WriteError } from "./output/streams.ts";

/** Reports an error as the contract does, on the streams of this process. */
export function reportFailure(
  error: unknown,
  { json, isColourless }: { readonly json: boolean; readonly isColourless: boolean },
): number {
  const report = reportError(error instanceof WriteError ? outputFailed(error) : error);
  const output = createOutput({ json, quiet: false, ...(isColourless && { color: "never" }) });
  if (json) output.json(errorJson(report));
  else output.warn(errorText(report, output.noteStyle));
  return report.exit;
}

function outputFailed({ message }: WriteError): ContractError {
  return new ContractError("OUTPUT_FAILED", `The result could not be written: ${message}.`, {
    hint: "The command itself was done; run it again with another output to see its result.",
  });
}
