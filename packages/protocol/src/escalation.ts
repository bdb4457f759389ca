/** [M56] The question of the auto-fix loop, word for word: for the loop, for chats and for terminals. Imports nothing. */

/** What the question tells. */
export interface EscalationFacts {
  readonly issues: readonly {
    readonly severity: string;
    readonly message: string;
    readonly file: string;
    readonly line: number;
  }[];
  readonly attempts: number;
  /** Undefined where nothing was tried, or no limit was the reason. */
  readonly reason?: string | undefined;
}

/** The question with its options. What a terminal shows has to be made visible before. */
export function escalationText({ reason, issues, attempts }: EscalationFacts): string {
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
