/** Belay's own form, which reviewer agents answer in: `{"issues":[…]}`, alone or at the end of what they say. */
import { isFields, jsonIn, lineAt, textAt } from "./json-output.ts";
import { isIssueSeverity, type ReadIssues, type ReviewIssue } from "./review-issue.ts";

/** Reads Belay's own form. One entry that is not an issue makes the whole answer none: half a review is not a review. */
export const readBelay: ReadIssues = (output) => {
  for (const candidate of candidatesIn(output)) {
    const document = jsonIn(candidate);
    if (!isFields(document) || !Array.isArray(document["issues"])) continue;
    const issues = document["issues"].map(issueOf);
    return issues.every((issue) => issue !== undefined) ? issues : undefined;
  }
  return undefined;
};

/** The whole output, its last fenced block, its last line. */
function candidatesIn(output: string): string[] {
  const fences = output.split(/^```\w*\s*$/m);
  const fenced = fences.length >= 3 ? fences.at(-2)! : "";
  return [output, fenced, output.trimEnd().split("\n").at(-1)!];
}

function issueOf(entry: unknown): ReviewIssue | undefined {
  if (!isFields(entry)) return undefined;
  const { severity } = entry;
  const message = textAt(entry, "message");
  if (!isIssueSeverity(severity) || message === "") return undefined;
  const suggestion = textAt(entry, "suggestion");
  return {
    severity,
    message,
    file: textAt(entry, "file"),
    line: lineAt(entry, "line"),
    ...(suggestion !== "" && { suggestion }),
  };
}
