/** Threads: each is (agent, external id) with an id of its own. */
import { EngineError } from "../model/errors.ts";
import { isIdPrefix, type CheckpointId, type ThreadId } from "../model/ids.ts";
import type { Thread } from "../model/checkpoint.ts";
import type { ThreadSummary } from "../model/conversation.ts";
import type { Database, Row } from "../store/database.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import { CLOSED_AT } from "./closed-threads.ts";
import { openFirstSession } from "./sessions.ts";
import { setBrackets } from "./tool-calls.ts";

/** Finds or creates a thread; call inside a transaction. A deleted one becomes visible again. */
export function openThread(
  db: Database,
  thread: Pick<Thread, "agent" | "externalId" | "title">,
  fresh: { id: string; now: number },
): Thread {
  const known = db.get(
    "SELECT * FROM thread WHERE agent = ? AND external_id = ?",
    thread.agent,
    thread.externalId,
  );
  if (known !== undefined) {
    if (known["deleted_at"] !== null)
      db.run("UPDATE thread SET deleted_at = NULL WHERE id = ?", String(known["id"]));
    return toThread(known);
  }
  db.run(
    "INSERT INTO thread (id, agent, external_id, title, created_at, updated_at, heard_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)",
    fresh.id,
    thread.agent,
    thread.externalId,
    thread.title,
    fresh.now,
  );
  openFirstSession(db, fresh.id as ThreadId, fresh.now);
  const { agent, externalId, title } = thread;
  return { id: fresh.id as ThreadId, agent, externalId, title, createdAt: fresh.now };
}

/** The id of the thread that an agent calls so; undefined when there is none. */
export function threadIdOf(
  db: Database,
  { agent, externalId }: Pick<Thread, "agent" | "externalId">,
): ThreadId | undefined {
  const row = db.get("SELECT id FROM thread WHERE agent = ? AND external_id = ?", agent, externalId);
  return row === undefined ? undefined : (String(row["id"]) as ThreadId);
}

/** All threads, newest first. */
export function listThreads(db: Database): ThreadSummary[] {
  return db.all(`${SUMMARY} WHERE t.deleted_at IS NULL ORDER BY t.seq DESC`).map(toSummary);
}

/** A thread by id, unique id prefix or external id. */
export function findThread(db: Database, ref: string): ThreadSummary {
  const find = (condition: string, ...values: string[]) =>
    db.all(`${SUMMARY} WHERE t.deleted_at IS NULL AND (${condition})`, ...values);
  const exact = find("t.id = ?1 OR t.external_id = ?1", ref);
  const rows = exact.length > 0 || !isIdPrefix(ref) ? exact : find("t.id >= ? AND t.id < ?", ref, `${ref}{`);
  if (rows.length === 1) return toSummary(rows[0]!);
  if (rows.length === 0) throw notFound(ref);
  throw new EngineError("THREAD_AMBIGUOUS", `"${ref}" means ${rows.length} threads. Nothing was changed.`, {
    thread: ref,
    candidates: rows.map(toThread).map(({ id, agent, title }) => ({ id, agent, title })),
  });
}

/** The threads with this id, and of agents whose name begins so; null asks for any. Deleted ones are among them. */
export function threadsOf(
  db: Database,
  { thread, agent }: { thread: ThreadId | null; agent: string | null },
): ThreadId[] {
  const rows = db.all(
    "SELECT id FROM thread WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR substr(agent, 1, length(?2)) = ?2 COLLATE NOCASE)",
    thread,
    agent,
  );
  return rows.map((row) => String(row["id"]) as ThreadId);
}

/** Updates when a thread was last active. `isAgent`: an agent's event, not a person's restore. */
export function touchThread(
  db: Database,
  id: ThreadId,
  { now, isAgent }: { now: number; isAgent: boolean },
): void {
  db.run(
    "UPDATE thread SET updated_at = max(updated_at, ?1), heard_at = CASE ?2 WHEN 1 THEN max(heard_at, ?1) ELSE heard_at END WHERE id = ?3",
    now,
    isAgent ? 1 : 0,
    id,
  );
}

/** Records what is known about the agent of a thread; writes only when it changed. */
export function noteAgent(
  db: Database,
  id: ThreadId,
  { client, brackets }: { client?: ProcessIdentity | null | undefined; brackets?: boolean | undefined },
): void {
  if (client !== undefined)
    db.run(
      "UPDATE thread SET client = ?1 WHERE id = ?2 AND client IS NOT ?1",
      client === null ? null : JSON.stringify(client),
      id,
    );
  if (brackets === true) setBrackets(db, id, true);
}

/** Sets or clears the title of a thread. */
export function setTitle(db: Database, id: ThreadId, title: string | null): void {
  db.run("UPDATE thread SET title = ? WHERE id = ?", title, id);
}

/** Titles a thread by its first prompt, unless it has a title. */
export function nameThread(db: Database, id: ThreadId, title: string): void {
  db.run("UPDATE thread SET title = ? WHERE id = ? AND title IS NULL", title, id);
}

/** Hides a thread. The row stays, because checkpoints and steps refer to it. */
export function hideThread(db: Database, id: ThreadId, now: number): void {
  db.run("UPDATE thread SET deleted_at = ? WHERE id = ?", now, id);
}

/** The thread that was last at work. */
export function lastActiveThread(db: Database): ThreadSummary | undefined {
  const row = db.get(`${SUMMARY} WHERE t.deleted_at IS NULL ORDER BY t.updated_at DESC, t.seq DESC LIMIT 1`);
  return row === undefined ? undefined : toSummary(row);
}

/** The agent and external id of a thread, even of a deleted one. */
export function threadOrigin(db: Database, id: ThreadId): Pick<Thread, "agent" | "externalId"> {
  const row = db.get("SELECT agent, external_id FROM thread WHERE id = ?", id);
  if (row === undefined) throw notFound(id);
  return { agent: String(row["agent"]), externalId: String(row["external_id"]) };
}

/** Throws unless a thread with exactly this id exists. */
export function assertThread(db: Database, id: ThreadId): void {
  if (db.get("SELECT 1 FROM thread WHERE id = ?", id) === undefined) throw notFound(id);
}

function notFound(ref: string): EngineError<"THREAD_NOT_FOUND"> {
  return new EngineError("THREAD_NOT_FOUND", `There is no thread "${ref}". Nothing was changed.`, {
    thread: ref,
  });
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

const SUMMARY = `SELECT t.*,
    (SELECT count(*) FROM message m WHERE m.thread = t.id) AS messages,
    (SELECT count(*) FROM checkpoint c WHERE c.thread = t.id AND c.pruned_at IS NULL) AS checkpoints,
    (SELECT c.id FROM session s JOIN checkpoint c ON c.seq = s.base WHERE s.thread = t.id AND s.number = 1) AS initial,
    (SELECT max(s.number) FROM session s WHERE s.thread = t.id) AS session,
    (SELECT max(s.closed_at) FROM session s WHERE s.thread = t.id AND s.status = 'merged') AS approved_at,
    ${CLOSED_AT} AS closed_at
  FROM thread t`;

function toSummary(row: Row): ThreadSummary {
  return {
    ...toThread(row),
    updatedAt: Number(row["updated_at"]),
    messages: Number(row["messages"]),
    checkpoints: Number(row["checkpoints"]),
    initialCheckpoint: row["initial"] === null ? null : (String(row["initial"]) as CheckpointId),
    session: `session_${Number(row["session"])}`,
    lastApprovedAt: row["approved_at"] === null ? null : Number(row["approved_at"]),
    closedAt: row["closed_at"] === null ? null : Number(row["closed_at"]),
  };
}
