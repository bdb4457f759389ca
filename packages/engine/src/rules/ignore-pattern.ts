/** One line of an ignore file and the cheapest way to test it. */
import { compileGlob, type Glob } from "./ignore-glob.ts";

/** A line of an ignore file, parsed. */
export interface IgnorePattern {
  /** `!pattern`: matches are not ignored. */
  readonly negative: boolean;
  readonly directoriesOnly: boolean;
  readonly test: PatternTest;
}

/**
 * The literal name, the directory it must be in (relative to the ignore file's), or the glob that must match.
 */
export type PatternTest =
  | { readonly kind: "name"; readonly name: string; readonly within?: string }
  | { readonly kind: "name-glob" | "path"; readonly glob: Glob };

/** Parses one line without its line feed; undefined for comments and for patterns that can never match. */
export function parseIgnoreLine(line: string): IgnorePattern | undefined {
  if (line.startsWith("#")) return undefined;
  let pattern = withoutTrailingSpaces(withoutTerminator(line));
  const negative = pattern.startsWith("!");
  if (negative) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith("/");
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  const test = pattern === "" ? undefined : createTest(pattern);
  return test && { negative, directoriesOnly, test };
}

function createTest(pattern: string): PatternTest | undefined {
  if (!pattern.includes("/")) return createNameTest(pattern);
  const anchored = pattern.startsWith("/") ? pattern.slice(1) : pattern;
  const anywhere = /^\*\*+\/([^/]+)$/.exec(anchored);
  return anywhere === null ? createPathTest(anchored) : createNameTest(anywhere[1]!);
}

function createNameTest(pattern: string): PatternTest | undefined {
  const glob = compileGlob(pattern);
  return glob?.isLiteral ? { kind: "name", name: glob.prefix } : glob && { kind: "name-glob", glob };
}

function createPathTest(pattern: string): PatternTest | undefined {
  const glob = compileGlob(pattern);
  if (!glob?.isLiteral) return glob && { kind: "path", glob };
  // no path has an empty component
  if (glob.prefix.startsWith("/")) return undefined;
  const slash = glob.prefix.lastIndexOf("/");
  return {
    kind: "name",
    name: glob.prefix.slice(slash + 1),
    within: glob.prefix.slice(0, Math.max(slash, 0)),
  };
}

/** Strips a carriage return before the line feed, and everything from a NUL on. */
function withoutTerminator(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const nul = text.indexOf("\0");
  return nul < 0 ? text : text.slice(0, nul);
}

function withoutTrailingSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === " ") end -= 1;
  let backslashes = 0;
  while (backslashes < end && text[end - 1 - backslashes] === "\\") backslashes += 1;
  // an odd number of backslashes escapes the first space
  return text.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}
