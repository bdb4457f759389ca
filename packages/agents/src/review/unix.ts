/** `file:line:col: text`, which compilers have printed for fifty years, and GitHub's `::error file=…::text`. */
import { plainText } from "./plain-text.ts";
import type { IssueSeverity, ReadIssues, ReviewIssue } from "./review-issue.ts";

const PLACE = /^([^\s:][^\s:]*):(\d+)(?::\d+)?: *(.+)$/;
const LEVEL = /^(?:fatal )?(error|warning|note|info|help)\b(?:\[[\w-]+\])?:? */i;
const WORKFLOW = /^::(error|warning|notice)(?: ([^:]*(?::[^:]+)*?))?::(.*)$/;
const LEVELS: Readonly<Record<string, IssueSeverity>> = { error: "medium", warning: "low", notice: "low" };

/** Reads lines that begin with a place. */
export const readUnix: ReadIssues = (output) => {
  const issues = plainText(output)
    .split("\n")
    .flatMap((line) => issueOfWorkflow(line) ?? issueOfPlace(line) ?? []);
  return issues.length === 0 ? undefined : issues;
};

function issueOfWorkflow(line: string): ReviewIssue | undefined {
  const [, level, properties = "", message] = WORKFLOW.exec(line) ?? [];
  if (level === undefined || message === undefined) return undefined;
  const property = (name: string) => new RegExp(`(?:^|,)\\s*${name}=([^,]*)`).exec(properties)?.[1] ?? "";
  return { severity: LEVELS[level]!, message, file: property("file"), line: Number(property("line")) || 0 };
}

function issueOfPlace(line: string): ReviewIssue | undefined {
  const [, file, at, text] = PLACE.exec(line) ?? [];
  // a time of day is no place
  if (file === undefined || text === undefined || /^\d+$/.test(file)) return undefined;
  const level = LEVEL.exec(text)?.[1]?.toLowerCase() ?? levelAtEnd(text);
  // a note explains the line above it
  if (level !== "error" && level !== "warning") return undefined;
  return { severity: LEVELS[level]!, message: text.replace(LEVEL, ""), file, line: Number(at) };
}

/** Linters write `[Warning/rule]` at the end. What has no level at all is an error: so does go. */
function levelAtEnd(text: string): string {
  return /\[(error|warning)\/[^\]]*\]$/i.exec(text)?.[1]?.toLowerCase() ?? "error";
}
