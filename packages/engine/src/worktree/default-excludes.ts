/**
 * What is left out of every workspace unless an ignore file, git's index or a tool says otherwise:
 * dependency, cache and build directories, and compiled files. A snapshot records the version of this
 * list, so a list that was ever released is never edited: a change is a new version.
 */
import { createPatternList, type PatternList } from "./ignore-pattern-list.ts";

export const DEFAULTS_VERSION = 1;

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

const VERSIONS: Readonly<Record<number, readonly string[]>> = {
  1: [...DIRECTORIES_1.map((name) => `${name}/`), ...FILES_1],
};

/** The default list of a version; undefined for one that only a newer Belay knows. */
export function defaultExcludes(version: number): PatternList | undefined {
  const patterns = VERSIONS[version];
  return (
    patterns &&
    createPatternList({
      content: Buffer.from(patterns.join("\n"), "latin1"),
      directory: "",
      label: (line) => `default: ${patterns[line - 1]!.replace("/", "")}`,
    })
  );
}
