/**
 * Spare forks: after its grace time a removed fork keeps its captured files, and the next fork takes over those that it
 * needs by renaming them, which is faster than any copy. All of it is captured, so it may go at any moment.
 */
import type { Context } from "../capture/context.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeTree } from "../fs/copy-file.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { processesIn } from "../fs/processes-in.ts";
import { isSystemError } from "../fs/system-error.ts";
import { listSpareForks, setForkGone, setForkSpare, type ForkRow } from "../history/forks.ts";
import { EXCLUDED } from "../scan/stat-columns.ts";
import type { FileTable } from "../scan/file-table.ts";
import { readStatCache } from "../scan/stat-cache.ts";
import { statCacheName } from "../store/store.ts";
import { isForkThere } from "./forking.ts";

/** Files that may be taken over, and what the last scan knows of them. */
export interface SpareFiles {
  readonly root: AbsolutePath;
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
  for (const [directory, path] of table.directories.entries()) {
    const at = path === "" ? root : below(root, path);
    for (const name of listDirectory(at)) {
      const index = table.find(directory, name);
      if (index < 0 || table.kind[index] === EXCLUDED) for (const _ of removeTree(below(at, name)));
    }
  }
}

/**
 * The files of a spare fork, which is gone from now on: what is not taken over is cleared away, by this process or after
 * its death by the next one. [R90] None while a process is at work in it.
 */
export function takeSpare(context: Context): SpareFiles | undefined {
  const { db } = context.store;
  for (const row of listSpareForks(db)) {
    if (isForkThere(row) && processesIn(row.root).length > 0) continue;
    const table = tableOf(context, row);
    const isOurs = db.transaction(() => {
      const isStillThere = listSpareForks(db).some(({ workingCopy }) => workingCopy === row.workingCopy);
      if (isStillThere) setForkGone(db, row.workingCopy);
      return isStillThere;
    });
    if (isOurs && table !== undefined) return { root: row.root, table, row };
  }
  return undefined;
}

/** What the last recorded scan saw, where it was of this very directory. */
function tableOf({ store }: Context, row: ForkRow): FileTable | undefined {
  if (store.directory === undefined || !isForkThere(row)) return undefined;
  const cache = readStatCache(below(store.directory, statCacheName(row.workingCopy)));
  const { dev, ino, birth } = row;
  return cache?.facts.root === `${store.id} ${dev} ${ino} ${birth}` ? cache.table : undefined;
}
