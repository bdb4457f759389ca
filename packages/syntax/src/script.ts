/** JavaScript and TypeScript, by oxc: whole trees, and the errors of a declaration made twice. */
import { parseSync, type Comment, type ParseResult } from "oxc-parser";
import type { Language } from "./language.ts";
import { lineCounter } from "./line-counter.ts";
import { scriptImports } from "./script-imports.ts";
import { scriptNames } from "./script-names.ts";
import { isNode, type TreeNode } from "./tree-node.ts";

/** Knows one form of the language. */
export function createScript(form: "jsx" | "ts" | "tsx" | "dts"): Language {
  const recent = new Map<string, ParseResult>();
  // a merge asks several things about each of a few texts
  const parse = (text: string): ParseResult => {
    const known = recent.get(text) ?? parseScript(text, form);
    if (recent.size >= RECENT_TEXTS) recent.clear();
    recent.set(text, known);
    return known;
  };
  return {
    parses: (text) => parse(text).errors.length === 0,
    sameSyntax(a, b) {
      const [left, right] = [parse(a), parse(b)];
      if (left.errors.length > 0 || right.errors.length > 0) return false;
      return isSame(left.program, right.program) && isSame(commentsOf(left), commentsOf(right));
    },
    names: (text) => scriptNames(programOf(parse(text)), lineCounter(text)),
    imports: (path, text) => scriptImports(path, programOf(parse(text)), lineCounter(text)),
  };
}

const RECENT_TEXTS = 6;

function parseScript(text: string, lang: "jsx" | "ts" | "tsx" | "dts"): ParseResult {
  return parseSync(`file.${lang}`, text, {
    lang,
    sourceType: "unambiguous",
    preserveParens: false,
    // a merge by lines often declares a name twice
    showSemanticErrors: true,
  });
}

function programOf({ program }: ParseResult): TreeNode {
  return program as unknown as TreeNode;
}

const POSITIONS = new Set(["start", "end", "range", "loc", "parent"]);

/** Equal but for where they stand. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a).filter((key) => !POSITIONS.has(key));
  if (keys.length !== Object.keys(b).filter((key) => !POSITIONS.has(key)).length) return false;
  return keys.every((key) =>
    isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

/** Each comment with the number of nodes that begin before it: where it stands, whatever the layout. */
function commentsOf(parsed: ParseResult): [Comment["type"], string, number][] {
  if (parsed.comments.length === 0) return [];
  const starts = startsOf(programOf(parsed)).sort((a, b) => a - b);
  return parsed.comments.map(({ type, value, start }) => [type, value, countBelow(starts, start)]);
}

function startsOf(value: unknown, starts: number[] = []): number[] {
  if (Array.isArray(value)) for (const each of value) startsOf(each, starts);
  else if (isNode(value)) {
    // the program itself begins with its first statement or its first comment
    if (value.type !== "Program") starts.push(value.start);
    for (const key of Object.keys(value)) startsOf(value[key], starts);
  }
  return starts;
}

function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
