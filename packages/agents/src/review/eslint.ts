/** The JSON of ESLint, and the one of Oxlint and Biome. */
import { fieldsOf, isFields, jsonIn, lineAt, listOf, textAt, type Fields } from "./json-output.ts";
import type { IssueSeverity, ReadIssues, ReviewIssue } from "./review-issue.ts";

/** Reads what ESLint, Oxlint or Biome report as JSON. */
export const readEslint: ReadIssues = (output) => {
  const document = jsonIn(output);
  if (Array.isArray(document)) {
    const isOurs = document.every((file) => isFields(file) && Array.isArray(file["messages"]));
    return isOurs ? document.flatMap(issuesOfFile) : undefined;
  }
  if (!isFields(document) || !Array.isArray(document["diagnostics"])) return undefined;
  return document["diagnostics"].filter(isFields).map(issueOfDiagnostic);
};

function issuesOfFile(file: unknown): ReviewIssue[] {
  return listOf(file, "messages")
    .filter(isFields)
    .map((found) => {
      const suggestion = textAt(listOf(found, "suggestions")[0], "desc");
      const severity = found["fatal"] === true ? "high" : found["severity"] === 2 ? "medium" : "low";
      return {
        severity,
        message: textAt(found, "message"),
        file: textAt(file, "filePath"),
        line: lineAt(found, "line"),
        ...(suggestion !== "" && { suggestion }),
      };
    });
}

const DIAGNOSED: Readonly<Record<string, IssueSeverity>> = { fatal: "high", error: "medium" };

function issueOfDiagnostic(found: Fields): ReviewIssue {
  const span = fieldsOf(listOf(found, "labels")[0], "span");
  const location = fieldsOf(found, "location");
  const suggestion = textAt(found, "help");
  return {
    severity: DIAGNOSED[textAt(found, "severity")] ?? "low",
    message: textAt(found, "message") || textAt(found, "description"),
    file: textAt(found, "filename") || textAt(location, "path") || textAt(fieldsOf(location, "path"), "file"),
    line: lineAt(span, "line") || lineAt(fieldsOf(location, "start"), "line"),
    ...(suggestion !== "" && { suggestion }),
  };
}
