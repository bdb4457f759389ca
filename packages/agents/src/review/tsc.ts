/** What the TypeScript compiler prints, plain or pretty. */
import { plainText } from "./plain-text.ts";
import type { ReadIssues, ReviewIssue } from "./review-issue.ts";

const PLAIN = /^(\S[^(\n]*)\((\d+),\d+\): error TS(\d+): (.*)$/;
const PRETTY = /^(\S[^:\n]*):(\d+):\d+ - error TS(\d+): (.*)$/;
const NOWHERE = /^()()error TS(\d+): (.*)$/;

/** Reads the compiler's errors. */
export const readTsc: ReadIssues = (output) => {
  const issues = plainText(output)
    .split("\n")
    .flatMap((line): ReviewIssue[] => {
      const found = PLAIN.exec(line) ?? PRETTY.exec(line) ?? NOWHERE.exec(line);
      if (found === null) return [];
      const [, file = "", at = "", code = "", message = ""] = found;
      // 1xxx: the file does not parse
      const severity = /^1\d{3}$/.test(code) ? "high" : "medium";
      return [{ severity, message: `TS${code}: ${message}`, file, line: Number(at) }];
    });
  return issues.length === 0 ? undefined : issues;
};
