/** [M56] What the user reads when attempts were not enough, word for word. */
import type { ReviewIssue } from "../review/review-issue.ts";

/** What the user can answer. */
export const CHOICES = ["a", "r", "v", "m", "c"] as const;

/** One of the answers. */
export type Choice = (typeof CHOICES)[number];

/** Whether a text is an answer. */
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

/** The question with its options. */
export function escalationText({ reason, issues, attempts }: Escalation): string {
  return [
    `⚠️ Auto-fix ${reason ?? `failed after ${attempts} attempts`}`,
    "",
    `Issues remaining (${issues.length}):`,
    ...issues.map(
      ({ severity, message, file, line }, index) =>
        `  ${index + 1}. [${severity}] ${message} (${file}:${line})`,
    ),
    "",
    `Snapshots created: ${attempts} (available for rollback)`,
    "",
    "Options:",
    "  [a] Accept anyway (ignore issues and continue)",
    "  [r] Reject all changes (rollback to snapshot before this agent)",
    "  [v] View diff (compare current vs snapshot)",
    "  [m] Manual fix (open editor, I'll fix it)",
    "  [c] Continue trying (1 more attempt)",
  ].join("\n");
}
