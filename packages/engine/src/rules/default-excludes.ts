/**
 * What every workspace leaves out unless an ignore file, git's index or a tool names it: dependency, cache
 * and build directories, and compiled files. A snapshot records the version of this list, so a released list
 * is never edited: a change is a new version.
 * From version 2 on, what git ignores is captured within a budget, except the noise listed here.
 */
import { createPatternList, type PatternList } from "./ignore-pattern-list.ts";

/** The version of the list that new snapshots use. */
export const DEFAULTS_VERSION = 3;

const DIRECTORIES_1 = [
  "node_modules",
  ".venv",
  "venv",
  "env",
  ".next",
  ".turbo",
  "dist",
  "build",
  ".cache",
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  "target",
  "coverage",
  ".tox",
  ".vercel",
  ".nyc_output",
];
const FILES_1 = ["*.pyc", "*.pyo", "*.so", "*.dylib", "*.dll"];

const VERSION_1 = [...DIRECTORIES_1.map((name) => `${name}/`), ...FILES_1];

/** The state of programs that Belay takes the place of: their own records of the same files. */
const VERSION_3 = [...VERSION_1, ".agentsmithy/", ".mimir/context/", ".codebuddy/versions/"];

const VERSIONS: Readonly<Record<number, readonly string[]>> = { 1: VERSION_1, 2: VERSION_1, 3: VERSION_3 };

/** Git-ignored files that programs leave behind and rewrite by themselves. */
const NOISE_2 = [
  // logs and signs of a running program
  ..."*.log *.log.* *.pid *.sock *.tmp *.temp *.lock *.lck".split(" "),
  // editors and desktops
  ..."*.swp *.swo *.swn *~ .#* .DS_Store Thumbs.db desktop.ini".split(" "),
  // compiled files and the tools' caches of them
  ..."*.o *.obj *.a *.lib *.class *.exe *.pdb *.ilk *.gch *.pch *.d *.tsbuildinfo .eslintcache".split(" "),
  // coverage and test output
  ..."*.lcov *.gcda *.gcno *.gcov .coverage .coverage.* *.profraw *.profdata".split(" "),
  "test-results/",
  "playwright-report/",
  "htmlcov/",
  "lcov-report/",
  "bower_components/",
  ".gradle/",
  ".parcel-cache/",
  ".nuxt/",
  ".output/",
  ".svelte-kit/",
  ".angular/",
  ".ruff_cache/",
  ".hypothesis/",
  ".eggs/",
  "*.egg-info/",
  ".terraform/",
];

/** The default list of a version; undefined for a version that only a newer Belay knows. */
export function defaultExcludes(version: number): PatternList | undefined {
  return listOf(VERSIONS[version]);
}

/** The git-ignored files that are left out; undefined for a version that captures none of them. */
export function ignoredNoise(version: number): PatternList | undefined {
  return version >= 2 ? listOf(NOISE_2) : undefined;
}

function listOf(patterns: readonly string[] | undefined): PatternList | undefined {
  return (
    patterns &&
    createPatternList({
      layer: "defaults",
      content: Buffer.from(patterns.join("\n"), "latin1"),
      directory: "",
      label: (line) => `default: ${patterns[line - 1]!.replace("/", "")}`,
    })
  );
}
