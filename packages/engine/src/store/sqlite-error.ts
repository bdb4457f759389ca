/** Translates SQLite's errors into engine errors. */
import { EngineError } from "../model/errors.ts";

const SQLITE = {
  ERROR: 1,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  CONSTRAINT: 19,
  NOTADB: 26,
};

function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode;
  return code === undefined ? undefined : code & 0xff;
}

/** True when the medium cannot be written or opened for writing. */
export function isReadOnlyError(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.READONLY || code === SQLITE.CANTOPEN;
}

const NO_ROOM_FOR_INDEX = 4874;

/** True when the log's index in shared memory could not grow: the disk is full. */
export function hasNoRoomForIndex(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === NO_ROOM_FOR_INDEX;
}

/** Turns a SQLite error into an `EngineError`; passes anything else through. */
export function translate(error: unknown, store: string): unknown {
  if (error instanceof EngineError) return error;
  if (hasNoRoomForIndex(error))
    return new EngineError(
      "DISK_FULL",
      `No space is left for the store ${store}. Nothing was recorded; your files are untouched.`,
      { path: store },
      error,
    );
  switch (sqliteCode(error)) {
    case SQLITE.BUSY:
    case SQLITE.LOCKED:
      return new EngineError(
        "STORE_BUSY",
        `The store ${store} is in use by another process, which did not release it in time. Nothing was changed.`,
        { store },
        error,
      );
    case SQLITE.READONLY:
      return new EngineError(
        "STORE_READ_ONLY",
        `The store ${store} cannot be written. Nothing was changed.`,
        { store },
        error,
      );
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
    // our rows satisfy the constraints unless existing rows are damaged
    case SQLITE.CONSTRAINT:
      return damaged(store, error);
    case SQLITE.ERROR:
      // the statements are fixed: one that does not fit means that the schema was altered
      return /no such (?:column|table)|has no column|JSON/.test((error as Error).message)
        ? damaged(store, error)
        : error;
    case SQLITE.FULL:
      return new EngineError(
        "DISK_FULL",
        `No space is left for the store ${store}. Nothing was recorded; your files are untouched.`,
        { path: store },
        error,
      );
    case SQLITE.CANTOPEN:
    // locks cannot be taken or awaited: the log's index cannot be created
    case SQLITE.PROTOCOL:
    case SQLITE.IOERR:
      return new EngineError(
        "FILE_SYSTEM",
        `The store ${store} cannot be read or written: ${(error as Error).message}.`,
        { path: store, operation: "store" },
        error,
      );
    default:
      return error;
  }
}

function damaged(store: string, cause: unknown): EngineError<"STORE_CORRUPT"> {
  return new EngineError(
    "STORE_CORRUPT",
    `The store ${store} is damaged. Your files are untouched.`,
    { store },
    cause,
  );
}
