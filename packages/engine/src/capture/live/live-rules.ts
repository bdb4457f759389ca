/**
 * The rules of the last full scan, and whether they still hold. They depend on few things, all checked before
 * each capture: the ignore files at and above the root, git's index, the other workspaces, the settings, the
 * paths that tools named. The watcher reports ignore files further down. A newly named path leaves the rules
 * as they are everywhere else; any other change requires a full scan.
 */
import { indexKey, readGitIndex } from "../../git/git-index.ts";
import type { Repository } from "../../git/git-repository.ts";
import { ancestorPaths, baseName, isAtOrBelow, type BytePath } from "../../model/byte-path.ts";
import {
  canonicalJson,
  IGNORE_FILE_PATHS,
  type RecordedIgnoreFile,
  type RecordedRules,
} from "../../model/rules.ts";
import type { DirectoryRules } from "../../rules/ignore-rules.ts";
import { createRulesLookup, trackedExceptions } from "../../rules/recorded-rules.ts";
import { keyOf, type RulesReader, type RecordRequest } from "../../scan/rules-reader.ts";

/** The rules that the known tree was scanned by. */
export class LiveRules {
  readonly #reader: RulesReader;
  readonly #commandPath: string;
  #rules: RecordedRules;
  /** As text, to compare with: any other settings are other rules, so they never change here. */
  readonly #settings: string;
  #gitIndexKey: string;
  #rulesKey: string;
  #lookup: ((directory: BytePath) => DirectoryRules | undefined) | undefined;

  constructor(
    reader: RulesReader,
    commandPath: string,
    last: { rules: RecordedRules; gitIndexKey: string; rulesKey: string },
  ) {
    this.#reader = reader;
    this.#commandPath = commandPath;
    this.#rules = last.rules;
    this.#settings = canonicalJson(last.rules.settings);
    this.#gitIndexKey = last.gitIndexKey;
    this.#rulesKey = last.rulesKey;
  }

  get recorded(): RecordedRules {
    return this.#rules;
  }

  get keys(): { gitIndexKey: string; rulesKey: string } {
    return { gitIndexKey: this.#gitIndexKey, rulesKey: this.#rulesKey };
  }

  /** The rules in a directory; undefined: nothing in it is captured. */
  in(directory: BytePath): DirectoryRules | undefined {
    this.#lookup ??= createRulesLookup(this.#rules);
    return this.#lookup(directory);
  }

  /** The rules in an ignored directory as if it were within its budget. */
  inIgnored(root: BytePath): DirectoryRules | undefined {
    return createRulesLookup({ ...this.#rules, overBudget: [] })(root);
  }

  /** The directory at or above a path that was left out for its size. */
  overRootOf(path: BytePath): BytePath | undefined {
    return this.#rules.overBudget.find((over) => isAtOrBelow(path, over.path))?.path;
  }

  /** True when that is what was recorded. */
  isOverFor(root: BytePath, why: string): boolean {
    return this.#rules.overBudget.some(({ path, reason }) => path === root && reason.endsWith(`, ${why}`));
  }

  /** True when a directory, or one below it, has an ignore file of its own. */
  hasIgnoreFileBelow(directory: BytePath): boolean {
    return this.#rules.ignoreFiles.some(({ path }) => path !== directory && isAtOrBelow(path, directory));
  }

  /** The paths that were named since; undefined when the rules are no longer those of the last scan. */
  update(request: RecordRequest, repository: Repository | undefined): BytePath[] | undefined {
    const { prefix, ignoreFiles } = this.#reader.input(request, repository);
    const isSame =
      prefix === this.#rules.prefix &&
      sameFiles(ignoreFiles, this.#rules.ignoreFiles.filter(isAtRoot)) &&
      canonicalJson(request.settings) === this.#settings &&
      JSON.stringify(request.excluded) === JSON.stringify(this.#rules.excluded) &&
      samePaths(request.included ?? [], this.#rules.included) &&
      this.#hasSameTracked(repository);
    return isSame ? this.#addNamed(request.named) : undefined;
  }

  /** Git rewrites its index all the time; what counts is which of its paths the rules would leave out. */
  #hasSameTracked(repository: Repository | undefined): boolean {
    const key = repository === undefined ? "" : indexKey(repository);
    if (key === this.#gitIndexKey) return true;
    const paths =
      repository === undefined
        ? []
        : (readGitIndex(repository, { commandPath: this.#commandPath })?.paths ?? []);
    const tracked = trackedExceptions(this.#rules, paths);
    if (tracked.join("\0") !== this.#rules.tracked.join("\0")) return false;
    this.#gitIndexKey = key;
    return true;
  }

  #addNamed(named: readonly BytePath[]): BytePath[] | undefined {
    const known = new Set(this.#rules.named);
    const added = named.filter((path) => !known.has(path));
    if (known.size + added.length !== new Set(named).size) return undefined;
    if (added.length === 0) return [];
    this.#rules = { ...this.#rules, named };
    this.#rulesKey = keyOf({ ...this.#rules, tracked: [] });
    this.#lookup = undefined;
    return added.flatMap((path) => [...ancestorPaths(path), path]);
  }
}

/** True for names that a directory's rules are read from. */
export function isIgnoreFile(name: string): boolean {
  return name === IGNORE_FILE_PATHS.gitignore || name === IGNORE_FILE_PATHS.belayignore;
}

function isAtRoot({ path, layer }: RecordedIgnoreFile): boolean {
  return layer === "exclude" || path.replaceAll("../", "") === baseName(path);
}

/** Neither order nor repetition counts. */
function samePaths(a: readonly BytePath[], b: readonly BytePath[]): boolean {
  if (a.length === 0 && b.length === 0) return true;
  return JSON.stringify([...new Set(a)].sort()) === JSON.stringify([...new Set(b)].sort());
}

function sameFiles(a: readonly RecordedIgnoreFile[], b: readonly RecordedIgnoreFile[]): boolean {
  const texts = (files: readonly RecordedIgnoreFile[]) =>
    files.map(({ path, content }) => `${path}\0${content.toString("latin1")}`).sort();
  return JSON.stringify(texts(a)) === JSON.stringify(texts(b));
}
