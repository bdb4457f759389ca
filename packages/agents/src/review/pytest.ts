/** What pytest prints: its summary says what failed, the reports above it where. */
import { plainText } from "./plain-text.ts";
import type { ReadIssues, ReviewIssue } from "./review-issue.ts";

const SUMMARY = /^(FAILED|ERROR) ([^\s:]+(?:\.\w+)?)(?:::(\S+))?(?: - (.*))?$/;
const TITLE = /^_{3,} (.+?) _{3,}$/;
const REPORTED = /^([^\s:]+\.py):(\d+): (\w*(?:Error|Exception|Failed|Exit)\w*.*)$/;

/** Reads failed tests, and errors while tests were collected or set up. */
export const readPytest: ReadIssues = (output) => {
  const lines = plainText(output).split("\n");
  const reports = reportsIn(lines);
  const summed = lines.flatMap((line) => issueOfSummary(line, reports, lines));
  if (summed.length > 0) return summed;
  if (!lines.some((line) => /^=+ (FAILURES|ERRORS) =+$/.test(line))) return undefined;
  const told = lines.flatMap((line): ReviewIssue[] => {
    const [, file, at, message] = REPORTED.exec(line) ?? [];
    return file === undefined ? [] : [{ severity: "medium", message: message!, file, line: Number(at) }];
  });
  return told.length === 0 ? undefined : told;
};

type Reports = readonly { readonly title: string; readonly lines: readonly string[] }[];

function reportsIn(lines: readonly string[]): Reports {
  const reports: { title: string; lines: string[] }[] = [];
  for (const line of lines) {
    const title = TITLE.exec(line)?.[1];
    if (title !== undefined) reports.push({ title, lines: [] });
    else if (/^=+ .* =+$/.test(line)) reports.push({ title: "", lines: [] });
    else reports.at(-1)?.lines.push(line);
  }
  return reports;
}

function issueOfSummary(line: string, reports: Reports, lines: readonly string[]): ReviewIssue[] {
  const [, outcome, file, test, said] = SUMMARY.exec(line) ?? [];
  if (outcome === undefined || file === undefined) return [];
  const name = test?.replaceAll("::", ".");
  const report = reports.find(({ title }) =>
    name === undefined
      ? title === `ERROR collecting ${file}`
      : title === name || title.endsWith(` of ${name}`),
  );
  const raised = report?.lines
    .find((each) => /^E {2,}\S/.test(each))
    ?.slice(1)
    .trim();
  const message = said ?? raised ?? "it could not be collected";
  return [
    {
      severity: outcome === "ERROR" ? "high" : "medium",
      message: test === undefined ? message : `${test}: ${message}`,
      file,
      line: lineOf(file, report?.lines ?? lines),
    },
  ];
}

/** The last place in the file that a report names: the assertion, not the call that led there. */
function lineOf(file: string, lines: readonly string[]): number {
  const named = lines.findLast((line) => line.startsWith(`${file}:`) || line.includes(`/${file}:`));
  return Number(/:(\d+):/.exec(named ?? "")?.[1] ?? 0);
}
