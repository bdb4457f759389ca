/** What a person should know before agreeing to a plan. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { findRepository } from "../git/git-repository.ts";
import { baseName, displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint, GitState } from "../model/checkpoint.ts";
import type { Edit } from "../model/plan.ts";
import type { Context } from "../capture/context.ts";
import type { Present } from "../capture/look.ts";

/** What a plan is made of. */
interface Planned {
  readonly present: Pick<Present, "git">;
  readonly target: Checkpoint | undefined;
  readonly edits: readonly Edit[];
}

export function planWarnings({ worktree }: Context, { present, target, edits }: Planned): string[] {
  if (edits.length === 0) return [];
  return [
    ...gitWarnings(present.git, target?.git ?? null),
    ...lostRepository(worktree.root, target),
    ...edits.flatMap(({ path }) => runnableWarning(path)),
  ];
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
    warnings.push(`${now.staged.length} staged file(s) in git's index stay staged as they are`);
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

/** Restoring such a file can bring back commands that run by themselves. */
function runnableWarning(path: BytePath): string[] {
  if (!AGENT_DIRECTORIES.test(path) && !RUNNABLE_NAMES.has(baseName(path))) return [];
  return [`${displayPath(path)} can contain commands that run by themselves: look at it`];
}
