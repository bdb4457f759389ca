/**
 * Branch, commit, staged paths and dirtiness of the part of the repository that is in the workspace. Only
 * reads (N3): HEAD, refs and index from their files, staged paths from `git diff --cached`, which takes no
 * lock and refreshes nothing. (`git diff-index --cached` would write tree objects on a sparse index.)
 */
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { GitState } from "../model/checkpoint.ts";
import { askGit, type GitCommandOptions } from "./git-command.ts";
import { DirtyCheck, type StatOf } from "./git-dirty.ts";
import { findDirtyPaths, updateDirtyPaths } from "./git-dirty-paths.ts";
import { readHead, type GitHead } from "./git-head.ts";
import { indexKey, readGitIndex, type GitIndex } from "./git-index.ts";
import type { Repository } from "./git-repository.ts";

/** How to read git's state, and what is known already. */
export interface GitStateOptions extends GitCommandOptions {
  /** An earlier state and its `gitKey`. While the key holds, git is not run again for staged paths. */
  readonly previous?: { readonly key: string; readonly state: GitState };
  /** Makes repeated reads in one process cheap. */
  readonly memory?: GitMemory;
  /** The only paths that may have changed since the memory was last used. */
  readonly changed?: Iterable<BytePath>;
}

/** What one process caches between reads of one repository. */
export interface GitMemory {
  index: GitIndex | undefined;
  /** The paths that differ from `index`; undefined = unknown. */
  dirty: Set<BytePath> | undefined;
  readonly verified: Map<BytePath, string>;
  last: { key: string; state: GitState } | undefined;
}

/** An empty cache of git's state. */
export function createGitMemory(): GitMemory {
  return { index: undefined, dirty: undefined, verified: new Map(), last: undefined };
}

/** A key that changes whenever the commit or the index does. */
export function gitKey(repository: Repository, options: GitCommandOptions = {}): string {
  return keyOf(repository, readHead(repository, options));
}

function keyOf(repository: Repository, head: GitHead | undefined): string {
  return `${head?.commit ?? "no commit"} ${indexKey(repository)}`;
}

/** Reads git's state; null when its files cannot be read or git cannot be run. */
export function readGitState(
  repository: Repository,
  statOf: StatOf,
  options: GitStateOptions = {},
): GitState | null {
  const { memory, previous } = options;
  const head = readHead(repository, options);
  if (head === undefined) return null;
  const key = keyOf(repository, head);
  const known = [previous, memory?.last].find((earlier) => earlier?.key === key);
  const staged = known?.state.staged ?? readStaged(repository, head, options);
  if (staged === undefined) return null;
  const dirty = staged.length > 0 && memory === undefined ? true : isDirty(repository, statOf, options);
  if (dirty === undefined) return null;
  const state = { ...head, dirty: dirty || staged.length > 0, staged };
  if (memory !== undefined) memory.last = { key, state };
  return state;
}

const STAGED_ARGUMENTS = [
  "diff",
  "--cached",
  "--name-only",
  "-z",
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
  "--no-relative",
  "--ignore-submodules=dirty",
];

/** The paths whose index entry differs from the commit's, relative to the workspace root. */
function readStaged(repository: Repository, head: GitHead, options: GitStateOptions): string[] | undefined {
  if (head.commit === null) return allEntries(repository, options);
  const listing = askGit(repository, [...STAGED_ARGUMENTS, head.commit, "--"], options);
  if (listing === undefined) return undefined;
  const start = repository.prefix === "" ? "" : `${repository.prefix}/`;
  const paths = listing.toString("latin1").split("\0").slice(0, -1);
  const inside = paths.filter((path) => path.startsWith(start));
  return [...new Set(inside)].map((path) => displayPath(path.slice(start.length) as BytePath));
}

function allEntries(repository: Repository, options: GitStateOptions): string[] | undefined {
  const entries = currentIndex(repository, options)?.entries;
  const staged = entries?.paths.filter((_, at) => !entries.isIntendedOnly(at));
  return staged && [...new Set(staged)].map(displayPath);
}

function currentIndex(repository: Repository, options: GitStateOptions): GitIndex | null {
  const { memory } = options;
  if (memory?.index?.key === indexKey(repository)) return memory.index;
  const index = readGitIndex(repository, options);
  if (memory !== undefined) {
    memory.index = index ?? undefined;
    memory.dirty = undefined;
  }
  return index;
}

/** Whether anything differs from the index; undefined when the index cannot be read. */
function isDirty(repository: Repository, statOf: StatOf, options: GitStateOptions): boolean | undefined {
  const { memory, changed } = options;
  const index = currentIndex(repository, options);
  if (index === null) return undefined;
  const verified = memory?.verified ?? new Map<BytePath, string>();
  const check = new DirtyCheck({ repository, index, statOf, verified });
  const { paths } = index.entries;
  if (memory === undefined) return paths.some((_, at) => check.differs(at));
  if (memory.dirty !== undefined && changed !== undefined) {
    updateDirtyPaths(memory.dirty, { paths, check, changed });
  } else {
    memory.dirty = findDirtyPaths(paths, check);
  }
  return memory.dirty.size > 0;
}
