/** Runs a review's command: in the working copy, without a shell, for ten minutes at most. */
import { readReview, type ReadReviewOptions } from "../review/read-review.ts";
import type { ReviewIssue } from "../review/review-issue.ts";
import { MOST_OUTPUT_BYTES, runCommand } from "../run/run-command.ts";

/** A review and where it runs. */
export interface ReviewCommand extends ReadReviewOptions {
  readonly command: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  /** Ends it before its time. */
  readonly signal?: AbortSignal | undefined;
}

/** What the review finds. A review that cannot be run finds one issue: itself. */
export async function runReview(review: ReviewCommand): Promise<ReviewIssue[]> {
  const { command, root, environment, timeoutMs, signal } = review;
  const { stdout, stderr, exitCode, isCut } = await runCommand({
    command,
    directory: root,
    ...(environment !== undefined && { environment }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    signal,
  });
  if (isCut) return [unjudged(command[0] ?? "")];
  return readReview({ stdout, stderr, exitCode }, review);
}

/** Half an output may look clean. */
function unjudged(program: string): ReviewIssue {
  const most = `${MOST_OUTPUT_BYTES >> 20} MiB`;
  const message = `${program} printed more than ${most}: what it found cannot be judged`;
  return { severity: "high", message, file: "", line: 0 };
}
