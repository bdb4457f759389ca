/** Conversations with agents: a thread is (agent, external id) with an id of its own. */
import { EngineError } from "../model/errors.ts";
import { isIdPrefix, type ThreadId } from "../model/ids.ts";
import type { Thread } from "../model/checkpoint.ts";
import type { Database, Row } from "../store/database.ts";

/** Finds or creates a thread; call inside a transaction. */
export function openThread(
  db: Database,
  thread: Omit<Thread, "id" | "createdAt">,
  fresh: { id: string; now: number },
): Thread {
  const known = db.get(
    "SELECT * FROM thread WHERE agent = ? AND external_id = ?",
    thread.agent,
    thread.externalId,
  );
  if (known !== undefined) return toThread(known);
  db.run(
    "INSERT INTO thread (id, agent, external_id, title, created_at) VALUES (?, ?, ?, ?, ?)",
    fresh.id,
    thread.agent,
    thread.externalId,
    thread.title,
    fresh.now,
  );
  return { ...thread, id: fresh.id as ThreadId, createdAt: fresh.now };
}

export function listThreads(db: Database): Thread[] {
  return db.all("SELECT * FROM thread ORDER BY seq DESC").map(toThread);
}

/** A thread by id, unique id prefix or external id. */
export function findThread(db: Database, ref: string): Thread {
  const exact = db.all("SELECT * FROM thread WHERE id = ?1 OR external_id = ?1", ref);
  const rows =
    exact.length > 0 || !isIdPrefix(ref)
      ? exact
      : db.all("SELECT * FROM thread WHERE id >= ? AND id < ?", ref, `${ref}{`);
  if (rows.length === 1) return toThread(rows[0]!);
  throw notFound(rows.length === 0 ? "There is no thread" : "More than one thread is called", ref);
}

/** Throws unless there is a thread of this very id. */
export function assertThread(db: Database, id: ThreadId): void {
  if (db.get("SELECT 1 FROM thread WHERE id = ?", id) === undefined) throw notFound("There is no thread", id);
}

function notFound(why: string, ref: string): EngineError<"THREAD_NOT_FOUND"> {
  return new EngineError("THREAD_NOT_FOUND", `${why} "${ref}". Nothing was changed.`, { thread: ref });
}

function toThread(row: Row): Thread {
  return {
    id: String(row["id"]) as ThreadId,
    agent: String(row["agent"]),
    externalId: String(row["external_id"]),
    title: row["title"] === null ? null : String(row["title"]),
    createdAt: Number(row["created_at"]),
  };
}
