/**
 * SQLite as Belay uses it: write-ahead log, every commit synced, every write transaction immediate.
 * Promises: once `commit` returns, the change survives a power cut; a store that was deleted, moved or
 * replaced while open is noticed before success is reported. Never opens the database file with `node:fs`,
 * because closing such a descriptor would drop SQLite's locks: the file is only `stat`ed.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { makePrivateFile } from "../fs/mutate.ts";
import { EngineError } from "../model/errors.ts";
import { assertKnownFormat, readVersion } from "./format-version.ts";
import { hasNoRoomForIndex, isReadOnlyError, translate } from "./sqlite-error.ts";

const OLDEST_SQLITE = "3.51.3";
const WITHDRAWN_SQLITE = "3.52.0";
const BUSY_TIMEOUT_MS = 10_000;
const APPLICATION_ID = 0x42656c79;
/** The `auto_vacuum` mode that returns space on request. */
const INCREMENTAL = 2;

/** One row of a query's result. */
export type Row = Record<string, unknown>;
/** What can be bound to a parameter. */
export type Value = null | number | bigint | string | Uint8Array;

/** The id of the first working copy: the workspace's root. */
export const MAIN_WORKING_COPY = 1;

/** One step of the schema's history: takes a database from version i to i + 1. */
export type Migration = string;

/** One open connection. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #path: AbsolutePath | undefined;
  readonly #identity: string | undefined;
  readonly #statements = new Map<string, StatementSync>();
  readonly readOnly: boolean;
  /**
   * True when the disk is full and no other connection is possible while this one is open. Not for resident
   * processes.
   */
  readonly isAlone: boolean;
  /** The working copy that this connection is for. What is asked of "here" is asked of it, and of the branch it is on. */
  readonly workingCopy: number;
  #depth = 0;
  #format = { store: "", supported: Infinity };

  constructor(
    db: DatabaseSync,
    path: AbsolutePath | undefined,
    { readOnly, isAlone, workingCopy }: { readOnly: boolean; isAlone: boolean; workingCopy: number },
  ) {
    this.workingCopy = workingCopy;
    this.#db = db;
    this.#path = path;
    this.readOnly = readOnly;
    this.isAlone = isAlone;
    this.#identity = path === undefined ? undefined : fileIdentity(path);
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values));
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#guard(() => this.#prepare(sql).all(...values));
  }

  /** Yields rows one at a time, for results that may be large. */
  *iterate(sql: string, ...values: Value[]): Generator<Row> {
    // a separate statement: an open cursor must not be reset by another use of the same text
    const rows = this.#guard(() => this.#db.prepare(sql).iterate(...values)) as Iterator<Row>;
    try {
      for (
        let next = this.#guard(() => rows.next());
        next.done !== true;
        next = this.#guard(() => rows.next())
      ) {
        yield next.value;
      }
    } finally {
      // a cursor left open keeps its snapshot, and once another process has written, this connection cannot
      rows.return?.();
    }
  }

  run(sql: string, ...values: Value[]): { changes: number; lastId: number } {
    const { changes, lastInsertRowid } = this.#guard(() => this.#prepare(sql).run(...values));
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  exec(sql: string): void {
    this.#guard(() => this.#db.exec(sql));
  }

  /** Differs whenever something was written, by this connection or by another. */
  version(): string {
    const others = this.get("PRAGMA data_version")?.["data_version"];
    return `${Number(others)} ${Number(this.get("SELECT total_changes() AS n")?.["n"])}`;
  }

  /** Throws, now and in every later transaction, when the format is newer than `supported`. */
  expectFormat(format: { store: string; supported: number }): void {
    this.#format = format;
    assertKnownFormat(this, format);
  }

  /** Runs `work`, which only reads, on one view of the database, whatever other processes write meanwhile. */
  unchanging<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.exec("BEGIN");
    try {
      return work();
    } finally {
      this.exec("ROLLBACK");
    }
  }

  /**
   * Runs `work` in one durable transaction; nested calls join the outer one. When `isKept` says no of the result,
   * nothing is changed; of nested calls, only the outer one's counts.
   */
  transaction<Result>(work: () => Result, isKept: (result: Result) => boolean = () => true): Result {
    if (this.#depth > 0) return work();
    this.#assertWritable();
    this.exec("BEGIN IMMEDIATE");
    this.#depth += 1;
    try {
      // a resident process may have waited while a newer program migrated the store
      assertKnownFormat(this, this.#format);
      const result = work();
      if (!isKept(result)) {
        this.exec("ROLLBACK");
        return result;
      }
      // [R2] a deleted store file would "commit" without an error
      this.assertInPlace();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /**
   * A transaction that need not survive a power cut: for leases, which end with their process anyway. The
   * next durable transaction makes it durable too.
   */
  fleetingTransaction<Result>(work: () => Result): Result {
    if (this.#depth > 0 || this.#path === undefined) return this.transaction(work);
    this.exec("PRAGMA synchronous = NORMAL");
    try {
      return this.transaction(work);
    } finally {
      this.exec("PRAGMA synchronous = FULL");
    }
  }

  /** Throws unless the open file is still the one at its path. */
  assertInPlace(): void {
    if (this.#path === undefined || fileIdentity(this.#path) === this.#identity) return;
    const store = displayAbsolute(this.#path);
    throw new EngineError(
      "STORE_REPLACED",
      `The store ${store} was deleted, moved or replaced while in use. Nothing was recorded; your files are untouched.`,
      { store },
    );
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #assertWritable(): void {
    if (!this.readOnly) return;
    const store = this.#path === undefined ? "" : displayAbsolute(this.#path);
    throw new EngineError("STORE_READ_ONLY", `The store ${store} cannot be written. Nothing was changed.`, {
      store,
    });
  }

  #guard<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw translate(error, this.#path === undefined ? ":memory:" : displayAbsolute(this.#path));
    }
  }
}

/** How a database is opened. */
export interface DatabaseOptions {
  readonly migrations: readonly Migration[];
  readonly create: boolean;
  readonly bulk?: boolean;
  /** The working copy that the connection is for; the workspace's root unless said otherwise. */
  readonly workingCopy?: number;
}

/**
 * Opens (and if allowed creates) a database and migrates its schema. `undefined` = in memory.
 * `bulk` builds a new database that stays invisible until it is complete: no log, no syncs, no rollback. If
 * anything fails, the file must be discarded.
 */
export function openDatabase(path: AbsolutePath | undefined, options: DatabaseOptions): Database {
  assertSqliteVersion();
  const name = path === undefined ? ":memory:" : displayAbsolute(path);
  if (path !== undefined && !options.create && statNode(path) === undefined) {
    throw new EngineError("STORE_MISSING", `There is no store at ${name}. Your files are untouched.`, {
      store: name,
    });
  }
  try {
    const { db, readOnly, isAlone = false } = openConnection(path, options.bulk ?? false);
    return closingOnError(db, () => {
      if (options.create && path !== undefined && !readOnly) makePrivateFile(path);
      const { workingCopy = MAIN_WORKING_COPY } = options;
      const database = new Database(db, path, { readOnly, isAlone, workingCopy });
      prepareSchema(database, name, options.migrations);
      return database;
    });
  } catch (error) {
    throw translate(error, name);
  }
}

function openConnection(
  path: AbsolutePath | undefined,
  bulk: boolean,
): { db: DatabaseSync; readOnly: boolean; isAlone?: boolean } {
  const place = path === undefined ? "memory" : bulk ? "bulk" : "disk";
  try {
    return { db: openWritable(path, place), readOnly: false };
  } catch (error) {
    // [R162] no room for the shared index: until there is, connections work one at a time without it
    if (place === "disk" && hasNoRoomForIndex(error))
      return { db: openWritable(path, "alone"), readOnly: false, isAlone: true };
    if (path === undefined || !isReadOnlyError(error)) throw error;
    return { db: openReadOnly(path), readOnly: true };
  }
}

type Connected = "memory" | "bulk" | "disk" | "alone";

function openWritable(path: AbsolutePath | undefined, place: Connected): DatabaseSync {
  const location = path === undefined ? ":memory:" : Buffer.from(path, "latin1");
  const db = new DatabaseSync(location, { timeout: BUSY_TIMEOUT_MS });
  return closingOnError(db, () => {
    // must come before the log is opened: its index is then kept in this process
    if (place === "alone") db.exec("PRAGMA locking_mode = EXCLUSIVE");
    configure(db, place);
    return db;
  });
}

/** A store on a read-only medium can still be read, unless an unmerged log lies beside it. */
function openReadOnly(path: AbsolutePath): DatabaseSync {
  const log = statNode(`${path}-wal` as AbsolutePath);
  const immutable = log === undefined || log.size === 0n;
  const url = pathToFileURL(displayAbsolute(path));
  if (immutable) url.search = "immutable=1";
  const db = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  return closingOnError(db, () => {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return db;
  });
}

/**
 * Runs work on a connection that was not handed out yet and closes it on error. A connection left open keeps
 * its log as long as the process lives.
 */
export function closingOnError<Result>(db: { close(): void }, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    db.close();
    throw error;
  }
}

function configure(db: DatabaseSync, place: Connected): void {
  // must come before the first table: it is what lets gc give space back without a second copy. Said again, it would be
  // again
  if (readPragma(db, "auto_vacuum") !== INCREMENTAL) db.exec(`PRAGMA auto_vacuum = ${INCREMENTAL}`);
  // purge
  db.exec("PRAGMA secure_delete = FAST");
  if (place === "bulk")
    db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
  if (place === "disk" || place === "alone") {
    expectPragma(db, "journal_mode", "wal");
    expectPragma(db, "synchronous", 2, "FULL");
    db.exec("PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216");
    // macOS: a plain fsync does not reach the disk
    db.exec("PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1");
  }
  db.exec(
    "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0",
  );
}

function expectPragma(db: DatabaseSync, name: string, expected: string | number, setting?: string): void {
  db.exec(`PRAGMA ${name} = ${setting ?? expected}`);
  const actual = readPragma(db, name);
  if (actual !== expected) throw new Error(`PRAGMA ${name} is ${String(actual)}, not ${expected}`);
}

function readPragma(db: DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

function prepareSchema(database: Database, name: string, migrations: readonly Migration[]): void {
  const supported = migrations.length;
  database.expectFormat({ store: name, supported });
  const version = readVersion(database);
  if (version === supported) return;
  if (database.readOnly)
    throw new EngineError(
      "STORE_READ_ONLY",
      `The store ${name} has an older format (${version}) and is read-only, so it cannot be migrated. Nothing was changed.`,
      { store: name },
    );
  database.transaction(() => {
    // another process may have migrated while this one waited for the lock
    for (const migration of migrations.slice(readVersion(database))) database.exec(migration);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${supported}`);
  });
}

function fileIdentity(path: AbsolutePath): string {
  const stat = statNode(path);
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}`;
}

let sqliteChecked = false;

/** Older libraries can corrupt a database that several connections share. */
function assertSqliteVersion(): void {
  if (sqliteChecked) return;
  const db = new DatabaseSync(":memory:");
  const version = String(db.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
  db.close();
  if (version === WITHDRAWN_SQLITE || compareVersions(version, OLDEST_SQLITE) < 0) {
    throw new EngineError(
      "SQLITE_TOO_OLD",
      `This Node includes SQLite ${version}; Belay needs ${OLDEST_SQLITE} or newer.`,
      {
        version,
        needed: OLDEST_SQLITE,
      },
    );
  }
  sqliteChecked = true;
}

function compareVersions(a: string, b: string): number {
  const left = a.split(".").map(Number);
  const right = b.split(".").map(Number);
  return [0, 1, 2].map((i) => (left[i] ?? 0) - (right[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
