/** [M56] [M57] The question of the auto-fix loop on a terminal: one key answers, and rejecting shows first what goes back. */
import type { Choice, Escalation } from "@belay/agents/orchestration";
import type { Workspace } from "@belay/engine";
import { askEscalation, type EscalationAnswer } from "@belay/tui/commands";
import type { Call } from "../call/command.ts";
import { confirm } from "../call/confirmation.ts";
import { askKey } from "../call/key-question.ts";
import { goBack } from "../going-back/go-back.ts";
import { EXIT } from "@belay/protocol/errors";

type EscalationCall = Pick<Call, "json" | "output" | "home" | "operands" | "directory">;

/** What deciding needs beside the question. */
export interface Deciding {
  readonly workspace: Workspace;
  /** The checkpoint before the agent; null where there is none. */
  readonly before: string | null;
  /** Shows the files against that checkpoint. */
  showDiff(checkpoint: string): Promise<void>;
}

/** The person's decision; undefined where there is no terminal to ask on, or the person left. */
export async function askDecision(
  call: EscalationCall,
  escalation: Escalation,
  { workspace, before, showDiff }: Deciding,
): Promise<Choice | undefined> {
  if (!call.output.canAsk) return undefined;
  try {
    const answer = await askEscalation(escalation, {
      write: (text) => call.output.print(text),
      ask: async (question) => (await askKey(question)) ?? left(),
      viewDiff: async () => {
        if (before !== null) await showDiff(before);
      },
      // without a checkpoint to go back to, the loop says so
      restore: async () => before === null || agreeToReject(call, workspace, before),
      // the editor opens once the decision is recorded, and the places are in what is printed then
      edit: () => Promise.resolve(true),
    });
    return answer === null ? undefined : LETTERS[answer];
  } catch (error) {
    if (error instanceof LeftError) return undefined;
    throw error;
  }
}

const LETTERS: Readonly<Record<EscalationAnswer, Choice>> = {
  accept: "a",
  reject: "r",
  manual: "m",
  continue: "c",
};

class LeftError extends Error {}

function left(): never {
  throw new LeftError("the question was left");
}

/** Shows what rejecting would put back, and asks. */
export async function agreeToReject(
  call: EscalationCall,
  workspace: Workspace,
  before: string,
): Promise<boolean> {
  const exit = await goBack({ ...call, options: { "dry-run": true } }, workspace, {
    verb: "restore",
    target: "the state before this agent",
    plan: () => workspace.planRestore(before),
    act: () => Promise.reject(new Error("a preview changes nothing")),
  });
  return exit === EXIT.done && confirm(call, "Reject all changes?");
}
