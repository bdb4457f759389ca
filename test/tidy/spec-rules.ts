/** The rules of `docs/spec.md` and the tests that prove them: neither without the other. */
import { isCode, isTest, type Check, type RepositoryFile } from "./repository.ts";
import { isNode, lineAt, walk, type SyntaxNode } from "./syntax.ts";

export const SPEC = "docs/spec.md";

/** `**R4**`, or a row of a table that begins with `| R4 |`. */
const RULE = /\*\*(R\d+)\*\*|^\|\s*(R\d+)\s*\|/gm;
/** Ids in square brackets: one, or several with commas between. */
const CITATION = /\[([A-Z]\d+(?:,\s*[A-Z]\d+)*)\]/g;
const TESTS = new Set(["test", "it", "describe"]);

/** Every rule is cited by the title of a test. */
export const checkRulesAreProved: Check = (files) => {
  const titles = files.filter((file) => isCode(file) && isTest(file)).flatMap(testTitles);
  const proved = new Set(titles.flatMap((title) => citations(title).map(({ rule }) => rule)));
  return [...rules(files)]
    .filter((rule) => !proved.has(rule))
    .map((rule) => `${rule}: no test title cites it`);
};

/** A rule has one meaning. */
export const checkRulesAreUnique: Check = (files) => {
  const spec = files.find(({ path }) => path === SPEC)?.text ?? "";
  const found = [...spec.matchAll(RULE)].map((match) => (match[1] ?? match[2])!);
  return found
    .filter((rule, index) => found.indexOf(rule) !== index)
    .map((rule) => `${SPEC}: ${rule} is there twice`);
};

/** Every citation in code is of a rule that exists. */
export const checkCitationsExist: Check = (files) => {
  const known = rules(files);
  return files.filter(isCode).flatMap((file) =>
    citations(file.text)
      .filter(({ rule }) => !known.has(rule))
      .map(({ rule, at }) => `${file.path}:${lineAt(file, at)}: ${SPEC} has no ${rule}`),
  );
};

function rules(files: readonly RepositoryFile[]): Set<string> {
  const spec = files.find(({ path }) => path === SPEC)?.text ?? "";
  return new Set([...spec.matchAll(RULE)].map((match) => (match[1] ?? match[2])!));
}

function citations(text: string): { rule: string; at: number }[] {
  return [...text.matchAll(CITATION)].flatMap((match) =>
    match[1]!
      .split(/,\s*/)
      .filter((id) => id.startsWith("R"))
      .map((rule) => ({ rule, at: match.index })),
  );
}

/** The titles of `test(…)`, `test.each(…)(…)`, `describe.skipIf(…)(…)` and their like. */
function testTitles(file: RepositoryFile): string[] {
  const titles: string[] = [];
  walk(file, (node) => {
    if (node.type !== "CallExpression" || !TESTS.has(rootName(node["callee"]))) return;
    const title = (node["arguments"] as SyntaxNode[])[0];
    if (title?.type === "Literal" || title?.type === "TemplateLiteral") {
      titles.push(file.text.slice(title.start, title.end));
    }
  });
  return titles;
}

/** `a` of `a.b(c).d`. */
function rootName(callee: unknown): string {
  let at = callee;
  while (isNode(at) && at.type !== "Identifier") at = at["callee"] ?? at["object"] ?? at["tag"];
  return isNode(at) ? String(at["name"]) : "";
}
