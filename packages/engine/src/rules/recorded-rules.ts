/**
 * Whether the rules of an earlier snapshot would have captured a path. Deleting requires proof (N6), so every doubt counts as no: the defaults of a newer Belay are unknown, so its rules count as capturing nothing.
 */
import { ancestorPaths, baseName, parentPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { coversOnlyNamed, type RecordedRules } from "../model/rules.ts";
import { defaultExcludes } from "./default-excludes.ts";
import { createRules, type DirectoryRules } from "./ignore-rules.ts";
import { filesByDirectory } from "./root-ignore-files.ts";

/** Answers questions about the rules of a snapshot. */
export interface RecordedMatcher {
  /** True when these rules capture the path if it exists. */
  readonly wouldCapture: (path: BytePath, isDirectory: boolean) => boolean;
  /** True when git ignores the file, so that it is captured within a budget or left out. */
  readonly isIgnored: (path: BytePath) => boolean;
}

/** Creates a matcher that caches each directory it visits, so that thousands of paths are cheap. */
export function createRecordedMatcher(recorded: RecordedRules): RecordedMatcher {
  if (coversOnlyNamed(recorded)) return matcherOfNamed(recorded.named);
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

/** [N6] The named paths, and the directories above them, would have been captured: nothing else. */
function matcherOfNamed(named: readonly BytePath[]): RecordedMatcher {
  const paths = new Set(named);
  const directories = new Set(named.flatMap(ancestorPaths));
  return {
    wouldCapture: (path, isDirectory) =>
      path === ROOT_PATH || paths.has(path) || (isDirectory && directories.has(path)),
    isIgnored: () => false,
  };
}

/** The rules in force in each directory, created on demand; undefined = nothing in it is captured. */
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

/** Answers one question; use one matcher for several. */
export function wouldCapture(recorded: RecordedRules, path: BytePath, isDirectory: boolean): boolean {
  return createRecordedMatcher(recorded).wouldCapture(path, isDirectory);
}

/**
 * The paths in git's index that the rules capture only because they are in it. Only these need to be
 * recorded. They include ignored paths, which would otherwise be captured within a budget only.
 */
export function trackedExceptions(rules: RecordedRules, tracked: readonly BytePath[]): BytePath[] {
  const rulesIn = createRulesLookup({ ...rules, tracked: [] });
  return tracked.filter((path) => rulesIn(parentPath(path))?.verdict(baseName(path), false) !== "captured");
}
