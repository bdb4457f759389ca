/** Files and directories that are not what they look like to a scan. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { findRepository } from "../git/git-repository.ts";
import { readSmallFile } from "../fs/read-file.ts";

/** Databases and the like are written through memory maps, which do not update the file's times. */
const MAPPED = /\.(?:db3?|sqlite[23]?|mdb|lmdb)$|-(?:wal|shm|journal)$/;

/** True for files that may be written through a memory map. */
export function isMapped(name: string): boolean {
  return MAPPED.test(name);
}

const LOGS = ["-journal", "-wal", "-shm"] as const;
const LOG = /-(?:journal|wal|shm)$/;

/** A database and its logs in one directory, by the name of any of them. */
export function databaseSet(name: string): [database: string, ...logs: string[]] {
  const database = name.replace(LOG, "");
  return [database, ...LOGS.map((log) => `${database}${log}`)];
}

/** What the `.git` file of a linked worktree says; a submodule's may say the like. */
const LINKED_WORKTREE = /^gitdir: .*[/\\]worktrees[/\\][^/\\]+\s*$/;

/** True for a linked worktree. A submodule has a `.git` file too, so only git's own files decide. */
export function isLinkedWorktree(directory: AbsolutePath): boolean {
  const pointer = readSmallFile(below(directory, ".git"), 4096);
  if (pointer === undefined || !LINKED_WORKTREE.test(pointer.toString("latin1").trimEnd())) return false;
  const repository = findRepository(directory);
  return repository === undefined || repository.linkedWorktree;
}
