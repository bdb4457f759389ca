/** Runs a review's command: in the working copy, without a shell, for ten minutes at most. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readReview, type ReadReviewOptions } from "../review/read-review.ts";
import type { ReviewIssue } from "../review/review-issue.ts";
import { endProcesses, RUN_VARIABLE } from "../run/process-tree.ts";

/** A review and where it runs. */
export interface ReviewCommand extends ReadReviewOptions {
  readonly command: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10 * 60 * 1000;
const MOST_BYTES = 16 << 20;

/** What the review finds. A review that cannot be run finds one issue: itself. */
export async function runReview(review: ReviewCommand): Promise<ReviewIssue[]> {
  const [program = "", ...args] = review.command;
  const id = randomUUID();
  const child = spawn(program, args, {
    cwd: review.root,
    env: { ...(review.environment ?? process.env), [RUN_VARIABLE]: id },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const [stdout, stderr] = [new Collected(child.stdout), new Collected(child.stderr)];
  const { timeoutMs = TIMEOUT_MS } = review;
  const timer = setTimeout(() => void endProcesses({ id, pid: child.pid ?? null }), timeoutMs);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      stderr.add(`${program} could not be started: ${error.message}\n`);
      resolve(null);
    });
    child.once("close", (code) => resolve(code));
  });
  clearTimeout(timer);
  await endProcesses({ id, pid: child.pid ?? null });
  if (stdout.isCut || stderr.isCut) return [unjudged(program)];
  return readReview({ stdout: stdout.text, stderr: stderr.text, exitCode }, review);
}

/** Half an output may look clean. */
function unjudged(program: string): ReviewIssue {
  const most = `${MOST_BYTES >> 20} MiB`;
  const message = `${program} printed more than ${most}: what it found cannot be judged`;
  return { severity: "high", message, file: "", line: 0 };
}

/** What a program prints, up to a limit: the rest is read and dropped, so that the program does not wait. */
class Collected {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(stream: NodeJS.ReadableStream) {
    stream.on("data", (part: Buffer) => {
      this.#bytes += part.length;
      if (!this.isCut) this.#parts.push(part);
    });
  }

  add(text: string): void {
    this.#parts.push(Buffer.from(text));
  }

  get isCut(): boolean {
    return this.#bytes > MOST_BYTES;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}
