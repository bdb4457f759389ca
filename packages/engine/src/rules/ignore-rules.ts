/**
 * Decides what is captured: everything except, in layers, hard excludes, defaults, `.git/info/exclude`,
 * nested `.gitignore`s and nested `.belayignore`s. A stronger layer may re-include what a weaker one
 * excludes, but nothing below an excluded directory. What git's layers exclude is still captured within a
 * budget that the walker keeps, unless it is noise. Always captured: `.env*` files in visited directories,
 * paths in git's index and paths that a tool named, unless a `.belayignore` excludes them. Above all of it:
 * paths that this capture includes by name.
 * The walker goes from the top down, calls `verdict` for each name and enters directories by `child`.
 */
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { ExcludedDirectory, RecordedRules } from "../model/rules.ts";
import { defaultExcludes, DEFAULTS_VERSION, ignoredNoise } from "./default-excludes.ts";
import { hardExclude } from "./hard-excludes.ts";
import type { IgnoreLookup } from "./ignore-lookup.ts";
import type { Excluded, IgnoreRule, PatternList } from "./ignore-pattern-list.ts";
import type { IgnoreFiles, IgnoreStack } from "./ignore-stack.ts";
import { createListedPaths, type ListedPaths } from "./listed-paths.ts";
import { rootStack } from "./root-ignore-files.ts";

export { IGNORE_FILE_LIMIT } from "./ignore-pattern-list.ts";
export type { IgnoreFiles } from "./ignore-stack.ts";

/**
 * `ignored`: git ignores it, so it is captured within a budget.
 * `only-listed`: a directory that the rules exclude although something below it is always captured. The
 * walker records it and descends; the verdicts there admit only what is always captured.
 */
export type Verdict = "captured" | "ignored" | "only-listed" | Excluded;

/** Everything known before the walk. Ignore files below the root come through `child`. */
export type RulesInput = Partial<Omit<RecordedRules, "settings">>;

/** Facts that hold for the whole walk. */
interface Scope {
  readonly excluded: ReadonlyMap<BytePath, Excluded>;
  /** Ignored directories over their budget. */
  readonly over: Map<BytePath, Excluded>;
  readonly listed: ListedPaths;
  readonly included: ListedPaths;
  /** Where the workspace root lies in the repository. */
  readonly prefix: BytePath;
  /** Git-ignored paths are captured except these; undefined = none are captured. */
  readonly noise: PatternList | undefined;
}

/** The facts about a directory that the rules do not simply capture. */
interface Place {
  readonly stack: IgnoreStack;
  /** The rule by which git ignores it. */
  readonly ignored?: Excluded | undefined;
  /**
   * Set when it is visited only for listed paths below it: the rule that excludes it, and for which paths.
   */
  readonly onlyListed?: OnlyListed | undefined;
}

interface OnlyListed {
  readonly excluded: Excluded;
  /** True when git's index, tools and `.env*` do not count here. */
  readonly onlyIncluded: boolean;
}

/** The rules in the workspace root. */
export function createRules(input: RulesInput): DirectoryRules {
  const prefix = input.prefix ?? ROOT_PATH;
  const version = input.defaultsVersion ?? DEFAULTS_VERSION;
  const scope: Scope = {
    excluded: byPath(input.excluded),
    over: byPath(input.overBudget),
    listed: createListedPaths(input.tracked ?? [], input.named ?? []),
    included: createListedPaths(input.included ?? []),
    prefix,
    noise: ignoredNoise(version),
  };
  const stack = rootStack(prefix, input.ignoreFiles ?? []).withDefaults(defaultExcludes(version));
  return new DirectoryRules(scope, ROOT_PATH, { stack });
}

/** The rules in the workspace root where nothing but what is included by name counts. */
export function createNamedRules({ included = [], excluded }: RulesInput): DirectoryRules {
  const scope: Scope = {
    excluded: byPath(excluded),
    over: new Map(),
    listed: createListedPaths(),
    included: createListedPaths(included),
    prefix: ROOT_PATH,
    noise: undefined,
  };
  const onlyListed = { excluded: { excludedBy: "not named" }, onlyIncluded: true };
  return new DirectoryRules(scope, ROOT_PATH, { stack: rootStack(ROOT_PATH, []), onlyListed });
}

function byPath(list: readonly ExcludedDirectory[] = []): Map<BytePath, Excluded> {
  return new Map(list.map(({ path, reason }) => [path, { excludedBy: reason }]));
}

/** The rules in force in one directory. */
export class DirectoryRules {
  readonly path: BytePath;
  readonly #scope: Scope;
  readonly #place: Place;
  #lookup: IgnoreLookup | undefined;
  #noiseLookup: IgnoreLookup | undefined;

  /** Called by `createRules` and `child` only. */
  constructor(scope: Scope, path: BytePath, place: Place) {
    this.path = path;
    this.#scope = scope;
    this.#place = place;
  }

  /** True inside a directory that git ignores. */
  get isIgnored(): boolean {
    return this.#place.ignored !== undefined;
  }

  /** The verdict on a name in this directory. A symbolic link to a directory is not a directory. */
  verdict(name: string, isDirectory: boolean): Verdict {
    const always = hardExclude(name) ?? this.#givenExclude(name);
    if (always !== undefined) return always;
    const { onlyListed } = this.#place;
    if (onlyListed !== undefined) return this.#unlessAlwaysIn(name, isDirectory, onlyListed);
    const { excluded, ignored, isFinal } = this.#judge(name, isDirectory);
    if (excluded !== undefined)
      return this.#unlessAlwaysIn(name, isDirectory, { excluded, onlyIncluded: isFinal });
    if (ignored === undefined) return "captured";
    const over = isDirectory ? this.#scope.over.get(joinPath(this.path, name)) : undefined;
    if (over !== undefined)
      return this.#unlessAlwaysIn(name, isDirectory, { excluded: over, onlyIncluded: false });
    return !isDirectory && this.#isAlwaysIn(name) ? "captured" : "ignored";
  }

  /** The rule by which git ignores a name here, or the directory itself. */
  ignoredBy(name: string, isDirectory: boolean): string {
    return this.#judge(name, isDirectory).ignored?.excludedBy ?? "";
  }

  /** True for a file that git ignores and that neither its index nor a tool names. */
  isIgnoredFile(name: string): boolean {
    const { ignored } = this.#judge(name, false);
    return ignored !== undefined && !this.#scope.listed.has(joinPath(this.path, name));
  }

  /** Excludes an ignored directory from now on because it is over its budget. */
  leaveOut(name: string, reason: string): void {
    this.#scope.over.set(joinPath(this.path, name), { excludedBy: reason });
  }

  /** Every ignored directory over its budget. */
  get overBudget(): ExcludedDirectory[] {
    return [...this.#scope.over].map(([path, { excludedBy }]) => ({ path, reason: excludedBy }));
  }

  /** The rules of a directory here that will be visited, given its ignore files. */
  child(name: string, files: IgnoreFiles): DirectoryRules {
    const path = joinPath(this.path, name);
    const { stack, onlyListed } = this.#place;
    if (onlyListed !== undefined) return new DirectoryRules(this.#scope, path, { stack, onlyListed });
    const { excluded, ignored, isFinal } = this.#judge(name, true);
    const out = excluded ?? this.#scope.over.get(path);
    if (out !== undefined)
      return new DirectoryRules(this.#scope, path, {
        stack,
        onlyListed: { excluded: out, onlyIncluded: isFinal },
      });
    return ignored === undefined
      ? this.#ordinaryChild(path, files)
      : this.#ignoredChild(path, files, ignored);
  }

  #ordinaryChild(path: BytePath, files: IgnoreFiles): DirectoryRules {
    const stack = this.#place.stack.withFiles(files, this.#inRepository(path), path);
    return new DirectoryRules(this.#scope, path, { stack });
  }

  /** Git does not look inside, so git's ignore files in there do not count. */
  #ignoredChild(path: BytePath, { belayignore }: IgnoreFiles, ignored: Excluded): DirectoryRules {
    const inside = this.isIgnored ? this.#place.stack : this.#place.stack.insideIgnored(this.#scope.noise);
    const stack = inside.withFiles({ belayignore }, this.#inRepository(path), path);
    return new DirectoryRules(this.#scope, path, { stack, ignored });
  }

  /** The rules of a directory in which only paths included by name count. */
  strictChild(name: string, excludedBy: string): DirectoryRules {
    const onlyListed = { excluded: { excludedBy }, onlyIncluded: true };
    return new DirectoryRules(this.#scope, joinPath(this.path, name), {
      stack: this.#place.stack,
      onlyListed,
    });
  }

  /** True when something below a directory here is included by name. */
  hasIncludedBelow(name: string): boolean {
    return this.#scope.included.hasBelow(joinPath(this.path, name));
  }

  /** The verdict of the layers, before what is always captured. */
  #judge(name: string, isDirectory: boolean): Judgement {
    this.#lookup ??= this.#place.stack.at(this.#inRepository(this.path));
    const rule = this.#lookup.find(name, isDirectory);
    const { ignored } = this.#place;
    if (rule === undefined) return ignored === undefined ? NOT_EXCLUDED : { ...NOT_EXCLUDED, ignored };
    const { excluded } = rule;
    if (excluded === undefined || this.#scope.noise === undefined) return { ...NOT_EXCLUDED, excluded };
    if (rule.layer === "belayignore") return { excluded, ignored: undefined, isFinal: true };
    if (rule.layer === "defaults" || this.#isNoise(name, isDirectory)) return { ...NOT_EXCLUDED, excluded };
    return { ...NOT_EXCLUDED, ignored: excluded };
  }

  #isNoise(name: string, isDirectory: boolean): boolean {
    this.#noiseLookup ??= this.#place.stack
      .insideIgnored(this.#scope.noise)
      .at(this.#inRepository(this.path));
    return isExcluding(this.#noiseLookup.find(name, isDirectory));
  }

  #inRepository(path: BytePath): BytePath {
    const { prefix } = this.#scope;
    return path === "" ? prefix : joinPath(prefix, path);
  }

  #givenExclude(name: string): Excluded | undefined {
    const { excluded } = this.#scope;
    return excluded.size === 0 ? undefined : excluded.get(joinPath(this.path, name));
  }

  #unlessAlwaysIn(name: string, isDirectory: boolean, { excluded, onlyIncluded }: OnlyListed): Verdict {
    const { listed, included } = this.#scope;
    const path = joinPath(this.path, name);
    if (isDirectory) {
      const lists = onlyIncluded ? [included] : [included, listed];
      return lists.some((list) => list.has(path) || list.hasBelow(path)) ? "only-listed" : excluded;
    }
    const isIn = onlyIncluded ? included.has(path) : this.#isAlwaysIn(name);
    return isIn ? "captured" : excluded;
  }

  #isAlwaysIn(name: string): boolean {
    const { listed, included } = this.#scope;
    const path = joinPath(this.path, name);
    return name.startsWith(".env") || listed.has(path) || included.has(path);
  }
}

interface Judgement {
  /** The rule that excludes it. */
  readonly excluded: Excluded | undefined;
  /** The rule by which git ignores it. */
  readonly ignored: Excluded | undefined;
  /** True when a `.belayignore` decided. */
  readonly isFinal: boolean;
}

const NOT_EXCLUDED: Judgement = { excluded: undefined, ignored: undefined, isFinal: false };

function isExcluding(rule: IgnoreRule | undefined): boolean {
  return rule?.excluded !== undefined;
}
