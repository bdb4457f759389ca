/**
 * Which conversations are over. Closing one is a row in `meta`, not a column: it is about this store's retention alone,
 * and whatever the thread does afterwards opens it again without anything being written.
 */
import type { ThreadId } from "../model/ids.ts";
import { THREAD_SILENCE_MS } from "../model/retention.ts";
import type { Database } from "../store/database.ts";

const KEY = "closed_thread_";

/** SQL: when the thread `t` was closed; null when it was not, or did something since. */
export const CLOSED_AT = `(SELECT m.value FROM meta m WHERE m.key = '${KEY}' || t.id AND m.value >= t.updated_at)`;

/** Notes that a conversation is over, also where the clock was set back since its last event. */
export function markClosed(db: Database, id: ThreadId, now: number): void {
  db.run(
    "INSERT OR REPLACE INTO meta (key, value) SELECT ?1, max(?2, updated_at) FROM thread WHERE id = ?3",
    KEY + id,
    now,
    id,
  );
}

/** Takes that note away, with a thread that goes. */
export function unmarkClosed(db: Database, id: ThreadId): void {
  db.run("DELETE FROM meta WHERE key = ?", KEY + id);
}

/** The threads that were closed, or did nothing for a week. */
export function closedThreads(db: Database, now: number): Set<string | null> {
  const rows = db.all(
    `SELECT t.id FROM thread t WHERE ${CLOSED_AT} IS NOT NULL OR t.updated_at < ?`,
    now - THREAD_SILENCE_MS,
  );
  return new Set(rows.map((row) => String(row["id"])));
}
