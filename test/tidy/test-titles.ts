/** What the titles of tests cite: ids in square brackets. */
import { isCode, isTest, type RepositoryFile } from "./repository.ts";
import { isNode, walk, type SyntaxNode } from "./syntax.ts";

/** Ids in square brackets: one, or several with commas between. */
const CITATION = /\[([A-Z]\d+(?:,\s*[A-Z]\d+)*)\]/g;
const TESTS = new Set(["test", "it", "describe"]);

/** Every id that a text cites, and where. */
export function citedIds(text: string): { id: string; at: number }[] {
  return [...text.matchAll(CITATION)].flatMap((match) =>
    match[1]!.split(/,\s*/).map((id) => ({ id, at: match.index })),
  );
}

/** The titles of `test(…)`, `test.each(…)(…)`, `describe.skipIf(…)(…)` and their like. No other file has any. */
export function testTitles(file: RepositoryFile): string[] {
  if (!isCode(file) || !isTest(file)) return [];
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
