/** Numbers about a store; local only. */
import { countOperations, countThreadsWith } from "../history/operations.ts";
import type { Stats, UseCounts } from "../model/reports.ts";
import type { Database } from "../store/database.ts";
import { storeBytes, type Store } from "../store/store.ts";

/** Reads the figures that `belay stats` shows. */
export function readStats(store: Store, capBytes: number): Stats {
  const { db } = store;
  const number = (sql: string) => Number(Object.values(db.get(sql) ?? {})[0] ?? 0);
  const time = (sql: string) => {
    const value = Object.values(db.get(sql) ?? {})[0];
    return value === null || value === undefined ? null : Number(value);
  };
  const kinds = db.all(
    "SELECT kind, count(*) AS n FROM checkpoint WHERE pruned_at IS NULL GROUP BY kind ORDER BY kind",
  );
  return {
    checkpoints: number("SELECT count(*) FROM checkpoint WHERE pruned_at IS NULL"),
    byKind: Object.fromEntries(kinds.map((row) => [String(row["kind"]), Number(row["n"])])),
    threads: number("SELECT count(*) FROM thread"),
    operations: countOperations(db),
    objects: number("SELECT count(*) FROM object"),
    packs: number("SELECT count(*) FROM pack"),
    copiesBytes: number("SELECT sum(bytes) FROM checkpoint WHERE pruned_at IS NULL"),
    contentBytes: number("SELECT sum(size) FROM object WHERE form = 0"),
    storedBytes: number("SELECT sum(length(data)) FROM pack"),
    diskBytes: storeBytes(store),
    capBytes,
    oldest: time("SELECT min(created_at) FROM checkpoint WHERE pruned_at IS NULL"),
    newest: time("SELECT max(created_at) FROM checkpoint WHERE pruned_at IS NULL"),
    usage: countUse(db),
  };
}

function countUse(db: Database): UseCounts {
  const count = (kind: string) => countOperations(db)[kind] ?? 0;
  const [restores, undos, redos, reverts, resets] = ["restore", "undo", "redo", "revert", "reset"].map(count);
  const threads = Number(db.get("SELECT count(*) AS n FROM thread")!["n"]);
  const manual = countThreadsWith(db, ["checkpoint"], "manual");
  const rolledBack = countThreadsWith(db, ["restore", "undo", "revert", "reset"]);
  const share = (part: number) => (threads === 0 ? 0 : part / threads);
  return {
    threads,
    rollbacks: restores! + undos! + reverts! + resets!,
    undos: undos!,
    redos: redos!,
    reverts: reverts!,
    resets: resets!,
    approvals: count("approve"),
    manualCheckpoints: manual.operations,
    threadsWithRollback: rolledBack.threads,
    threadsWithManual: manual.threads,
    rollbackShare: share(rolledBack.threads),
    manualShare: share(manual.threads),
  };
}
