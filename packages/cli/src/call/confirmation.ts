/**
 * Asks before something destructive. Without a terminal to ask on, the command fails; it never assumes
 * consent.
 */
import type { Call } from "./command.ts";
import { Questions } from "./questions.ts";
import { ContractError, EXIT } from "@belay/protocol/errors";

/** How a question is put. */
export interface Confirmation {
  /** The command has `--dry-run`. */
  readonly dryRun?: boolean;
  /** Pressing Enter alone confirms too. */
  readonly yes?: boolean;
  /** What the answer `d` shows before the question is put again. */
  readonly diff?: () => Promise<void>;
}

/** True when the person confirms. */
export async function confirm(
  call: Pick<Call, "output">,
  question: string,
  { dryRun = false, yes = false, diff }: Confirmation = {},
): Promise<boolean> {
  if (!call.output.canAsk) throw confirmationRequired(question, dryRun);
  const choice = `[${yes ? "Y/n" : "y/N"}${diff === undefined ? "" : "/d"}]`;
  using questions = new Questions();
  for (;;) {
    const answer = await questions.ask(`${call.output.style.bold(question)} ${choice} `);
    if (answer === undefined) return false;
    if (diff === undefined || !/^d(iff)?$/i.test(answer))
      return answer === "" ? yes : /^(y|yes)$/i.test(answer);
    await questions.aside(diff);
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
