/** SARIF 2.1, which most analysers can write. */
import { fieldsOf, isFields, jsonIn, lineAt, listOf, textAt, type Fields } from "./json-output.ts";
import type { IssueSeverity, ReadIssues, ReviewIssue } from "./review-issue.ts";

/** Reads SARIF: results that are neither suppressed nor passed. */
export const readSarif: ReadIssues = (output) => {
  const document = jsonIn(output);
  if (!isFields(document) || !Array.isArray(document["runs"])) return undefined;
  return document["runs"].flatMap(issuesOfRun);
};

function issuesOfRun(run: unknown): ReviewIssue[] {
  const rules = listOf(fieldsOf(fieldsOf(run, "tool"), "driver"), "rules");
  const byId = new Map(rules.map((rule) => [textAt(rule, "id"), rule]));
  const found = listOf(run, "results")
    .filter(isFields)
    .flatMap((result) => {
      const rule = byId.get(textAt(result, "ruleId")) ?? rules[Number(result["ruleIndex"] ?? -1)];
      const severity = severityOf(result, isFields(rule) ? rule : {});
      if (severity === undefined || listOf(result, "suppressions").length > 0) return [];
      return [issueOf(result, severity)];
    });
  // a file that the tool could not read at all is not among the results
  const failures = listOf(run, "invocations")
    .flatMap((invocation) => [
      ...listOf(invocation, "toolExecutionNotifications"),
      ...listOf(invocation, "toolConfigurationNotifications"),
    ])
    .filter(isFields)
    .filter((notification) => textAt(notification, "level") === "error");
  return [...failures.map((failure) => issueOf(failure, "high")), ...found];
}

function issueOf(result: Fields, severity: IssueSeverity): ReviewIssue {
  const place = fieldsOf(listOf(result, "locations")[0], "physicalLocation");
  const suggestion = textAt(fieldsOf(listOf(result, "fixes")[0], "description"), "text");
  return {
    severity,
    message: textAt(fieldsOf(result, "message"), "text") || textAt(result, "ruleId"),
    file: decoded(textAt(fieldsOf(place, "artifactLocation"), "uri")),
    line: lineAt(fieldsOf(place, "region"), "startLine"),
    ...(suggestion !== "" && { suggestion }),
  };
}

function severityOf(result: Fields, rule: Fields): IssueSeverity | undefined {
  const kind = textAt(result, "kind");
  if (kind !== "" && kind !== "fail") return undefined;
  const level =
    textAt(result, "level") || textAt(fieldsOf(rule, "defaultConfiguration"), "level") || "warning";
  const score = Number(
    fieldsOf(result, "properties")["security-severity"] ?? fieldsOf(rule, "properties")["security-severity"],
  );
  if (score >= 9) return "critical";
  if (score >= 7) return "high";
  if (level === "none") return undefined;
  return level === "error" ? "medium" : "low";
}

/** A name in a URI has its spaces as %20; one that cannot be decoded stays as it is. */
function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
