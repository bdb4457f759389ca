/** The branch and commit of a repository, read from HEAD and the branch's file. */
import { displayPath, type BytePath } from "../model/byte-path.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { askGit, type GitCommandOptions } from "./git-command.ts";
import { readGitFile } from "./git-file.ts";
import type { Repository } from "./git-repository.ts";

/** The branch and commit that HEAD names. */
export interface GitHead {
  /** Null when HEAD is detached. */
  readonly branch: string | null;
  /** Null when there is no commit yet. */
  readonly commit: string | null;
}

const REF_LIMIT = 64 * 1024;
/** No repository has a larger list of packed refs. */
export const PACKED_REFS_LIMIT = 512 * 1024 * 1024;
/** Git follows this many symbolic references. */
const MOST_HOPS = 5;
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Reads HEAD; undefined when it cannot be parsed. */
export function readHead(repository: Repository, options: GitCommandOptions = {}): GitHead | undefined {
  if (!repository.hasRefFiles) return askForHead(repository, options);
  const head = readRefFile(below(repository.gitDir, "HEAD"));
  if (head === undefined) return undefined;
  if (COMMIT.test(head)) return { branch: null, commit: head };
  const ref = symbolicTarget(head);
  return ref === undefined ? undefined : { branch: branchName(ref), commit: resolveRef(repository, ref) };
}

function readRefFile(path: AbsolutePath): string | undefined {
  return readGitFile(path, REF_LIMIT)?.toString("latin1").trim();
}

/** The name in `ref: refs/…`. A name that could lead out of the repository is refused. */
function symbolicTarget(content: string): string | undefined {
  const ref = /^ref:\s*(refs\/[^\n\r]+)$/.exec(content)?.[1];
  return ref === undefined || ref.split("/").includes("..") ? undefined : ref;
}

function branchName(ref: string): string {
  return displayPath((ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : ref) as BytePath);
}

function resolveRef(repository: Repository, name: string): string | null {
  let ref: string | undefined = name;
  for (let hop = 0; hop < MOST_HOPS && ref !== undefined; hop += 1) {
    const content: string | undefined = readLooseRef(repository, ref) ?? readPackedRef(repository, ref);
    if (content === undefined) return null;
    if (COMMIT.test(content)) return content;
    ref = symbolicTarget(content);
  }
  return null;
}

/** Some names belong to a single worktree. */
function readLooseRef(repository: Repository, ref: string): string | undefined {
  const isPrivate = /^refs\/(?:bisect|worktree|rewritten)\//.test(ref);
  return readRefFile(below(isPrivate ? repository.gitDir : repository.commonDir, ref));
}

function readPackedRef(repository: Repository, ref: string): string | undefined {
  const packed = readGitFile(below(repository.commonDir, "packed-refs"), PACKED_REFS_LIMIT);
  const at = packed?.indexOf(` ${ref}\n`, 0, "latin1") ?? -1;
  if (packed === undefined || at < 0) return undefined;
  return packed.toString("latin1", packed.lastIndexOf(10, at) + 1, at);
}

function askForHead(repository: Repository, options: GitCommandOptions): GitHead | undefined {
  const ask = (...args: string[]) => askGit(repository, args, options)?.toString("latin1").trim();
  const branch = ask("symbolic-ref", "-q", "HEAD");
  const commit = ask("rev-parse", "-q", "--verify", "HEAD^{commit}");
  if (branch === undefined && commit === undefined) return undefined;
  return { branch: branch === undefined ? null : branchName(branch), commit: commit ?? null };
}
