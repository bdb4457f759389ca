/** Names of SQLite databases and of the logs that belong to them. */

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
