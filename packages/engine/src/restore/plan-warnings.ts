/** What a person should know before agreeing to a plan. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { findWriters } from "../fs/file-writers.ts";
import { findRepository } from "../git/git-repository.ts";
import { baseName, displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint, GitState } from "../model/checkpoint.ts";
import type { Edit } from "../model/plan.ts";
import { databaseSet, isMapped } from "../scan/database-names.ts";
import type { Context } from "../capture/context.ts";
import type { Present } from "../capture/look.ts";

/** What the warnings are about. */
interface Planned {
  readonly present: Pick<Present, "git">;
  readonly target: Checkpoint | undefined;
  readonly edits: readonly Edit[];
}

/** The warnings of a plan. */
export function planWarnings({ workingCopy }: Context, { present, target, edits }: Planned): string[] {
  if (edits.length === 0) return [];
  // the most serious first
  return [
    ...openDatabases(workingCopy.root, edits),
    ...edits.filter(({ path }) => isRunnable(path)).map(({ path }) => runnableWarning(path)),
    ...lostRepository(workingCopy.root, target),
    ...gitWarnings(present.git, target?.git ?? null),
  ];
}

/** [R213] A program that has a database open keeps working on the file that a restore replaces. */
function openDatabases(root: AbsolutePath, edits: readonly Edit[]): string[] {
  const files = edits.map(({ path }) => path).filter((path) => isMapped(baseName(path)));
  if (files.length === 0) return [];
  const databases = Map.groupBy(files, (path) => databaseSet(path)[0] as BytePath);
  const writers = findWriters(root);
  return [...databases.keys()].flatMap((database) => {
    const paths = new Set<string>(databaseSet(below(root, database)));
    const processes = new Set(writers.filter(({ path }) => paths.has(path)).map(({ pid }) => pid));
    if (processes.size === 0) return [];
    const name = processes.size === 1 ? "process" : "processes";
    return [
      `${displayPath(database)} is open in ${name} ${[...processes].join(", ")}: stop it first, or it keeps working on the replaced file`,
    ];
  });
}

/** [R212] A checkpoint that knew a repository does not bring it back. */
export function lostRepository(root: AbsolutePath, then: Checkpoint | undefined): string[] {
  const isLost =
    (then?.git ?? null) !== null &&
    statNode(below(root, ".git")) === undefined &&
    findRepository(root) === undefined;
  return isLost ? [NO_REPOSITORY] : [];
}

const NO_REPOSITORY =
  "`.git` is gone and does not come back, for Belay does not capture it: clone it or `git init` again";

function gitWarnings(now: GitState | null, then: GitState | null): string[] {
  if (now === null) return [];
  const warnings: string[] = [];
  if (then !== null && (then.branch !== now.branch || then.commit !== now.commit)) {
    warnings.push(
      `git was at ${describe(then)} then and is at ${describe(now)} now; git itself is not changed`,
    );
  }
  if (now.staged.length > 0)
    warnings.push(
      `what is staged in git (${now.staged.length} ${now.staged.length === 1 ? "file" : "files"}) stays staged as it is`,
    );
  return warnings;
}

function describe({ branch, commit }: GitState): string {
  const short = commit === null ? "no commit" : commit.slice(0, 10);
  return branch === null ? short : `${branch} (${short})`;
}

const AGENT_DIRECTORIES =
  /^(?:.*\/)?\.(?:claude|codex|gemini|cursor|opencode|qwen|github\/hooks|vscode|husky)\//;
const RUNNABLE_NAMES = new Set([
  ".mcp.json",
  "package.json",
  "AGENTS.md",
  "CLAUDE.md",
  "Makefile",
  ".envrc",
  "opencode.json",
]);

/** True for a file that can hold commands which run by themselves: restoring it can bring them back. */
export function isRunnable(path: BytePath): boolean {
  return AGENT_DIRECTORIES.test(path) || RUNNABLE_NAMES.has(baseName(path));
}

function runnableWarning(path: BytePath): string {
  return `${displayPath(path)} can contain commands that run automatically: review it`;
}
