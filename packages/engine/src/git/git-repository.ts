/**
 * Where a workspace's git repository is. Everything about git in this folder only reads: no file under
 * `.git` is ever opened for writing, and git itself is run only for questions, without its optional locks.
 */
import { resolve } from "node:path";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import { below, realPath, type AbsolutePath } from "../fs/absolute-path.ts";
import { isTrue, readGitConfig } from "./git-config.ts";
import { readGitFile, statGitFile } from "./git-file.ts";

export interface Repository {
  /** HEAD and index are here. */
  readonly gitDir: AbsolutePath;
  /** Branches, settings and objects are here: another place than `gitDir` in a linked worktree. */
  readonly commonDir: AbsolutePath;
  readonly topLevel: AbsolutePath;
  /** The workspace root relative to the top level. */
  readonly prefix: BytePath;
  readonly linkedWorktree: boolean;
  readonly objectFormat: "sha1" | "sha256";
  /** False when branches are in a reftable, which only git reads. */
  readonly hasRefFiles: boolean;
  /** False when the executable bit of files means nothing. */
  readonly trustsFileMode: boolean;
}

const POINTER_LIMIT = 64 * 1024;

/** The repository that the root belongs to; undefined outside of git, and where git has no working tree. */
export function findRepository(root: AbsolutePath): Repository | undefined {
  for (let directory = root; ; directory = parentOf(directory)) {
    const found = gitDirOf(directory);
    if (found !== undefined) return found === "broken" ? undefined : openRepository(root, directory, found);
    // a bare repository, or the inside of a `.git`: nothing here is in a working tree
    if (isGitDir(directory) || directory === "/") return undefined;
  }
}

function parentOf(directory: AbsolutePath): AbsolutePath {
  return (directory.slice(0, directory.lastIndexOf("/")) || "/") as AbsolutePath;
}

/** What `.git` in a directory leads to. Git gives up on a file that leads nowhere, but passes over a directory. */
function gitDirOf(directory: AbsolutePath): AbsolutePath | "broken" | undefined {
  const path = below(directory, ".git");
  const stat = statGitFile(path);
  if (stat?.isDirectory()) return isGitDir(path) ? path : undefined;
  if (!stat?.isFile()) return undefined;
  const target = /^gitdir: ([^\n\r]+)/.exec(readGitFile(path, POINTER_LIMIT)?.toString("latin1") ?? "")?.[1];
  const gitDir = target === undefined ? undefined : relativeTo(directory, target);
  return gitDir !== undefined && isGitDir(gitDir) ? gitDir : "broken";
}

function isGitDir(path: AbsolutePath): boolean {
  if (statGitFile(below(path, "HEAD")) === undefined) return false;
  return statGitFile(below(commonDirOf(path), "objects"))?.isDirectory() === true;
}

function commonDirOf(gitDir: AbsolutePath): AbsolutePath {
  const target = readGitFile(below(gitDir, "commondir"), POINTER_LIMIT)?.toString("latin1").trimEnd();
  return target === undefined ? gitDir : relativeTo(gitDir, target);
}

/** `resolve` works on bytes as characters: it only looks at slashes and dots. */
function relativeTo(directory: AbsolutePath, path: string): AbsolutePath {
  return resolve(directory, path) as AbsolutePath;
}

function openRepository(
  root: AbsolutePath,
  directory: AbsolutePath,
  gitDir: AbsolutePath,
): Repository | undefined {
  const commonDir = commonDirOf(gitDir);
  const linkedWorktree = gitDir !== commonDir;
  const config = readGitConfig(gitDir, commonDir);
  // both settings are about the main working tree only
  const elsewhere = linkedWorktree ? undefined : config.get("core.worktree");
  if (!linkedWorktree && elsewhere === undefined && isTrue(config.get("core.bare"))) return undefined;
  const topLevel = elsewhere === undefined ? directory : realPathIfAny(relativeTo(gitDir, elsewhere));
  if (topLevel === undefined || !isAtOrBelow(root as string as BytePath, topLevel as string as BytePath))
    return undefined;
  return {
    gitDir,
    commonDir,
    topLevel,
    prefix: root.slice(topLevel === "/" ? 1 : topLevel.length + 1) as BytePath,
    linkedWorktree,
    objectFormat: config.get("extensions.objectformat")?.toLowerCase() === "sha256" ? "sha256" : "sha1",
    hasRefFiles: (config.get("extensions.refstorage") ?? "files").toLowerCase() === "files",
    trustsFileMode: !/^(?:false|no|off|0)$/i.test(config.get("core.filemode") ?? ""),
  };
}

function realPathIfAny(path: AbsolutePath): AbsolutePath | undefined {
  try {
    return realPath(path);
  } catch {
    return undefined;
  }
}
