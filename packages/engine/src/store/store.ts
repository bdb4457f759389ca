/** One workspace's store: its database, its objects, its identity. */
import { below, displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { syncDirectory, syncFile } from "../fs/durable-file.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { move, removeEmptyDirectory, removeName } from "../fs/mutate.ts";
import { EngineError } from "../model/errors.ts";
import { randomId } from "../model/ids.ts";
import { closingOnError, openDatabase, type Database } from "./database.ts";
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
  options: { create: boolean; bulk?: boolean },
): Store {
  const { create, bulk = false } = options;
  const path = directory === undefined ? undefined : below(directory, bulk ? UNFINISHED : "store.db");
  if (path !== undefined && !create) assertNotEmpty(path);
  const db = openDatabase(path, { migrations: STORE_MIGRATIONS, create, bulk });
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

/** Sets a value of the `meta` table. */
export function writeMeta(db: Database, key: string, value: string | number): void {
  db.run(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}

/** The directory the store belonged to when it was last opened. */
export function readRoot(db: Database): AbsolutePath | undefined {
  const root = readMeta(db, "root");
  return root === undefined ? undefined : (Buffer.from(root, "base64").toString("latin1") as AbsolutePath);
}

/** Records where the directory is now; a read-only store is left as it is. */
export function noteRoot(db: Database, root: AbsolutePath): void {
  if (db.readOnly || readRoot(db) === root) return;
  db.transaction(() => writeMeta(db, "root", Buffer.from(root, "latin1").toString("base64")));
}

/** The bytes a store takes on disk, log included; for a store in memory, the bytes of its pages. */
export function storeBytes({ db, directory }: Store): number {
  if (directory === undefined) return pageBytes(db).total;
  const sizes = ["store.db", UNFINISHED, "store.db-wal", "stat-cache"].map(
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
