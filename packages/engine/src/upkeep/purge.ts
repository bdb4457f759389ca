/**
 * Takes content out of the store so that no byte of it is left [R15]. First one transaction after which nothing refers
 * to it; then everything is packed anew and what is freed is overwritten. What keeps the second part from being done
 * (a full disk, another process that reads) is told, and noted in the store: `gc` finishes it.
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
import { collectGarbage } from "./gc.ts";

const UNFINISHED = "purge_unfinished";

/** Something was forgotten whose bytes are still to be overwritten. */
export function isPurgeUnfinished(db: Database): boolean {
  return readMeta(db, UNFINISHED) !== undefined;
}

export interface Purged<Result> {
  readonly result: Result;
  readonly objects: number;
  readonly bytes: number;
}

export interface PurgeRequest<Result> {
  /** What the log says of it. */
  readonly detail: Record<string, unknown>;
  /** Takes away all that refers to some content. */
  work(): Result;
  /** False leaves the packs to the next `gc`: they hold no words, only perhaps pages that once did. */
  readonly packs: boolean;
}

/** Takes content away, then overwrites it. */
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
        // an open edit must not keep what is to be gone; it can no longer be taken back
        db.run("UPDATE tool_call SET snapshot = NULL, rules = NULL, excluded = NULL");
        const operation = { id: system.newId() as OperationId, kind: "forget" as const, at: system.now() };
        appendOperation(db, { ...operation, detail });
        writeMeta(db, UNFINISHED, 1);
        return done;
      });
      if (!packs) rewriteTexts(db);
      const { objectsFreed } = packs ? overwrite(store, system, 0) : { objectsFreed: 0 };
      return { result, objects: objectsFreed, bytes: Math.max(0, before - storeBytes(store)) };
    }),
  );
}

/** What an earlier `purge` could not do; call instead of an ordinary gc. */
export function finishPurge(
  store: Store,
  system: System,
  dropPrunedBefore: number,
): Omit<GcReport, "dryRun"> {
  return withReserve(store, () => overwriting(store.db, () => overwrite(store, system, dropPrunedBefore)));
}

/** Overwritten, not only unlinked: freed pages are zeroed too. */
function overwriting<Result>(db: Database, work: () => Result): Result {
  db.exec("PRAGMA secure_delete = ON");
  try {
    return work();
  } finally {
    db.exec("PRAGMA secure_delete = FAST");
  }
}

function overwrite(store: Store, system: System, dropPrunedBefore: number): Omit<GcReport, "dryRun"> {
  try {
    const report = collectGarbage(store, system, { dropPrunedBefore, dryRun: false, rewriteAll: true });
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

/** All tables with text of people or agents. Their rows move between pages as they grow, and leave copies behind. */
const TEXT_TABLES = [
  "thread",
  "checkpoint",
  "session",
  "step",
  "message",
  "tool_call",
  "agent_run",
  "event",
  "operation",
];

/** Writes them anew, row for row: all their pages are freed, and so overwritten. */
function rewriteTexts(db: Database): void {
  // the copy must not be written to a file for temporary tables, and no row is really deleted
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

/** [N1] As long as another process reads an older state of the store, the bytes are still in its log. */
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
