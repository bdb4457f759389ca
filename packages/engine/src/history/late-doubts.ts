/** Doubts about captures that came too late, as they concern an undo. */
import { pathFromBytes } from "../model/byte-path.ts";
import type { Doubt } from "../model/checkpoint.ts";
import type { Database } from "../store/database.ts";
import type { ThreadId } from "../model/ids.ts";
import { emptyTurns, type Step } from "./step-rows.ts";

/**
 * [R125] Paths of which a capture of this turn came too late, and that are not counted as the turn's own change: what
 * the turn did to them may be recorded as there before.
 */
export function lateDoubtsOf(db: Database, { id, kind, thread, before, after }: Step): Doubt[] {
  if (kind !== "turn" || thread === null || before === null) return [];
  const rows = db.all(
    `SELECT DISTINCT d.path AS path, d.reason AS reason FROM doubt d JOIN checkpoint c ON c.seq = d.checkpoint
       JOIN change g ON g.checkpoint = d.checkpoint AND g.path = d.path AND g.step IS NOT ?4
       WHERE d.reason IN ('late', 'missed') AND c.thread = ?1 AND c.seq >= ?2 AND c.seq <= ?3
         AND c.branch = (SELECT branch FROM step WHERE id = ?4) ORDER BY d.path`,
    thread,
    before,
    after ?? Number.MAX_SAFE_INTEGER,
    id,
  );
  return rows.map((row) => ({
    path: pathFromBytes(row["path"] as Uint8Array),
    reason: row["reason"] as Doubt["reason"],
  }));
}

/** [R125] How many turns since a checkpoint have no change of their own, because the captures of it came too late. */
export function countLateTurns(db: Database, since: number, thread: ThreadId | undefined): number {
  return emptyTurns(db, since, thread).filter((turn) => lateDoubtsOf(db, turn).length > 0).length;
}
