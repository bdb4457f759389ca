/**
 * Asks the rules of an earlier snapshot whether they would have captured a path. Deleting needs a yes
 * (N6), so every doubt is a no: rules of a newer Belay, whose defaults are unknown here, capture nothing.
 */
import { baseName, parentPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { RecordedRules } from "../model/rules.ts";
import { defaultExcludes } from "./default-excludes.ts";
import { createRules, type DirectoryRules } from "./ignore-rules.ts";
import { filesByDirectory } from "./root-ignore-files.ts";

export interface RecordedMatcher {
  /** True when these rules capture the path, should it exist. */
  readonly wouldCapture: (path: BytePath, isDirectory: boolean) => boolean;
  /** True when git ignores the file, so that it is captured only within a budget, or left out. */
  readonly isIgnored: (path: BytePath) => boolean;
}

/** Keeps the state of each directory it has met: thousands of paths are cheap. */
export function createRecordedMatcher(recorded: RecordedRules): RecordedMatcher {
  if (defaultExcludes(recorded.defaultsVersion) === undefined)
    return { wouldCapture: () => false, isIgnored: () => false };
  const rulesIn = createRulesLookup(recorded);
  return {
    wouldCapture(path, isDirectory) {
      if (path === ROOT_PATH) return true;
      const rules = rulesIn(parentPath(path));
      return rules !== undefined && typeof rules.verdict(baseName(path), isDirectory) === "string";
    },
    isIgnored: (path) => rulesIn(parentPath(path))?.isIgnoredFile(baseName(path)) === true,
  };
}

/** The rules in force in each directory, made when they are asked for; undefined: nothing in it is captured. */
export function createRulesLookup(
  recorded: RecordedRules,
): (directory: BytePath) => DirectoryRules | undefined {
  const files = filesByDirectory(recorded.ignoreFiles);
  const known = new Map<BytePath, DirectoryRules | undefined>([[ROOT_PATH, createRules(recorded)]]);

  const rulesIn = (directory: BytePath): DirectoryRules | undefined => {
    if (known.has(directory)) return known.get(directory);
    const above = rulesIn(parentPath(directory));
    const name = baseName(directory);
    const isVisited = above !== undefined && typeof above.verdict(name, true) === "string";
    const rules = isVisited ? above.child(name, files.get(directory) ?? {}) : undefined;
    known.set(directory, rules);
    return rules;
  };
  return rulesIn;
}

/** One question; for several make one matcher. */
export function wouldCapture(recorded: RecordedRules, path: BytePath, isDirectory: boolean): boolean {
  return createRecordedMatcher(recorded).wouldCapture(path, isDirectory);
}

/**
 * Of the paths in git's index those that the rules capture only because they are in it: all that need be recorded.
 * What is ignored is among them: it would be captured within a budget only.
 */
export function trackedExceptions(rules: RecordedRules, tracked: readonly BytePath[]): BytePath[] {
  const rulesIn = createRulesLookup({ ...rules, tracked: [] });
  return tracked.filter((path) => rulesIn(parentPath(path))?.verdict(baseName(path), false) !== "captured");
}
