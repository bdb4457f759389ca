/**
 * Colours of code, one line at a time: comments, strings, numbers and keywords of common languages. It reads no grammar
 * and keeps no state from line to line; a wrong colour is possible and harms nothing.
 */
import type { CodePart } from "../../frame/line.ts";

/** A piece of a line of code. */
export interface Token {
  readonly text: string;
  readonly code: CodePart | undefined;
}

interface Language {
  readonly comment: string;
  readonly keywords: ReadonlySet<string>;
}

const words = (text: string) => new Set(text.split(" "));
const C_COMMENT = String.raw`\/\/.*|\/\*.*?(?:\*\/|$)`;
const HASH_COMMENT = "#.*";

const LANGUAGES = {
  script: {
    comment: C_COMMENT,
    keywords: words(
      "abstract as async await break case catch class const continue declare default delete do else enum export extends false finally for from function if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies static super switch this throw true try type typeof undefined using var void while with yield",
    ),
  },
  python: {
    comment: HASH_COMMENT,
    keywords: words(
      "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    ),
  },
  c: {
    comment: C_COMMENT,
    keywords: words(
      "abstract auto bool break case catch char class const constexpr continue default defer delete do double else enum explicit export extends extern false final float fn for func go goto if impl implements import in inline int interface internal let long loop match mod mut namespace new nil null nullptr operator override package private protected pub public range return self short signed sizeof static struct super switch template this throw throws trait true try type typedef union unsafe unsigned use using var virtual void volatile where while",
    ),
  },
  shell: {
    comment: `(?<=^|\\s)${HASH_COMMENT}`,
    keywords: words(
      "begin break case class continue def do done elif else elsif end ensure esac exit export fi for function if in local module next nil rescue return self set shift source then true false trap unless until unset when while yield",
    ),
  },
  data: { comment: HASH_COMMENT, keywords: words("true false null yes no on off") },
  sql: {
    comment: String.raw`--.*|\/\*.*?(?:\*\/|$)`,
    keywords: words(
      "add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from group having if in index inner insert into is join key left like limit not null on or order outer primary references right rollback select set table then transaction union unique update values view when where with",
    ),
  },
  style: {
    comment: String.raw`\/\*.*?(?:\*\/|$)`,
    keywords: words("important media import supports keyframes from to"),
  },
  markup: { comment: "<!--.*?(?:-->|$)", keywords: words("") },
} as const satisfies Record<string, Language>;

const BY_EXTENSION: Readonly<Record<string, keyof typeof LANGUAGES>> = Object.fromEntries(
  (
    [
      ["script", "ts tsx js jsx mjs cjs mts cts vue svelte json5 jsonc"],
      ["python", "py pyi"],
      ["c", "c h cc cpp cxx hpp cs java kt kts swift go rs scala dart php zig m mm proto"],
      ["shell", "sh bash zsh fish rb pl lua ex exs mk cmake dockerfile makefile"],
      ["data", "json yaml yml toml ini cfg conf env properties tf hcl"],
      ["sql", "sql"],
      ["style", "css scss less"],
      ["markup", "html htm xml svg"],
    ] as const
  ).flatMap(([language, extensions]) => extensions.split(" ").map((extension) => [extension, language])),
);

const STRING = String.raw`"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)|${"`"}(?:[^${"`"}\\]|\\.)*(?:${"`"}|$)`;
const NUMBER = String.raw`\b(?:0x[\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\b`;

/** Colours the lines of one file in order; undefined for a language that is not known. */
export function syntaxOf(path: string): ((line: string) => Token[]) | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const key = BY_EXTENSION[name.slice(name.lastIndexOf(".") + 1)];
  if (key === undefined) return undefined;
  const { comment, keywords }: Language = LANGUAGES[key];
  const isUpper = key === "sql";
  const pattern = new RegExp(
    `(?<comment>${comment})|(?<string>${STRING})|(?<number>${NUMBER})|(?<word>[A-Za-z_$][\\w$]*)`,
    "giu",
  );
  return (line) => tokensOf(line, pattern, (word) => keywords.has(isUpper ? word.toLowerCase() : word));
}

function tokensOf(line: string, pattern: RegExp, isKeyword: (word: string) => boolean): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const match of line.matchAll(pattern)) {
    if (match.index > at) tokens.push({ text: line.slice(at, match.index), code: undefined });
    tokens.push({ text: match[0], code: partOf(match.groups!, isKeyword) });
    at = match.index + match[0].length;
  }
  if (at < line.length) tokens.push({ text: line.slice(at), code: undefined });
  return tokens;
}

function partOf(
  { comment, string, number, word }: Record<string, string | undefined>,
  isKeyword: (word: string) => boolean,
): CodePart | undefined {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (number !== undefined) return "number";
  return isKeyword(word!) ? "keyword" : undefined;
}
