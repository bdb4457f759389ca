/**
 * What git writes into a repository for Belay: objects, and refs below `refs/belay/ghost/`. Ghosts of few changes are
 * written by `direct-commit.ts`.
 * Objects are imported from a git directory of our own, so that no setting, hook, attribute or filter of the user's is
 * read and no index exists; refs are set with the user's hooks and reflogs switched off.
 */
import { closeSync, openSync } from "node:fs";
import { below, displayAbsolute, forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { makePrivateDirectory, removeFile, replaceFile } from "../fs/durable-file.ts";
import { findWriters } from "../fs/file-writers.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { readSmallFile } from "../fs/read-file.ts";
import type { BytePath } from "../model/byte-path.ts";
import { howToRunGit, runGit, type GitAnswer, type GitCommandOptions } from "./git-command.ts";
import { readGitConfig } from "./git-config.ts";
import { statGitFile } from "./git-file.ts";
import { isLoose } from "./git-objects.ts";
import { addRefFile } from "./git-refs.ts";
import type { Repository } from "./git-repository.ts";

/** Where ghosts are among the refs. */
const GHOST_REFS = "refs/belay/ghost/";

/** The user's hooks do not run, no reflog appears, and git starts no upkeep. */
const QUIET = [
  ["core.hooksPath", "/dev/null"],
  ["core.logAllRefUpdates", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

/** An import may have to write a large tree. */
const IMPORT_TIMEOUT_MS = 10 * 60_000;

/** A file or gitlink of a commit. */
export interface CommitEntry {
  readonly mode: number;
  readonly object: string;
}

/** A ghost's ref, with the commit it leads to. */
export interface GhostRef {
  readonly id: string;
  readonly commit: string;
  readonly committedAt: number;
  readonly message: string;
}

/** What an import made. */
export interface ImportedCommit {
  readonly commit: string;
  readonly tree: string;
  /** The tree of the parent; null when there is none. */
  readonly parentTree: string | null;
  /** The objects that were written loose; undefined where git wrote them. */
  readonly written?: readonly string[];
}

/** The files of a commit below the workspace root, by their path in it. */
export function commitEntries(
  repository: Repository,
  commit: string,
  options: GitCommandOptions,
): Map<BytePath, CommitEntry> | { failed: string } {
  const { prefix } = repository;
  const answer = runGit(
    repository,
    ["--no-replace-objects", "ls-tree", "-r", "-z", "--full-tree", commit],
    options,
  );
  if ("failed" in answer) return answer;
  const start = prefix === "" ? "" : `${prefix}/`;
  const entries = new Map<BytePath, CommitEntry>();
  for (const line of answer.output.toString("latin1").split("\0")) {
    const tab = line.indexOf("\t");
    const path = line.slice(tab + 1);
    if (tab < 0 || !path.startsWith(start)) continue;
    const [mode, , object] = line.slice(0, tab).split(" ");
    entries.set(path.slice(start.length) as BytePath, {
      mode: Number.parseInt(mode!, 8),
      object: object!,
    });
  }
  return entries;
}

/** The contents of blobs by their names; those that the repository lacks are not among them, and nothing is fetched. */
export function readBlobs(
  repository: Repository,
  objects: readonly string[],
  options: GitCommandOptions,
): Map<string, Buffer> | { failed: string } {
  const blobs = new Map<string, Buffer>();
  if (objects.length === 0) return blobs;
  const input = Buffer.from(`${[...new Set(objects)].join("\n")}\n`, "latin1");
  const answer = runGit(repository, ["--no-replace-objects", "cat-file", "--batch"], { ...options, input });
  if ("failed" in answer) return answer;
  const { output } = answer;
  for (let at = 0; at < output.length;) {
    const end = output.indexOf("\n", at);
    const [name, kind, size] = output.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (kind !== "blob") continue;
    blobs.set(name!, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return blobs;
}

/** Why nothing can be written into a repository; undefined when it can. */
export function obstacle(
  repository: Repository,
  userId: number | undefined,
  options: GitCommandOptions,
): string | undefined {
  const how = howToRunGit(repository, options);
  if ("failed" in how) return how.failed;
  const stat = statGitFile(below(repository.commonDir, "objects"));
  if (stat === undefined) return "its objects cannot be reached";
  if (userId !== undefined && Number(stat.uid) !== userId) return "the repository belongs to another user";
  return undefined;
}

/** Git itself takes no notice of an older lock. */
const STALE_MS = 12 * 60 * 60_000;

/**
 * [R2433] Why no ref may be made now; undefined when it may. Git's clean-up decides at its start what nothing leads to, and an
 * object of a ref that comes later could go: then the ref leads nowhere, and every later clean-up of the user's fails.
 */
export function cleanUp({ commonDir }: Repository, now: number): string | undefined {
  const locks = ["gc.pid", "objects/maintenance.lock"].map((name) => statGitFile(below(commonDir, name)));
  const isRunning = locks.some((lock) => lock !== undefined && now - Number(lock.mtimeMs) < STALE_MS);
  return isRunning ? "git is cleaning up the repository (gc)" : undefined;
}

/** [R2433] Whether a commit and all that it has beyond its parent are in the repository. */
export function isWhole(
  repository: Repository,
  {
    commit,
    parent,
    written,
  }: { commit: string; parent: string | null; written?: readonly string[] | undefined },
  options: GitCommandOptions,
): boolean {
  if (commit === parent || written?.every((id) => isLoose(repository, id)) === true) return true;
  const beyond = parent === null ? [] : [`^${parent}`];
  const answer = runGit(
    repository,
    ["--no-replace-objects", "rev-list", "--objects", "--quiet", commit, ...beyond],
    options,
  );
  return !("failed" in answer);
}

/** Imports a stream of `git fast-import` that makes one commit, `:1`, on `refs/heads/<id>`. */
export function importCommit(
  repository: Repository,
  {
    place,
    stream,
    id,
    parent,
  }: { place: AbsolutePath; stream: AbsolutePath; id: string; parent: string | null },
  options: GitCommandOptions,
): ImportedCommit | { failed: string } {
  makeImportPlace(repository, place);
  const before = new Set(unfinished(repository));
  const input = openSync(forSystem(stream), "r");
  let answer: GitAnswer;
  try {
    answer = runGit(repository, ["fast-import", "--quiet", "--done", "--force"], {
      ...options,
      input,
      timeoutMs: IMPORT_TIMEOUT_MS,
      variables: {
        GIT_DIR: displayAbsolute(place),
        GIT_OBJECT_DIRECTORY: displayAbsolute(below(repository.commonDir, "objects")),
      },
    });
  } finally {
    closeSync(input);
    // the import's own ref has served its purpose
    removeFile(below(place, `refs/heads/${id}`));
  }
  if ("failed" in answer) {
    removeUnfinished(repository, before);
    return answer;
  }
  const [commit, ...listed] = answer.output.toString("latin1").trimEnd().split("\n");
  const [tree, parentTree] = listed.map((line) => /^040000 tree ([0-9a-f]+)\b/.exec(line)?.[1]);
  if (commit === undefined || tree === undefined || (parent !== null && parentTree === undefined))
    return { failed: "git fast-import gave no answer" };
  return { commit, tree, parentTree: parentTree ?? null };
}

const PROCESSES = "/proc/self/fd" as AbsolutePath;

/** Files that git writes packs under until they are whole. */
function unfinished({ commonDir }: Repository): string[] {
  return listDirectory(below(commonDir, "objects/pack")).filter((name) => /^tmp_(?:pack|idx)_/.test(name));
}

/** [R2435] On a full disk each failed import would leave more. What another git may be writing stays. */
function removeUnfinished(repository: Repository, before: ReadonlySet<string>): void {
  // where it cannot be known what is open, git's next clean-up removes it
  if (statGitFile(PROCESSES) === undefined) return;
  const open = findWriters("/tmp_");
  for (const name of unfinished(repository))
    if (!before.has(name) && !open.some(({ path }) => path.endsWith(`/${name}`)))
      removeFile(below(repository.commonDir, `objects/pack/${name}`));
}

/** A git directory of our own: a crash report of git lands here too. */
function makeImportPlace(repository: Repository, place: AbsolutePath): void {
  const shared = readGitConfig(repository.gitDir, repository.commonDir).get("core.sharedrepository");
  const isSha256 = repository.objectFormat === "sha256";
  const config = [
    `[core]\n\trepositoryformatversion = ${isSha256 ? 1 : 0}\n\tbare = true\n`,
    shared === undefined || !/^\w+$/.test(shared) ? "" : `\tsharedRepository = ${shared}\n`,
    isSha256 ? "[extensions]\n\tobjectFormat = sha256\n" : "",
  ].join("");
  makePrivateDirectory(below(place, "refs"));
  putFile(below(place, "config"), Buffer.from(config));
  putFile(below(place, "HEAD"), Buffer.from("ref: refs/heads/none\n"));
}

function putFile(path: AbsolutePath, content: Buffer): void {
  const there = readSmallFile(path, content.length + 1);
  if (there?.equals(content) !== true) replaceFile(path, [content], { durable: false });
}

/** Makes the ref of a new ghost; undefined when it is there, else why not. */
export function addGhostRef(
  repository: Repository,
  { id, commit }: { id: string; commit: string },
  options: GitCommandOptions,
): string | undefined {
  const ref = `${GHOST_REFS}${id}`;
  if (addRefFile(repository, ref, commit)) return undefined;
  const answer = runGit(repository, [...QUIET, "update-ref", ref, commit, ""], options);
  return "failed" in answer ? answer.failed : undefined;
}

/** Takes refs of ghosts away, all of them or none; undefined when they are gone, else why not. */
export function dropGhostRefs(
  repository: Repository,
  refs: readonly GhostRef[],
  options: GitCommandOptions,
): string | undefined {
  const lines = refs.map(({ id, commit }) => `delete ${GHOST_REFS}${id}\0${commit}\0`);
  const input = Buffer.from(lines.join(""), "latin1");
  const answer = runGit(repository, [...QUIET, "update-ref", "-z", "--stdin"], { ...options, input });
  return "failed" in answer ? answer.failed : undefined;
}

const FORMAT = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00%01";

/** Every ghost that the repository has, of this workspace or another. */
export function listGhostRefs(
  repository: Repository,
  options: GitCommandOptions,
): GhostRef[] | { failed: string } {
  const list = () => runGit(repository, ["for-each-ref", `--format=${FORMAT}`, GHOST_REFS], options);
  let answer = list();
  // one ref that leads nowhere keeps git from listing any
  if ("failed" in answer && dropLost(repository, options)) answer = list();
  if ("failed" in answer) return answer;
  return answer.output
    .toString("utf8")
    .split("\0\u0001\n")
    .filter((record) => record !== "")
    .map((record) => {
      const [name, commit, seconds, ...message] = record.split("\0");
      return {
        id: name!.slice(GHOST_REFS.length),
        commit: commit!,
        committedAt: Number(seconds) * 1000,
        message: message.join("\0"),
      };
    });
}

/** [R2433] Takes refs away whose commit is gone: they keep the user's own `gc` from working. False when there are none. */
function dropLost(repository: Repository, options: GitCommandOptions): boolean {
  const listed = runGit(
    repository,
    ["for-each-ref", "--format=%(objectname) %(refname)", GHOST_REFS],
    options,
  );
  if ("failed" in listed) return false;
  const checked = runGit(repository, ["cat-file", "--batch-check=%(objecttype) %(rest)"], {
    ...options,
    input: listed.output,
  });
  if ("failed" in checked) return false;
  const commits = listed.output.toString("latin1").trimEnd().split("\n");
  const found = checked.output.toString("latin1").trimEnd().split("\n");
  const lost = commits.flatMap((line, at): GhostRef[] => {
    const [commit = "", ref = ""] = line.split(" ");
    if (!(found[at] ?? "").endsWith(" missing")) return [];
    return [{ id: ref.slice(GHOST_REFS.length), commit, committedAt: 0, message: "" }];
  });
  return lost.length > 0 && dropGhostRefs(repository, lost, options) === undefined;
}
