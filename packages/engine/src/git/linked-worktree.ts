/** Linked worktrees: directories of a repository that lies elsewhere. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { findRepository } from "./git-repository.ts";

/** What the `.git` file of a linked worktree says; a submodule's may say the like. */
const LINKED_WORKTREE = /^gitdir: .*[/\\]worktrees[/\\][^/\\]+\s*$/;

/** True for a linked worktree. A submodule has a `.git` file too, so only git's own files decide. */
export function isLinkedWorktree(directory: AbsolutePath): boolean {
  const pointer = readSmallFile(below(directory, ".git"), 4096);
  if (pointer === undefined || !LINKED_WORKTREE.test(pointer.toString("latin1").trimEnd())) return false;
  const repository = findRepository(directory);
  return repository === undefined || repository.linkedWorktree;
}
