/**
 * Asks before something destructive. Without a terminal to ask on, the command fails; it never assumes
 * consent.
 */
import { createInterface } from "node:readline/promises";
import type { Call } from "./command.ts";
import { ContractError, EXIT } from "@belay/protocol/errors";

/** True when the person confirms. `yes`: pressing Enter alone confirms too. */
export async function confirm(
  call: Pick<Call, "output">,
  question: string,
  { dryRun = false, yes = false } = {},
): Promise<boolean> {
  if (!call.output.canAsk) throw confirmationRequired(question, dryRun);
  const { style } = call.output;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const interrupted = new AbortController();
  // Ctrl-C and Ctrl-D decline
  terminal.on("SIGINT", () => interrupted.abort());
  terminal.on("close", () => interrupted.abort());
  try {
    const choice = yes ? "[Y/n]" : "[y/N]";
    const answer = await terminal.question(`${style.bold(question)} ${choice} `, {
      signal: interrupted.signal,
    });
    return answer.trim() === "" ? yes : /^(y|yes)$/i.test(answer.trim());
  } catch {
    call.output.print("");
    return false;
  } finally {
    terminal.close();
  }
}

/** Reports that the person declined, and returns the exit code for it. */
export function declined(call: Pick<Call, "output">): number {
  call.output.print("Nothing was changed.");
  return EXIT.refused;
}

function confirmationRequired(question: string, dryRun: boolean): ContractError {
  const lines = question.split("\n");
  const asked = lines.findIndex((line) => line.includes("?"));
  return new ContractError(
    "CONFIRMATION_REQUIRED",
    `Not confirmed, and there is no terminal to ask on: ${lines[asked] ?? question} Nothing was changed.`,
    {
      list: lines.filter((_, index) => index !== asked),
      hint: `Add --yes to skip the question${dryRun ? ", or --dry-run to see what it would do" : ""}.`,
      facts: { question },
    },
  );
}
