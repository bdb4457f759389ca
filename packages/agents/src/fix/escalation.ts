/** [M56] What the user decides when attempts were not enough. The words of the question are the protocol's. */
import type { ReviewIssue } from "../review/review-issue.ts";

export { escalationText } from "@belay/protocol/escalation";

/** What the user can answer. */
export const CHOICES = ["a", "r", "v", "m", "c"] as const;

/** One of the answers to an escalation. */
export type Choice = (typeof CHOICES)[number];

/** Whether a text is an answer to an escalation. */
export function isChoice(text: string): text is Choice {
  return (CHOICES as readonly string[]).includes(text);
}

/** Why the user has to decide, and about what. */
export interface Escalation {
  readonly fix: string;
  /** Undefined where nothing was tried, or no limit was the reason. */
  readonly reason: string | undefined;
  readonly issues: readonly ReviewIssue[];
  readonly attempts: number;
}
