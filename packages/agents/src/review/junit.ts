/** JUnit's XML, which most test runners can write. */
import type { ReadIssues, ReviewIssue } from "./review-issue.ts";

/** Reads the test cases that failed or could not be run. */
export const readJunit: ReadIssues = (output) => {
  if (!/<testsuites?[\s>]/.test(output)) return undefined;
  return output
    .split(/<testcase(?=[\s/>])/)
    .slice(1)
    .flatMap(issueOfCase);
};

function issueOfCase(text: string): ReviewIssue[] {
  const end = text.indexOf("</testcase>");
  const inside = end === -1 ? text : text.slice(0, end);
  const found = /<(failure|error)(?=[\s/>])/.exec(inside);
  const head = /^(?:\s+[\w:.-]+="[^"]*")*/.exec(text)![0];
  // a case without content ends at once; what follows belongs to the document
  if (found === null || text.slice(head.length).trimStart().startsWith("/>")) return [];
  const rest = inside.slice(found.index + found[0].length);
  const reason = /^(?:\s+[\w:.-]+="[^"]*")*/.exec(rest)![0];
  const body = decoded(bodyOf(rest.slice(reason.length), found[1]!));
  const said = attribute(reason, "message") || body.trim().split("\n")[0] || found[1]!;
  const place = placeIn(body);
  return [
    {
      severity: found[1] === "error" ? "high" : "medium",
      message: `${attribute(head, "name")}: ${said.split("\n")[0]!}`,
      file: attribute(head, "file") || place.file,
      line: Number(attribute(head, "line")) || place.line,
    },
  ];
}

function bodyOf(text: string, element: string): string {
  const end = text.indexOf(`</${element}>`);
  return end === -1 ? "" : text.slice(text.indexOf(">") + 1, end);
}

/** Where a report or a stack leads: the last line that begins with a place, else the first place of a stack. */
function placeIn(body: string): { file: string; line: number } {
  const reported = [...body.matchAll(/^([^\s:]+):(\d+): /gm)].at(-1);
  const inStack = /[(\s]((?:[A-Za-z]:)?[^\s():]+\.\w+):(\d+)(?::\d+)?/.exec(body);
  const [, file = "", line = "0"] = reported ?? inStack ?? [];
  return { file, line: Number(line) };
}

function attribute(attributes: string, name: string): string {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(attributes);
  return decoded(found?.[1] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decoded(text: string): string {
  const inner = text.replace(/^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/, "$1");
  if (inner !== text) return inner;
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
