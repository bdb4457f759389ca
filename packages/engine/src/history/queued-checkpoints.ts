/** Checkpoints that wait to be sent to a remote. */
import type { Database } from "../store/database.ts";
import { isSentCheckpoint } from "./sent-kinds.ts";

/** [T14] The seqs of checkpoints that some remote is to have and does not yet, or not in their present state. */
export function queuedCheckpoints(db: Database): Set<number> {
  // nearly every store has no remote
  if (db.get("SELECT 1 FROM remote LIMIT 1") === undefined) return new Set();
  const rows = db.all(
    `SELECT DISTINCT c.seq FROM outbox o JOIN checkpoint c ON c.id = o.id
       WHERE o.kind = 'checkpoint' AND ${isSentCheckpoint("c")}`,
  );
  return new Set(rows.map((row) => Number(row["seq"])));
}
