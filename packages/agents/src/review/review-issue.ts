/** An issue that a review found, and how bad it is. */

/** How bad issues can be, worst first: the order in which they are fixed. */
export const ISSUE_SEVERITIES = ["critical", "high", "medium", "low"] as const;

/** How bad an issue is. */
export type IssueSeverity = (typeof ISSUE_SEVERITIES)[number];

/** [M58] One thing that a review wants changed. */
export interface ReviewIssue {
  readonly severity: IssueSeverity;
  readonly message: string;
  /** Relative to the root where it lies inside; "" where the tool names none. */
  readonly file: string;
  /** From 1; 0 where the tool names none. */
  readonly line: number;
  readonly suggestion?: string;
}

/** Whether a word is a severity. */
export function isIssueSeverity(value: unknown): value is IssueSeverity {
  return (ISSUE_SEVERITIES as readonly unknown[]).includes(value);
}

/** Reads one kind of output; undefined where it is not of that kind. */
export type ReadIssues = (output: string) => ReviewIssue[] | undefined;
