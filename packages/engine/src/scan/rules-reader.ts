/**
 * Reads what the rules of a capture depend on: ignore files at and above the root, git's index, git's state.
 * The index is read only when it or the ignore files changed since the last capture; otherwise the exceptions
 * found then still hold.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { indexKey, readGitIndex } from "../git/git-index.ts";
import { findRepository, type Repository } from "../git/git-repository.ts";
import { createGitMemory, gitKey, readGitState, type GitMemory } from "../git/git-state.ts";
import type { StatOf } from "../git/git-dirty.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { ancestorPaths, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { GitState } from "../model/checkpoint.ts";
import { hashBytes } from "../model/object-hash.ts";
import {
  encodeRules,
  rulesOfNamed,
  type ExcludedDirectory,
  type IgnoreLayer,
  type RecordedIgnoreFile,
  type RecordedRules,
  type RuleSettings,
} from "../model/rules.ts";
import { DEFAULTS_VERSION } from "../rules/default-excludes.ts";
import type { FileTable } from "./file-table.ts";
import { IGNORE_FILE_LIMIT, type RulesInput } from "../rules/ignore-rules.ts";
import { trackedExceptions } from "../rules/recorded-rules.ts";
import type { Scan } from "./scan-request.ts";
import type { CacheFacts } from "./stat-cache.ts";
import { createStatLookup } from "./stat-lookup.ts";

/** The paths that one look treats in a way of its own. */
export interface RulesRequest {
  readonly named: readonly BytePath[];
  readonly excluded: readonly ExcludedDirectory[];
  readonly included?: readonly BytePath[] | undefined;
  /** Patterns of the caller, in force before those of the root's `.belayignore` and recorded with them. */
  readonly ignore?: readonly string[] | undefined;
  /** Nothing but what is named or included is seen. */
  readonly onlyNamed?: boolean | undefined;
}

/** What was read at and above the root. */
interface RootRules {
  readonly prefix: BytePath;
  readonly ignoreFiles: readonly RecordedIgnoreFile[];
}

/** A request with the settings, which influence what is captured and are recorded with the rules. */
export interface RecordRequest extends RulesRequest {
  readonly settings: RuleSettings;
}

/** A scan, the rules it went by, and the keys that tell whether they still hold. */
export interface AppliedRules {
  readonly scan: Scan;
  readonly rules: RecordedRules;
  readonly gitIndexKey: string;
  readonly rulesKey: string;
}

/** `sameRules`: the rules are presumed to be those of the last capture; that is checked afterwards. */
type ScanWith = (rules: RulesInput, sameRules: boolean) => Scan;

/** Reads the rules of one working copy. */
export class RulesReader {
  readonly #root: AbsolutePath;
  readonly #commandPath: string;
  #memory: { tree: object; git: GitMemory } | undefined;

  constructor(root: AbsolutePath, commandPath: string) {
    this.#root = root;
    this.#commandPath = commandPath;
  }

  /** The rules before the walk. */
  input(request: RulesRequest, repository: Repository | undefined): RulesInput & RootRules {
    return {
      defaultsVersion: DEFAULTS_VERSION,
      prefix: repository?.prefix ?? ROOT_PATH,
      ignoreFiles: withPatterns(this.#rootIgnoreFiles(repository), request.ignore ?? []),
      excluded: request.excluded,
      named: request.named,
      included: request.included ?? [],
    };
  }

  /**
   * Scans with the right exceptions: those found last time if nothing they depend on has changed. The rules
   * recorded are the ones the scan used; an ignore file that changes meanwhile counts for the next scan.
   */
  apply(request: RecordRequest, last: CacheFacts | undefined, scanWith: ScanWith): AppliedRules {
    const repository = findRepository(this.#root);
    const gitIndexKey = repository === undefined ? "" : indexKey(repository);
    const input = this.input(request, repository);
    if (last !== undefined && last.gitIndexKey === gitIndexKey) {
      const tracked = last.tracked as readonly BytePath[];
      const scan = scanWith({ ...input, tracked }, true);
      const rules = recordOf(request, input, scan);
      const rulesKey = keyOf(rules);
      if (rulesKey === last.rulesKey) return { scan, rules: { ...rules, tracked }, gitIndexKey, rulesKey };
    }
    const tracked =
      repository === undefined
        ? []
        : (readGitIndex(repository, { commandPath: this.#commandPath })?.paths ?? []);
    const scan = scanWith({ ...input, tracked }, false);
    const rules = recordOf(request, input, scan);
    return {
      scan,
      rules: { ...rules, tracked: trackedExceptions(rules, tracked) },
      gitIndexKey,
      rulesKey: keyOf(rules),
    };
  }

  /** [R1783] Scans exactly the named paths: no ignore file, index or state of git has a say, and none is read. */
  applyNamed(
    request: RecordRequest,
    scanWith: (rules: RulesInput, paths: readonly BytePath[]) => Scan,
  ): AppliedRules {
    const paths = [...new Set([...request.named, ...(request.included ?? [])])].sort();
    const scan = scanWith({ excluded: request.excluded, included: paths }, paths);
    const rules = rulesOfNamed(paths);
    return { scan, rules, gitIndexKey: "", rulesKey: keyOf(rules) };
  }

  /** Git's state; git lists what is staged again only when the commit or the index changed. */
  gitState(table: FileTable, last: CacheFacts | undefined): { state: GitState | null; key: string } {
    const repository = findRepository(this.#root);
    if (repository === undefined) return { state: null, key: "" };
    const options = { commandPath: this.#commandPath };
    const key = gitKey(repository, options);
    const previous =
      last?.gitState === null || last === undefined
        ? {}
        : { previous: { key: last.gitStateKey, state: last.gitState } };
    return { state: readGitState(repository, createStatLookup(table), { ...options, ...previous }), key };
  }

  /** Git's state for a table that is updated in place: only changed paths are examined. */
  liveGitState(
    repository: Repository | undefined,
    changed: Iterable<BytePath>,
    { tree, statOf, last }: { tree: object; statOf: StatOf; last: CacheFacts },
  ): { state: GitState | null; key: string } {
    if (repository === undefined) return { state: null, key: "" };
    if (this.#memory?.tree !== tree) this.#memory = { tree, git: createGitMemory() };
    const options = { commandPath: this.#commandPath, memory: this.#memory.git, changed };
    const previous =
      last.gitState === null ? {} : { previous: { key: last.gitStateKey, state: last.gitState } };
    const state = readGitState(repository, statOf, { ...options, ...previous });
    return { state, key: this.#memory.git.last?.key ?? "" };
  }

  /** From the repository's top level down to the root, plus `.git/info/exclude`. */
  #rootIgnoreFiles(repository: Repository | undefined): RecordedIgnoreFile[] {
    const files: RecordedIgnoreFile[] = [];
    const add = (path: string, layer: IgnoreLayer, absolute: AbsolutePath) => {
      const content = readSmallFile(absolute, IGNORE_FILE_LIMIT);
      if (content !== undefined) files.push({ path: path as BytePath, layer, content });
    };
    const depth =
      repository === undefined || repository.prefix === "" ? 0 : ancestorPaths(repository.prefix).length + 1;
    for (let up = depth; up >= 0; up -= 1) {
      const above = "../".repeat(up);
      const directory = below(this.#root, above === "" ? "" : above.slice(0, -1));
      add(`${above}.gitignore`, "gitignore", below(directory, ".gitignore"));
      add(`${above}.belayignore`, "belayignore", below(directory, ".belayignore"));
    }
    if (repository !== undefined)
      add(`${"../".repeat(depth)}.git/info/exclude`, "exclude", below(repository.commonDir, "info/exclude"));
    return files;
  }
}

const OWN_FILE = ".belayignore" as BytePath;

function withPatterns(
  files: readonly RecordedIgnoreFile[],
  patterns: readonly string[],
): readonly RecordedIgnoreFile[] {
  if (patterns.length === 0) return files;
  const own = files.find(({ path }) => path === OWN_FILE);
  const content = Buffer.from([...patterns, own?.content.toString("latin1") ?? ""].join("\n"), "latin1");
  return [...files.filter((file) => file !== own), { path: OWN_FILE, layer: "belayignore", content }];
}

function recordOf(request: RecordRequest, input: RootRules, scan: Scan): RecordedRules {
  return {
    defaultsVersion: DEFAULTS_VERSION,
    prefix: input.prefix,
    ignoreFiles: [...input.ignoreFiles, ...scan.ignoreFiles],
    excluded: request.excluded,
    named: request.named,
    tracked: [],
    included: request.included ?? [],
    overBudget: scan.overBudget,
    settings: request.settings,
  };
}

/** A key that distinguishes rules, whatever is in git's index. */
export function keyOf(rules: RecordedRules): string {
  return hashBytes(encodeRules(rules));
}
