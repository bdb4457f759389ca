/** One workspace's store: its database, its objects, its identity. */
import { below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { syncDirectory, syncFile } from "../fs/durable-file.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { move, removeEmptyDirectory, removeName } from "../fs/mutate.ts";
import { EngineError } from "../model/errors.ts";
import { randomId } from "../model/ids.ts";
import {
  closingOnError,
  MAIN_WORKING_COPY,
  openDatabase,
  type Database,
  type DatabaseOptions,
} from "./database.ts";
import { ObjectStore } from "./object-store.ts";
import { STORE_MIGRATIONS } from "./schema.ts";

/** The open store of one workspace. */
export interface Store extends Disposable {
  readonly db: Database;
  readonly objects: ObjectStore;
  /** Created with the store and never changed. */
  readonly id: string;
  /** undefined = in memory */
  readonly directory: AbsolutePath | undefined;
}

/** Opens the store in a directory, or one in memory that lives as long as the process. */
export function openStore(
  directory: AbsolutePath | undefined,
  options: Omit<DatabaseOptions, "migrations">,
): Store {
  const { create, bulk = false } = options;
  const path = directory === undefined ? undefined : below(directory, bulk ? UNFINISHED : "store.db");
  if (path !== undefined && !create) assertNotEmpty(path);
  const db = openDatabase(path, { ...options, migrations: STORE_MIGRATIONS });
  let isOpen = true;
  const close = () => {
    if (isOpen) db.close();
    isOpen = false;
  };
  const id = closingOnError(db, () => readOrMakeId(db));
  return { db, objects: new ObjectStore(db), id, directory, [Symbol.dispose]: close };
}

/** A file-system crash leaves an empty file: it must not silently become a new store. */
function assertNotEmpty(path: AbsolutePath): void {
  if (statNode(path)?.size !== 0n) return;
  const store = displayAbsolute(path);
  throw new EngineError("STORE_CORRUPT", `The store ${store} is empty. Your files are untouched.`, { store });
}

/** A store under construction has another name, so that `store.db` is always complete. */
const UNFINISHED = "store.db.unfinished";

/** [R2] Makes a store that was built in bulk durable, then renames it to its final name. */
export function finishStore(directory: AbsolutePath): void {
  syncFile(below(directory, UNFINISHED));
  move(below(directory, UNFINISHED), below(directory, "store.db"));
  syncDirectory(directory);
}

function readOrMakeId(db: Database): string {
  const known = readMeta(db, "store_id");
  if (known !== undefined || db.readOnly) return known ?? "";
  return db.transaction(() => {
    if (readMeta(db, "store_id") === undefined) writeMeta(db, "store_id", randomId());
    return readMeta(db, "store_id")!;
  });
}

/** A value of the `meta` table. */
export function readMeta(db: Database, key: string): string | undefined {
  const value = db.get("SELECT value FROM meta WHERE key = ?", key)?.["value"];
  return value === undefined || value === null ? undefined : String(value);
}

/** Removes a value of the `meta` table. */
export function removeMeta(db: Database, key: string): void {
  db.run("DELETE FROM meta WHERE key = ?", key);
}

/** Sets a value of the `meta` table. */
export function writeMeta(db: Database, key: string, value: string | number): void {
  db.run(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}

/** Where the working copy of this connection was when it was last opened. */
export function readRoot(db: Database): AbsolutePath | undefined {
  const root = db.get("SELECT root FROM working_copy WHERE id = ?", db.workingCopy)?.["root"];
  if (root instanceof Uint8Array) return Buffer.from(root).toString("latin1") as AbsolutePath;
  // until format 3 a store had one root, and it has not been opened since
  const first = db.workingCopy === MAIN_WORKING_COPY ? readMeta(db, "root") : undefined;
  return first === undefined ? undefined : (Buffer.from(first, "base64").toString("latin1") as AbsolutePath);
}

/** Whether the store has the working copy that this connection is for. */
export function hasWorkingCopy(db: Database): boolean {
  return db.get("SELECT 1 FROM working_copy WHERE id = ?", db.workingCopy) !== undefined;
}

/** Where the forks of a workspace are that can be worked in. */
export function readForkRoots(
  db: Database,
): { workingCopy: number; root: AbsolutePath; port: number | null }[] {
  return db
    .all(
      "SELECT id, root, port FROM working_copy WHERE id <> ? AND state = 'ready' AND root IS NOT NULL",
      MAIN_WORKING_COPY,
    )
    .map((row) => ({
      workingCopy: Number(row["id"]),
      root: Buffer.from(row["root"] as Uint8Array).toString("latin1") as AbsolutePath,
      port: row["port"] === null ? null : Number(row["port"]),
    }));
}

/** Records where the working copy is now, and which directory that is; a read-only store is left as it is. */
export function noteRoot(db: Database, root: AbsolutePath): void {
  if (db.readOnly) return;
  const stat = statNode(root);
  const identity = [stat?.dev, stat?.ino, stat?.birthtimeNs].map((each) => String(each ?? ""));
  const known = db.get("SELECT dev, ino, birth FROM working_copy WHERE id = ?", db.workingCopy);
  const isSame = [known?.["dev"], known?.["ino"], known?.["birth"]].every(
    (each, at) => each === identity[at],
  );
  // a directory that is gone keeps the identity by which it is found again
  if (readRoot(db) === root && (isSame || stat === undefined)) return;
  db.transaction(() =>
    db.run(
      "UPDATE working_copy SET root = ?, dev = ?, ino = ?, birth = ? WHERE id = ?",
      Buffer.from(root, "latin1"),
      ...identity,
      db.workingCopy,
    ),
  );
}

/** The file with what the last scan of a working copy saw. */
export function statCacheName(workingCopy: number): string {
  return workingCopy === MAIN_WORKING_COPY ? "stat-cache" : `stat-cache-${workingCopy}`;
}

/** The bytes a store takes on disk, log included; for a store in memory, the bytes of its pages. */
export function storeBytes({ db, directory }: Store): number {
  if (directory === undefined) return pageBytes(db).total;
  const caches = db.all("SELECT id FROM working_copy").map((row) => statCacheName(Number(row["id"])));
  const sizes = ["store.db", UNFINISHED, "store.db-wal", ...caches].map(
    (name) => statNode(below(directory, name))?.size ?? 0n,
  );
  return Number(sizes.reduce((sum, size) => sum + size, 0n));
}

/** The bytes of the database's pages, and how many of them are free for reuse. */
export function pageBytes(db: Database): { total: number; free: number } {
  const pragma = (name: string) => Number(Object.values(db.get(`PRAGMA ${name}`) ?? {})[0] ?? 0);
  const size = pragma("page_size");
  return { total: pragma("page_count") * size, free: pragma("freelist_count") * size };
}

/** Deletes a store: its files and the empty directory for cookies. */
export function removeStore(directory: AbsolutePath): void {
  if (statNode(directory) === undefined) return;
  for (const path of listDirectory(directory).map((name) => below(directory, name))) {
    if (kindOf(statNode(path)!) === "directory") removeEmptyDirectory(path);
    else removeName(path);
  }
  removeEmptyDirectory(directory);
}
