/**
 * What is captured: everything except, in layers, hard excludes, defaults, `.git/info/exclude`, nested
 * `.gitignore`s and nested `.belayignore`s; a stronger layer may take back what a weaker one excludes, but
 * nothing below an excluded directory. Always in, whatever the layers say: `.env*` files in directories
 * that are visited, paths in git's index and paths that a tool named; above all of it, paths that this capture
 * includes by name.
 * The walker goes from the top down, asks `verdict` about each name and enters directories by `child`.
 */
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { RecordedRules } from "../model/rules.ts";
import { defaultExcludes, DEFAULTS_VERSION } from "./default-excludes.ts";
import { hardExclude } from "./hard-excludes.ts";
import type { IgnoreLookup } from "./ignore-lookup.ts";
import type { Excluded } from "./ignore-pattern-list.ts";
import type { IgnoreFiles, IgnoreStack } from "./ignore-stack.ts";
import { createListedPaths, type ListedPaths } from "./listed-paths.ts";
import { rootStack } from "./root-ignore-files.ts";

export { IGNORE_FILE_LIMIT } from "./ignore-pattern-list.ts";
export type { IgnoreFiles } from "./ignore-stack.ts";

/**
 * `only-listed`: a directory that the rules exclude although something below it is always in; the walker
 * records it, descends, and the verdicts there let through nothing but what is always in.
 */
export type Verdict = "captured" | "only-listed" | Excluded;

/** Everything known before the walk. Ignore files deeper than the root come through `child`. */
export type RulesInput = Partial<Omit<RecordedRules, "settings">>;

/** What holds for the whole walk. */
interface Scope {
  readonly excluded: ReadonlyMap<BytePath, Excluded>;
  readonly listed: ListedPaths;
  readonly included: ListedPaths;
  /** Where the workspace root is inside the repository. */
  readonly prefix: BytePath;
}

interface OnlyListed {
  readonly excluded: Excluded;
  /** Neither git's index nor tools nor `.env*` have a say. */
  readonly onlyIncluded: boolean;
}

/** The rules in the workspace root. */
export function createRules(input: RulesInput): DirectoryRules {
  const prefix = input.prefix ?? ROOT_PATH;
  const scope: Scope = {
    excluded: new Map((input.excluded ?? []).map(({ path, reason }) => [path, { excludedBy: reason }])),
    listed: createListedPaths(input.tracked ?? [], input.named ?? []),
    included: createListedPaths(input.included ?? []),
    prefix,
  };
  const defaults = defaultExcludes(input.defaultsVersion ?? DEFAULTS_VERSION);
  const stack = rootStack(prefix, input.ignoreFiles ?? []).withDefaults(defaults);
  return new DirectoryRules(scope, ROOT_PATH, { stack, onlyListed: undefined });
}

/** The rules in force in one directory. */
export class DirectoryRules {
  readonly path: BytePath;
  readonly #scope: Scope;
  readonly #stack: IgnoreStack;
  /** In an excluded directory that is visited for what is listed below: what excludes it, and from what. */
  readonly #onlyListed: OnlyListed | undefined;
  #lookup: IgnoreLookup | undefined;

  /** Use `createRules` and `child`. */
  constructor(
    scope: Scope,
    path: BytePath,
    state: { stack: IgnoreStack; onlyListed: OnlyListed | undefined },
  ) {
    this.path = path;
    this.#scope = scope;
    this.#stack = state.stack;
    this.#onlyListed = state.onlyListed;
  }

  /** What becomes of a name in this directory. A symbolic link to a directory is not a directory. */
  verdict(name: string, isDirectory: boolean): Verdict {
    const always = hardExclude(name) ?? (isDirectory ? this.#givenExclude(name) : undefined);
    if (always !== undefined) return always;
    const excluded = this.#excludedByRules(name, isDirectory);
    return excluded === undefined ? "captured" : this.#unlessAlwaysIn(name, isDirectory, excluded);
  }

  /** The rules in a directory here that is to be visited, given its own ignore files. */
  child(name: string, files: IgnoreFiles): DirectoryRules {
    const path = joinPath(this.path, name);
    const excluded = this.#excludedByRules(name, true);
    const onlyListed = excluded && { excluded, onlyIncluded: this.#onlyListed?.onlyIncluded ?? false };
    const stack = onlyListed ? this.#stack : this.#stack.withFiles(files, this.#inRepository(path), path);
    return new DirectoryRules(this.#scope, path, { stack, onlyListed });
  }

  /** The same for a directory in which nothing counts but what is included by name. */
  strictChild(name: string, excludedBy: string): DirectoryRules {
    const onlyListed = { excluded: { excludedBy }, onlyIncluded: true };
    return new DirectoryRules(this.#scope, joinPath(this.path, name), { stack: this.#stack, onlyListed });
  }

  /** True when something below a directory here is included by name. */
  hasIncludedBelow(name: string): boolean {
    return this.#scope.included.hasBelow(joinPath(this.path, name));
  }

  #excludedByRules(name: string, isDirectory: boolean): Excluded | undefined {
    if (this.#onlyListed !== undefined) return this.#onlyListed.excluded;
    this.#lookup ??= this.#stack.at(this.#inRepository(this.path));
    return this.#lookup.find(name, isDirectory)?.excluded;
  }

  #inRepository(path: BytePath): BytePath {
    const { prefix } = this.#scope;
    return path === "" ? prefix : joinPath(prefix, path);
  }

  #givenExclude(name: string): Excluded | undefined {
    const { excluded } = this.#scope;
    return excluded.size === 0 ? undefined : excluded.get(joinPath(this.path, name));
  }

  #unlessAlwaysIn(name: string, isDirectory: boolean, excluded: Excluded): Verdict {
    const { listed, included } = this.#scope;
    const path = joinPath(this.path, name);
    if (included.has(path)) return isDirectory ? "only-listed" : "captured";
    if (isDirectory && included.hasBelow(path)) return "only-listed";
    if (this.#onlyListed?.onlyIncluded === true) return excluded;
    if (isDirectory) return listed.has(path) || listed.hasBelow(path) ? "only-listed" : excluded;
    return name.startsWith(".env") || listed.has(path) ? "captured" : excluded;
  }
}
