/**
 * From what a review printed to its issues. The form is recognised by the output itself unless the user names one. An
 * output that no form fits is no proof of anything: with an exit code other than 0 it becomes one issue of its own.
 */
import { isAbsolute, relative } from "node:path";
import { readBelay } from "./belay.ts";
import { readCargo } from "./cargo.ts";
import { readEslint } from "./eslint.ts";
import { readJunit } from "./junit.ts";
import { plainText } from "./plain-text.ts";
import { readPytest } from "./pytest.ts";
import { readSarif } from "./sarif.ts";
import { readTsc } from "./tsc.ts";
import { readUnix } from "./unix.ts";
import type { IssueSeverity, ReadIssues, ReviewIssue } from "./review-issue.ts";

/** The forms by name; `auto` tries them in this order, the most telling first. */
const FORMATS = {
  belay: readBelay,
  sarif: readSarif,
  eslint: readEslint,
  junit: readJunit,
  cargo: readCargo,
  tsc: readTsc,
  pytest: readPytest,
  unix: readUnix,
} satisfies Record<string, ReadIssues>;

/** What a review's output is written in. */
export type ReviewFormat = keyof typeof FORMATS | "auto";

/** All of them. */
export const REVIEW_FORMATS = ["auto", ...Object.keys(FORMATS)] as readonly ReviewFormat[];

/** What a review's program left behind. */
export interface ReviewOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when it was ended by a signal or could not be started. */
  readonly exitCode: number | null;
}

/** How to read it. */
export interface ReadReviewOptions {
  readonly root: string;
  readonly format?: ReviewFormat;
  /** What the user calls a severity instead. */
  readonly severity?: Readonly<Partial<Record<IssueSeverity, IssueSeverity>>>;
}

/** The issues that a review printed; none means clean. */
export function readReview(output: ReviewOutput, options: ReadReviewOptions): ReviewIssue[] {
  const { root, format = "auto", severity = {} } = options;
  const readers = format === "auto" ? Object.values(FORMATS) : [FORMATS[format]];
  const found = recognise(output, readers);
  const issues = found.length === 0 && output.exitCode !== 0 ? [unrecognised(output)] : found;
  return issues.map((issue) => ({
    ...issue,
    severity: severity[issue.severity] ?? issue.severity,
    file: insideOf(root, issue.file),
  }));
}

/** Compilers write to stderr, linters to stdout: the first that says something counts. */
function recognise({ stdout, stderr }: ReviewOutput, readers: readonly ReadIssues[]): ReviewIssue[] {
  for (const text of [stdout, stderr]) {
    for (const read of readers) {
      const issues = read(text);
      if (issues !== undefined && issues.length > 0) return issues;
    }
  }
  return [];
}

const LAST_LINES = 20;

function unrecognised({ stdout, stderr, exitCode }: ReviewOutput): ReviewIssue {
  const lines = plainText(stdout.trim() === "" ? stderr : stdout)
    .trimEnd()
    .split("\n")
    .slice(-LAST_LINES);
  const message = lines.join("\n").trim();
  const ended = exitCode === null ? "it was ended" : `exit code ${exitCode}`;
  return {
    severity: "high",
    message: message === "" ? `The review failed: ${ended}` : message,
    file: "",
    line: 0,
  };
}

function insideOf(root: string, file: string): string {
  const path = file.replace(/^file:\/\//, "");
  if (!isAbsolute(path)) return path.replace(/^\.\//, "");
  const inside = relative(root, path);
  return inside === "" || inside.startsWith("..") ? path : inside;
}
