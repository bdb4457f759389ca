/**
 * Spare forks: after its grace time a removed fork keeps its captured files, and the next fork takes over its directory by
 * one rename and changes what differs, which is faster than any copy. All of it is captured, so it may go at any moment.
 */
import type { Context } from "../capture/context.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { EnteredDirectory } from "../fs/entered-directory.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { move } from "../fs/mutate.ts";
import { processesIn } from "../fs/processes-in.ts";
import { isSystemError } from "../fs/system-error.ts";
import { listSpareForks, setForkGone, setForkSpare, type ForkRow } from "../history/forks.ts";
import { EXCLUDED } from "../scan/stat-columns.ts";
import type { FileTable } from "../scan/file-table.ts";
import { readStatCache } from "../scan/stat-cache.ts";
import { statCacheName } from "../store/store.ts";
import { isForkThere } from "./forking.ts";

/** A directory that was taken over, and what the last scan knows of its files. */
export interface TakenSpare {
  readonly table: FileTable;
  readonly row: ForkRow;
}

/** Keeps a removed fork, all of which is captured, for the next one; false where nothing is known of its files. */
export function becomeSpare(context: Context, row: ForkRow): boolean {
  const table = tableOf(context, row);
  if (table === undefined) return false;
  const { db } = context.store;
  db.transaction(() => setForkSpare(db, row.workingCopy, row.bytes));
  try {
    removeOthers(row.root, table);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // what cannot be removed yet goes with the rest
  }
  return true;
}

/** Removes what no checkpoint holds: dependencies, builds, the repository. */
function removeOthers(root: AbsolutePath, table: FileTable): void {
  using anchor = new Anchor(root, { real: true });
  for (const [directory, path] of table.directories.entries()) {
    using at = new EnteredDirectory(path === "" ? root : anchor.at(path));
    for (const name of listDirectory(at.path)) {
      const index = table.find(directory, name);
      if (index < 0 || table.kind[index] === EXCLUDED) for (const _ of removeTree(at.at(name)));
    }
  }
}

/**
 * Gives the directory of a spare fork another name. [R1756] It is gone from then on, whether or not its new place becomes
 * a fork: a directory that was changed is none to be taken over. [R90] None while a process is at work in it.
 */
export function takeSpare(context: Context, to: AbsolutePath): TakenSpare | undefined {
  const { db } = context.store;
  for (const row of listSpareForks(db)) {
    if (isForkThere(row) && processesIn(row.root).length > 0) continue;
    const table = tableOf(context, row);
    const isOurs = db.transaction(() => {
      const isStillThere = listSpareForks(db).some(({ workingCopy }) => workingCopy === row.workingCopy);
      if (isStillThere) setForkGone(db, row.workingCopy);
      return isStillThere;
    });
    if (isOurs && table !== undefined && isMoved(row.root, to)) return { table, row };
  }
  return undefined;
}

/** False where that cannot be, as from one file system to another; it is cleared away later. */
function isMoved(from: AbsolutePath, to: AbsolutePath): boolean {
  try {
    move(from, to);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

/** What the last recorded scan saw, where it was of this very directory. */
function tableOf({ store }: Context, row: ForkRow): FileTable | undefined {
  if (store.directory === undefined || !isForkThere(row)) return undefined;
  const cache = readStatCache(below(store.directory, statCacheName(row.workingCopy)));
  const { dev, ino, birth } = row;
  return cache?.facts.root === `${store.id} ${dev} ${ino} ${birth}` ? cache.table : undefined;
}
