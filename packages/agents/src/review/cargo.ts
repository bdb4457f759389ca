/** What cargo and rustc report: `--message-format=json`, or the text for people. */
import { fieldsOf, isFields, lineAt, listOf, textAt } from "./json-output.ts";
import { plainText } from "./plain-text.ts";
import type { IssueSeverity, ReadIssues, ReviewIssue } from "./review-issue.ts";

const LEVELS: Readonly<Record<string, IssueSeverity>> = { error: "medium", warning: "low" };

/** Reads the compiler's errors and warnings. */
export const readCargo: ReadIssues = (output) => {
  const lines = plainText(output).split("\n");
  const messages = lines.filter((line) => line.includes('"compiler-message"')).flatMap(issueOfMessage);
  if (messages.length > 0) return messages;
  const told = lines.flatMap((line, index) => issueOfText(line, lines[index + 1] ?? ""));
  return told.length === 0 ? undefined : told;
};

function issueOfMessage(line: string): ReviewIssue[] {
  const message = fieldsOf(parsed(line), "message");
  const severity = LEVELS[textAt(message, "level")];
  const spans = listOf(message, "spans").filter(isFields);
  const span = spans.find((each) => each["is_primary"] === true) ?? spans[0];
  // what has no place is a sum: "aborting due to 1 previous error"
  if (severity === undefined || span === undefined) return [];
  const help = listOf(message, "children").find((child) => textAt(child, "level") === "help");
  const suggestion = textAt(help, "message");
  const where = { file: textAt(span, "file_name"), line: lineAt(span, "line_start") };
  return [
    { severity, message: textAt(message, "message"), ...where, ...(suggestion !== "" && { suggestion }) },
  ];
}

/** `error[E0308]: mismatched types`, and below it ` --> src/main.rs:3:18`. */
function issueOfText(line: string, next: string): ReviewIssue[] {
  const [, level = "", message] = /^(error|warning)(?:\[\w+\])?: (.*)$/.exec(line) ?? [];
  const [, file, at] = /^ *--> (.+):(\d+):\d+$/.exec(next) ?? [];
  if (message === undefined || file === undefined) return [];
  return [{ severity: LEVELS[level]!, message, file, line: Number(at) }];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
