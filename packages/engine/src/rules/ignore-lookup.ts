/**
 * Finds the rule that decides about a name in one directory: in the strongest list with a match, the last
 * matching line. One filter for all lists stops most names.
 */
import type { IgnoreRule, PatternList, WildcardRule } from "./ignore-pattern-list.ts";
import type { NameFilter } from "./name-filter.ts";

type PathRules = ReadonlyMap<PatternList, readonly WildcardRule[]>;

/** Looks up names of one directory. */
export class IgnoreLookup {
  readonly #lists: readonly PatternList[];
  readonly #filter: NameFilter;
  readonly #directory: string;
  /** The path rules that can match in this directory; nearly always none. */
  readonly #pathRules: PathRules | undefined;

  constructor(lists: readonly PatternList[], filter: NameFilter, directory: string) {
    this.#lists = lists;
    this.#filter = filter;
    this.#directory = directory;
    this.#pathRules = pathRulesIn(directory, lists);
  }

  find(name: string, isDirectory: boolean): IgnoreRule | undefined {
    if (this.#pathRules === undefined && !this.#filter.passes(name)) return undefined;
    const dot = name.lastIndexOf(".");
    const extension = dot < 0 ? "" : name.slice(dot);
    for (const list of this.#lists) {
      let found = this.#first(list.byName.get(name), isDirectory, 0);
      found = this.#first(list.byExtension.get(extension), isDirectory, found?.line ?? 0) ?? found;
      found = firstMatch(list.nameRules, name, isDirectory, found?.line ?? 0) ?? found;
      const pathRules = this.#pathRules?.get(list);
      if (pathRules !== undefined) {
        const path = placeBelow(list.directory, this.#directory) + name;
        found = firstMatch(pathRules, path, isDirectory, found?.line ?? 0) ?? found;
      }
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The first rule that applies among those below line `line`. */
  #first(
    rules: readonly IgnoreRule[] | undefined,
    isDirectory: boolean,
    line: number,
  ): IgnoreRule | undefined {
    if (rules === undefined) return undefined;
    for (const rule of rules) {
      if (rule.line < line) return undefined;
      const isHere = rule.within === undefined || rule.within === this.#directory;
      if (isHere && (isDirectory || !rule.directoriesOnly)) return rule;
    }
    return undefined;
  }
}

function firstMatch(
  rules: readonly WildcardRule[],
  text: string,
  isDirectory: boolean,
  line: number,
): WildcardRule | undefined {
  for (const rule of rules) {
    if (rule.line < line) return undefined;
    if ((isDirectory || !rule.directoriesOnly) && rule.glob.matches(text)) return rule;
  }
  return undefined;
}

function pathRulesIn(directory: string, lists: readonly PatternList[]): PathRules | undefined {
  let found: Map<PatternList, WildcardRule[]> | undefined;
  for (const list of lists) {
    if (list.pathRules.length === 0) continue;
    const here = placeBelow(list.directory, directory);
    const rules = list.pathRules.filter((rule) => canMatchIn(here, rule.glob.prefix));
    if (rules.length > 0) (found ??= new Map()).set(list, rules);
  }
  return found;
}

/** `directory` relative to one above it, ready to append a name. */
function placeBelow(above: string, directory: string): string {
  if (directory === above) return "";
  return `${above === "" ? directory : directory.slice(above.length + 1)}/`;
}

/** True when a path in this directory can begin with a pattern's literal beginning. */
function canMatchIn(directory: string, prefix: string): boolean {
  if (prefix.length <= directory.length) return directory.startsWith(prefix);
  return prefix.startsWith(directory) && !prefix.includes("/", directory.length);
}
