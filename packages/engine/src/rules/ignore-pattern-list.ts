/**
 * The rules of one ignore file, arranged so that a name is looked up instead of tried against every line:
 * literal names and `*.ext` are map keys, only real wildcards are matched one by one.
 * No content makes it throw. Content beyond the limits is cut off between two lines, so that no rule is ever
 * half a rule.
 */
import type { IgnoreLayer } from "../model/rules.ts";
import type { Glob } from "./ignore-glob.ts";
import { parseIgnoreLine } from "./ignore-pattern.ts";
import { NameFilter } from "./name-filter.ts";

/** Only this much of an ignore file counts. */
export const IGNORE_FILE_LIMIT = 1024 * 1024;
/** An ignore file ends at this many rules that must be tried one by one. */
const WILDCARD_RULE_LIMIT = 4096;

/** The rule that leaves something out, such as ".gitignore:3" or "default: node_modules". */
export interface Excluded {
  readonly excludedBy: string;
}

/** Where a rule comes from. */
export type RuleLayer = IgnoreLayer | "defaults";

/** One line of an ignore file. */
export interface IgnoreRule {
  readonly layer: RuleLayer;
  readonly line: number;
  readonly directoriesOnly: boolean;
  /** The directory the name must be in, relative to the repository's top level; undefined = any. */
  readonly within: string | undefined;
  /** The verdict on a match; undefined for a negative rule. */
  readonly excluded: Excluded | undefined;
}

/** A rule that must be matched byte by byte. */
export interface WildcardRule extends IgnoreRule {
  readonly glob: Glob;
}

/** The rules of one file. Every array is in the order of trial: the last line first. */
export interface PatternList {
  /** The directory of the file, relative to the repository's top level. */
  readonly directory: string;
  readonly byName: ReadonlyMap<string, readonly IgnoreRule[]>;
  readonly byExtension: ReadonlyMap<string, readonly IgnoreRule[]>;
  /** Other rules for names. */
  readonly nameRules: readonly WildcardRule[];
  /** Rules for the whole path below `directory`. */
  readonly pathRules: readonly WildcardRule[];
  /** Passes every name that a rule can match, except by `pathRules`. */
  readonly filter: NameFilter;
}

/** The ignore file to parse. */
export interface PatternListSource {
  readonly layer: RuleLayer;
  readonly content: Buffer;
  readonly directory: string;
  /** How a verdict names the rule of a line. */
  label(line: number): string;
}

/** Parses an ignore file; undefined when it has no rules. */
export function createPatternList(source: PatternListSource): PatternList | undefined {
  const byName = new Map<string, IgnoreRule[]>();
  const byExtension = new Map<string, IgnoreRule[]>();
  const nameRules: WildcardRule[] = [];
  const pathRules: WildcardRule[] = [];
  const filter = new NameFilter();
  for (const [index, text] of ignoreLines(source.content).entries()) {
    if (nameRules.length + pathRules.length === WILDCARD_RULE_LIMIT) break;
    const pattern = parseIgnoreLine(text);
    if (pattern === undefined) continue;
    const { negative, directoriesOnly, test } = pattern;
    const line = index + 1;
    const excluded = negative ? undefined : { excludedBy: source.label(line) };
    const rule = { layer: source.layer, line, directoriesOnly, within: undefined, excluded };
    if (test.kind === "name") {
      addRule(byName, test.name, { ...rule, within: placeWithin(source.directory, test.within) });
      filter.addName(test.name);
    } else if (test.kind === "path") {
      pathRules.push({ ...rule, glob: test.glob });
    } else {
      filter.addGlob(test.glob);
      if (isExtension(test.glob)) addRule(byExtension, test.glob.suffix, rule);
      else nameRules.push({ ...rule, glob: test.glob });
    }
  }
  if (byName.size + byExtension.size + nameRules.length + pathRules.length === 0) return undefined;
  for (const rules of [...byName.values(), ...byExtension.values(), nameRules, pathRules]) rules.reverse();
  return { directory: source.directory, byName, byExtension, nameRules, pathRules, filter };
}

/** True for `*.ext` with one dot only: it equals the end of a name from its last dot on. */
function isExtension(glob: Glob): boolean {
  return glob.isSuffix && /^\.[^.]*$/.test(glob.suffix);
}

const BYTE_ORDER_MARK = "\xef\xbb\xbf";

function ignoreLines(content: Buffer): string[] {
  let text = content.toString("latin1", 0, IGNORE_FILE_LIMIT);
  if (content.length > IGNORE_FILE_LIMIT) text = text.slice(0, text.lastIndexOf("\n") + 1);
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
  return text.split("\n");
}

function placeWithin(directory: string, within: string | undefined): string | undefined {
  if (within === undefined || directory === "") return within;
  return within === "" ? directory : `${directory}/${within}`;
}

function addRule(rules: Map<string, IgnoreRule[]>, key: string, rule: IgnoreRule): void {
  const sameKey = rules.get(key);
  if (sameKey === undefined) rules.set(key, [rule]);
  else sameKey.push(rule);
}
