/**
 * Finds the git repository of a workspace. Code in this folder only reads: no file under `.git` is ever opened for
 * writing, and git runs to answer questions, without its optional locks. Ghosts alone are written: by git through
 * `git-ghosts.ts`, and as loose objects by `git-objects.ts`.
 */
import { resolve } from "node:path";
import { isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import { below, realPath, type AbsolutePath } from "../fs/absolute-path.ts";
import { isTrue, readGitConfig } from "./git-config.ts";
import { readGitFile, statGitFile } from "./git-file.ts";

/** Where a repository keeps its parts. */
export interface Repository {
  /** Holds HEAD and the index. */
  readonly gitDir: AbsolutePath;
  /** Holds branches, settings and objects. Differs from `gitDir` in a linked worktree. */
  readonly commonDir: AbsolutePath;
  readonly topLevel: AbsolutePath;
  /** The workspace root relative to the top level. */
  readonly prefix: BytePath;
  readonly linkedWorktree: boolean;
  readonly objectFormat: "sha1" | "sha256";
  /** False when branches are in a reftable, which only git can read. */
  readonly hasRefFiles: boolean;
  /** False when the executable bit of files carries no meaning. */
  readonly trustsFileMode: boolean;
}

const POINTER_LIMIT = 64 * 1024;

/** The repository the root belongs to; undefined outside git and where git has no working tree. */
export function findRepository(root: AbsolutePath): Repository | undefined {
  for (let directory = root; ; directory = parentOf(directory)) {
    const found = gitDirOf(directory);
    if (found !== undefined) return found === "broken" ? undefined : openRepository(root, directory, found);
    // a bare repository, or inside `.git`: there is no working tree
    if (isGitDir(directory) || directory === "/") return undefined;
  }
}

function parentOf(directory: AbsolutePath): AbsolutePath {
  return (directory.slice(0, directory.lastIndexOf("/")) || "/") as AbsolutePath;
}

/**
 * The directory `.git` leads to. Like git, a file that leads nowhere is an error, and an invalid directory is
 * passed over.
 */
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

/** `resolve` only interprets slashes and dots, so it works on bytes as characters. */
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
  // both settings apply to the main working tree only
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
