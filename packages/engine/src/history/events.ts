/**
 * What others want to hear of, in its order. Written in the transaction that makes it true, so that an event
 * is never heard of something that did not happen; rows name things, readers get them as they are now.
 */
import type { ThreadId } from "../model/ids.ts";
import type { EventDetail } from "../model/event.ts";
import type { Database } from "../store/database.ts";
import { parseJson } from "./checkpoints.ts";

/** Events this far back are forgotten: whoever was away longer reads the lists instead. */
const KEPT_EVENTS = 10_000;

export interface EventRow {
  readonly seq: number;
  readonly type: EventDetail["type"];
  readonly thread: ThreadId | null;
  readonly at: number;
  readonly data: Record<string, unknown>;
}

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

export function readEvents(db: Database, after: number, thread: ThreadId | undefined): EventRow[] {
  return db
    .all(
      "SELECT * FROM event WHERE seq > ?1 AND (?2 IS NULL OR thread = ?2) ORDER BY seq LIMIT 100",
      after,
      thread ?? null,
    )
    .map((row) => ({
      seq: Number(row["seq"]),
      type: row["type"] as EventDetail["type"],
      thread: row["thread"] as ThreadId | null,
      at: Number(row["at"]),
      data: (parseJson(row["data"]) ?? {}) as Record<string, unknown>,
    }));
}

export function newestEvent(db: Database): number {
  return Number(db.get("SELECT max(seq) AS seq FROM event")?.["seq"] ?? 0);
}
