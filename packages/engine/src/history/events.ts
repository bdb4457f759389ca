/**
 * The events of a workspace in order. Each is written in the transaction that makes it true, so that no event
 * reports something that did not happen. Rows hold ids; readers get the present state of what they name.
 */
import type { ThreadId } from "../model/ids.ts";
import type { EventDetail, EventOptions } from "../model/event.ts";
import type { Database } from "../store/database.ts";
import { parseJson } from "./row-json.ts";

/** Older events are dropped: a reader that was away longer reads the lists instead. */
const KEPT_EVENTS = 10_000;
/** How many of the newest events are searched for earlier ones of a series. */
const RECENT_EVENTS = 1000;

/** An event as stored. */
export interface EventRow {
  readonly seq: number;
  readonly type: EventDetail["type"];
  readonly thread: ThreadId | null;
  readonly at: number;
  readonly data: Record<string, unknown>;
}

/** Adds an event; call inside the transaction that makes it true. */
export function appendEvent(db: Database, event: Omit<EventRow, "seq">): void {
  const { lastId } = db.run(
    "INSERT INTO event (type, thread, at, data) VALUES (?, ?, ?, ?)",
    event.type,
    event.thread,
    event.at,
    JSON.stringify(event.data),
  );
  if (lastId % 1000 === 0) db.run("DELETE FROM event WHERE seq <= ?", lastId - KEPT_EVENTS);
}

/** Adds an event that replaces recent ones of its type: only the newest is of use, and a long series must not drive others out. */
export function appendNewest(db: Database, event: Omit<EventRow, "seq">): void {
  db.run("DELETE FROM event WHERE type = ? AND seq > ?", event.type, newestEvent(db) - RECENT_EVENTS);
  appendEvent(db, event);
}

/** The next hundred events after a number; with a thread or types only those. */
export function readEvents(
  db: Database,
  after: number,
  { thread, types }: Pick<EventOptions, "thread" | "types">,
): EventRow[] {
  return db
    .all(
      `SELECT * FROM event WHERE seq > ?1 AND (?2 IS NULL OR thread = ?2)
         AND (?3 IS NULL OR type IN (SELECT value FROM json_each(?3))) ORDER BY seq LIMIT 100`,
      after,
      thread ?? null,
      types === undefined ? null : JSON.stringify(types),
    )
    .map((row) => ({
      seq: Number(row["seq"]),
      type: row["type"] as EventDetail["type"],
      thread: row["thread"] as ThreadId | null,
      at: Number(row["at"]),
      data: (parseJson(row["data"]) ?? {}) as Record<string, unknown>,
    }));
}

/** The number of the newest event; 0 when there is none. */
export function newestEvent(db: Database): number {
  return Number(db.get("SELECT max(seq) AS seq FROM event")?.["seq"] ?? 0);
}
