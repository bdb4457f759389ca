/**
 * Removes content from the store so that no byte of it is left [R15]. First one transaction removes all
 * references; then everything is repacked and freed space is overwritten. If the second part fails (a full
 * disk, another process that reads), the caller is told and the store records it: `gc` finishes it.
 */
import { displayAbsolute } from "../fs/absolute-path.ts";
import { appendOperation } from "../history/operations.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import type { GcReport } from "../model/reports.ts";
import type { System } from "../model/system.ts";
import type { Database } from "../store/database.ts";
import { withReserve } from "../store/reserve.ts";
import { readMeta, storeBytes, writeMeta, type Store } from "../store/store.ts";
import { collectGarbage, type GcRequest } from "./gc.ts";

const UNFINISHED = "purge_unfinished";

/** True when the bytes of forgotten content are still to be overwritten. */
export function isPurgeUnfinished(db: Database): boolean {
  return readMeta(db, UNFINISHED) !== undefined;
}

/** What a purge removed. */
export interface Purged<Result> {
  readonly result: Result;
  readonly objects: number;
  readonly bytes: number;
}

/** What to purge. */
export interface PurgeRequest<Result> {
  /** The log's entry for it. */
  readonly detail: Record<string, unknown>;
  /** Removes all references to the content. */
  work(): Result;
  /** False leaves the packs to the next `gc`: they hold no text, only perhaps pages that once did. */
  readonly packs: boolean;
}

/** Removes references, then overwrites the content. */
export function purge<Result>(
  store: Store,
  system: System,
  { detail, work, packs }: PurgeRequest<Result>,
): Purged<Result> {
  const { db } = store;
  const before = storeBytes(store);
  return withReserve(store, () =>
    overwriting(db, () => {
      const result = db.transaction(() => {
        const done = work();
        // an open edit must not keep forgotten content; it can no longer be aborted
        db.run("UPDATE tool_call SET snapshot = NULL, rules = NULL, excluded = NULL");
        const operation = { id: system.newId() as OperationId, kind: "forget" as const, at: system.now() };
        appendOperation(db, { ...operation, detail });
        writeMeta(db, UNFINISHED, 1);
        return done;
      });
      if (!packs) rewriteTexts(db);
      const { objectsFreed } = packs
        ? overwrite(store, system, { dropPrunedBefore: 0 })
        : { objectsFreed: 0 };
      return { result, objects: objectsFreed, bytes: Math.max(0, before - storeBytes(store)) };
    }),
  );
}

/** Finishes an interrupted purge; call it instead of an ordinary gc. */
export function finishPurge(
  store: Store,
  system: System,
  request: OverwriteRequest,
): Omit<GcReport, "dryRun"> {
  return withReserve(store, () => overwriting(store.db, () => overwrite(store, system, request)));
}

/** Zeroes freed pages instead of only unlinking them. */
function overwriting<Result>(db: Database, work: () => Result): Result {
  db.exec("PRAGMA secure_delete = ON");
  try {
    return work();
  } finally {
    db.exec("PRAGMA secure_delete = FAST");
  }
}

type OverwriteRequest = Pick<GcRequest, "dropPrunedBefore" | "progress">;

function overwrite(store: Store, system: System, request: OverwriteRequest): Omit<GcReport, "dryRun"> {
  try {
    const report = collectGarbage(store, system, { ...request, dryRun: false, rewriteAll: true });
    rewriteTexts(store.db);
    assertLogIsGone(store);
    store.db.transaction(() => store.db.run("DELETE FROM meta WHERE key = ?", UNFINISHED));
    return report;
  } catch (error) {
    if (isEngineError(error, "DISK_FULL")) throw unfinished(store, "the disk is full", error);
    if (isEngineError(error, "STORE_BUSY"))
      throw unfinished(store, "another process is using the store", error);
    throw error;
  }
}

/** All tables with text of people or agents. Growing rows move between pages and leave copies behind. */
const TEXT_TABLES = [
  "thread",
  "checkpoint",
  "session",
  "step",
  "message",
  "tool_call",
  "agent_run",
  "run",
  "version",
  "event",
  "operation",
];

/** Rewrites the tables row by row: all their pages are freed and therefore overwritten. */
function rewriteTexts(db: Database): void {
  // no temporary file may receive the copy, and no row is really deleted
  db.exec("PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF");
  try {
    for (const table of TEXT_TABLES) {
      db.transaction(() =>
        db.exec(
          `CREATE TEMP TABLE rewritten AS SELECT * FROM ${table}; DELETE FROM ${table};
           INSERT INTO ${table} SELECT * FROM rewritten; DROP TABLE rewritten`,
        ),
      );
    }
  } finally {
    db.exec("PRAGMA foreign_keys = ON");
  }
}

/** [N1] While another process reads an older state of the store, the bytes are still in its log. */
function assertLogIsGone({ db, directory }: Store): void {
  const [row] = db.all("PRAGMA wal_checkpoint(TRUNCATE)");
  if (directory === undefined || row?.["busy"] === 0) return;
  throw new EngineError("STORE_BUSY", "The log is being read.", { store: displayAbsolute(directory) });
}

function unfinished({ directory }: Store, reason: string, cause: unknown): EngineError<"PURGE_UNFINISHED"> {
  const message = `It is forgotten: no checkpoint has the content any more. Its bytes are still in the store's files, because ${reason}.`;
  const store = directory === undefined ? "memory" : displayAbsolute(directory);
  return new EngineError("PURGE_UNFINISHED", message, { store, reason }, cause);
}
