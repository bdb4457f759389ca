/**
 * The question that the auto-fix loop asks when it cannot go on by itself: the reference's text, one key as the answer.
 * It draws nothing and loads no screen, so a chat can ask it as well as a terminal.
 */
import { escalationText as questionText } from "@belay/protocol/escalation";
import { visibleLine } from "../text/visible.ts";

/** What a reviewer found and the loop could not fix. */
export interface ReviewIssue {
  readonly severity: "critical" | "high" | "medium" | "low";
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly suggestion?: string;
}

/** Where the loop stands. */
export interface Escalation {
  readonly issues: readonly ReviewIssue[];
  readonly attempts: number;
  /** Why it stopped; left out: it failed after its attempts. */
  readonly reason?: string | undefined;
}

/** What the person decided. `continue` is exactly one more attempt. */
export type EscalationAnswer = "accept" | "reject" | "manual" | "continue";

/** What answering takes. */
export interface EscalationHost {
  write(text: string): void;
  /** Asks and resolves with what was typed; null where there is no terminal to ask on. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Shows the present files against the checkpoint before the agent. */
  viewDiff(): Promise<void>;
  /** Shows the preview of going back to before the agent; true when it was carried out. */
  restore(): Promise<boolean>;
  /** Opens the person's editor on a file; false when there is none. */
  edit(file: string, line: number): Promise<boolean>;
}

/** The text of the question, without anything that a terminal would act on. */
export function escalationText({ issues, attempts, reason }: Escalation): string {
  return questionText({
    attempts,
    reason: reason && visibleLine(reason),
    issues: issues.map(({ message, file, ...issue }) => ({
      ...issue,
      message: visibleLine(message),
      file: visibleLine(file),
    })),
  });
}

/** The question itself; its answers are single letters. */
export const ESCALATION_QUESTION = "a/r/v/m/c: ";

/** Asks until there is an answer. Null: there is no terminal to ask on, and nothing was chosen. */
export async function askEscalation(
  escalation: Escalation,
  host: EscalationHost,
): Promise<EscalationAnswer | null> {
  const text = escalationText(escalation);
  host.write(host.ask === null ? text : `${text}\n`);
  if (host.ask === null) return null;
  for (;;) {
    const typed = await host.ask(ESCALATION_QUESTION);
    const answer = await answered(typed.trim().toLowerCase(), escalation, host);
    if (answer !== undefined) return answer;
  }
}

async function answered(
  key: string,
  escalation: Escalation,
  host: EscalationHost,
): Promise<EscalationAnswer | undefined> {
  switch (key) {
    case "a":
      return "accept";
    case "r":
      // a preview that was left decides nothing
      return (await host.restore()) ? "reject" : undefined;
    case "v":
      await host.viewDiff();
      return undefined;
    case "m":
      await openEditor(escalation.issues, host);
      return "manual";
    case "c":
      return "continue";
    default:
      return undefined;
  }
}

/** The editor on the first issue's line; without one, the places. */
async function openEditor(issues: readonly ReviewIssue[], host: EscalationHost): Promise<void> {
  const [first] = issues;
  if (first !== undefined && (await host.edit(first.file, first.line))) return;
  host.write(issues.map((issue) => `  ${visibleLine(issue.file)}:${issue.line}`).join("\n"));
}
