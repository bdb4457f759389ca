/**
 * Commits that a repository has and the one whose objects it borrows (`alternates`) lacks. Files are only read: the settings
 * of such a repository are an agent's, and git would act on them.
 */
import { inflateSync } from "node:zlib";
import { below, parentOf, type AbsolutePath } from "../fs/absolute-path.ts";
import { isErrno, kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { readGitFile, statGitFile } from "./git-file.ts";
import { PACKED_REFS_LIMIT } from "./git-head.ts";

/** Commits that only one repository has. */
export interface OwnCommits {
  /** The branches and tags that lead to them. */
  readonly refs: readonly string[];
  /** How many there are; of packed ones only those count that a ref names. */
  readonly commits: number;
}

/** What the repository of a fork has and the one it borrows objects from lacks. */
export function ownCommits(fork: AbsolutePath): OwnCommits {
  const git = below(fork, ".git");
  const stat = statNode(git);
  if (stat === undefined || kindOf(stat) !== "directory") return { refs: [], commits: 0 };
  const packs = namesIn(below(git, "objects/pack")).some((name) => name.endsWith(".pack"));
  const objects = originalObjects(git);
  const known = new Set(objects === undefined ? [] : refsOf(parentOf(objects)).values());
  const isOwn = (commit: string) =>
    !known.has(commit) &&
    (hasLoose(below(git, "objects"), commit) ||
      (packs && !(objects !== undefined && hasLoose(objects, commit))));
  const own = [...refsOf(git)].filter(([, commit]) => isOwn(commit));
  return {
    refs: own.map(([name]) => name),
    commits: countFrom(
      below(git, "objects"),
      own.map(([, commit]) => commit),
    ),
  };
}

const MOST_COMMITS = 10_000;
const COMMIT_BYTES = 1024 * 1024;

/** Follows parents as far as the repository has them itself: what it borrows is not loose here. */
function countFrom(objects: AbsolutePath, tips: readonly string[]): number {
  const seen = new Set<string>(tips);
  let commits = 0;
  for (const name of seen) {
    const object = readLoose(objects, name);
    const isBorrowed = object === undefined && !tips.includes(name);
    // a tag counts with the commit that it names
    if (!isBorrowed && object?.startsWith("tag ") !== true) commits += 1;
    const next = object === undefined ? [] : object.matchAll(/^(?:parent|object) ([0-9a-f]{40,64})$/gm);
    for (const [, parent] of next) if (seen.size < MOST_COMMITS) seen.add(parent!);
  }
  return commits;
}

/** The beginning of a loose object, without its message; undefined where it is not loose here. */
function readLoose(objects: AbsolutePath, name: string): string | undefined {
  const bytes = readGitFile(below(objects, `${name.slice(0, 2)}/${name.slice(2)}`), COMMIT_BYTES);
  if (bytes === undefined) return undefined;
  try {
    const text = inflateSync(bytes, { maxOutputLength: COMMIT_BYTES }).toString("latin1");
    return text.replace("\0", "\n").split("\n\n", 1)[0];
  } catch {
    // it is not an object of git's
    return undefined;
  }
}

/** Where the objects of the original are; undefined for a repository that was made in the fork. */
function originalObjects(git: AbsolutePath): AbsolutePath | undefined {
  const line = readGitFile(below(git, "objects/info/alternates"), 64 * 1024)
    ?.toString("latin1")
    .split("\n")[0];
  return line?.startsWith("/") === true ? (line as AbsolutePath) : undefined;
}

function hasLoose(objects: AbsolutePath, name: string): boolean {
  return statGitFile(below(objects, `${name.slice(0, 2)}/${name.slice(2)}`)) !== undefined;
}

/** What the refs of a repository name: `git gc` packs them into one file, and a file of its own counts before that. */
function refsOf(git: AbsolutePath): Map<string, string> {
  const refs = new Map<string, string>();
  const packed = readGitFile(below(git, "packed-refs"), PACKED_REFS_LIMIT)?.toString("latin1") ?? "";
  for (const [, commit, name] of packed.matchAll(/^([0-9a-f]{40,64}) (\S+)$/gm)) refs.set(name!, commit!);
  for (const name of ["HEAD", ...refFiles(git, "refs")]) {
    const commit = readGitFile(below(git, name), 4096)?.toString("latin1").trim() ?? "";
    if (/^[0-9a-f]{40,64}$/.test(commit)) refs.set(name, commit);
  }
  return refs;
}

function refFiles(git: AbsolutePath, directory: string): string[] {
  return namesIn(below(git, directory)).flatMap((name) => {
    const path = `${directory}/${name}`;
    return statGitFile(below(git, path))?.isDirectory() === true ? refFiles(git, path) : [path];
  });
}

function namesIn(directory: AbsolutePath): string[] {
  try {
    return listDirectory(directory);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
