/**
 * Approval sessions. Each thread has exactly one open session; its base is the approved state. A thread's
 * first checkpoint becomes the base of its first session.
 */
import { EngineError } from "../model/errors.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import type { Session, SessionName } from "../model/session.ts";
import type { Database, Row } from "../store/database.ts";

/** The open session of a thread. */
export interface OpenSession {
  readonly number: number;
  readonly name: SessionName;
  /** The seq of the approved checkpoint; null while the thread has none. */
  readonly base: number | null;
}

/** Opens the first session of a new thread. */
export function openFirstSession(db: Database, thread: ThreadId, now: number): void {
  openSession(db, { thread, number: 1, base: null, now });
}

function openSession(
  db: Database,
  session: { thread: ThreadId; number: number; base: number | null; now: number },
): void {
  db.run(
    "INSERT INTO session (thread, number, status, opened_at, base) VALUES (?, ?, 'active', ?, ?)",
    session.thread,
    session.number,
    session.now,
    session.base,
  );
}

/** The open session of a thread. */
export function readOpenSession(db: Database, thread: ThreadId): OpenSession {
  const row = db.get("SELECT number, base FROM session WHERE thread = ? AND status = 'active'", thread);
  if (row === undefined)
    throw new EngineError(
      "STORE_CORRUPT",
      `The thread ${thread} has no open session: the store is damaged. Nothing was changed.`,
      { store: "session" },
    );
  const number = Number(row["number"]);
  return {
    number,
    name: `session_${number}`,
    base: row["base"] === null ? null : Number(row["base"]),
  };
}

/** Makes a thread's first checkpoint the base of its first session. */
export function setFirstSessionBase(db: Database, thread: ThreadId, seq: number): void {
  db.run("UPDATE session SET base = ? WHERE thread = ? AND status = 'active' AND base IS NULL", seq, thread);
}

/** Closes the open session and opens the next one; `approved` is the approval that closes it. */
export function closeSession(
  db: Database,
  thread: ThreadId,
  closing: { approved: number | null; message: string | null; now: number },
): { session: SessionName; newSession: SessionName } {
  const { number, name, base } = readOpenSession(db, thread);
  const { approved, message, now } = closing;
  db.run(
    "UPDATE session SET status = ?, closed_at = ?, approved = ?, message = ? WHERE thread = ? AND number = ?",
    approved === null ? "abandoned" : "merged",
    now,
    approved,
    message,
    thread,
    number,
  );
  openSession(db, { thread, number: number + 1, base: approved ?? base, now });
  return { session: name, newSession: `session_${number + 1}` };
}

/** An approval ends its session and is not one of its checkpoints. */
const OWN = "c.pruned_at IS NULL AND c.kind <> 'approve'";

/** How many checkpoints a session has on top of the state it started from. */
export function countSessionCheckpoints(db: Database, thread: ThreadId, { name, base }: OpenSession): number {
  const row = db.get(
    `SELECT count(*) AS n FROM checkpoint c WHERE c.thread = ? AND c.session = ? AND c.seq > ? AND ${OWN}`,
    thread,
    name,
    base ?? 0,
  );
  return Number(row?.["n"] ?? 0);
}

/** All sessions of a thread in order. */
export function listSessions(db: Database, thread: ThreadId): Session[] {
  return db
    .all(
      `SELECT s.*, b.id AS base_id, a.id AS approved_id,
         (SELECT count(*) FROM checkpoint c WHERE c.thread = s.thread AND c.session = 'session_' || s.number AND ${OWN}
            AND c.seq > coalesce(s.base, 0)) AS checkpoints,
         (SELECT c.id FROM checkpoint c WHERE c.thread = s.thread AND c.session = 'session_' || s.number AND c.pruned_at IS NULL
            ORDER BY c.seq DESC LIMIT 1) AS head
       FROM session s LEFT JOIN checkpoint b ON b.seq = s.base LEFT JOIN checkpoint a ON a.seq = s.approved
       WHERE s.thread = ? ORDER BY s.number`,
      thread,
    )
    .map(toSession);
}

/** The seqs of checkpoints that an approval stands on: they are never pruned. */
export function approvedSeqs(db: Database): Set<number> {
  const rows = db.all(
    "SELECT base AS seq FROM session WHERE base IS NOT NULL UNION SELECT approved FROM session WHERE approved IS NOT NULL",
  );
  return new Set(rows.map((row) => Number(row["seq"])));
}

/** An approval: it covers what came after `base`, up to `approved`. */
export interface ApprovedStretch {
  readonly thread: ThreadId;
  readonly base: number;
  readonly approved: number;
}

/** The approvals of all threads. What was approved elsewhere covers nothing of this line. */
export function approvedStretches(db: Database): ApprovedStretch[] {
  return db
    .all(
      `SELECT thread, coalesce(base, 0) AS base, approved FROM session WHERE status = 'merged'
         AND approved NOT IN (SELECT seq FROM checkpoint WHERE origin IS NOT NULL)`,
    )
    .map((row) => ({
      thread: row["thread"] as ThreadId,
      base: Number(row["base"]),
      approved: Number(row["approved"]),
    }));
}

/** When a thread was last approved; null = never. */
export function readLastApproval(db: Database, thread: ThreadId): number | null {
  const row = db.get(
    "SELECT max(closed_at) AS at FROM session WHERE thread = ? AND status = 'merged'",
    thread,
  );
  return row?.["at"] === null || row === undefined ? null : Number(row["at"]);
}

function toSession(row: Row): Session {
  const id = (column: string) => (row[column] === null ? null : (String(row[column]) as CheckpointId));
  return {
    name: `session_${Number(row["number"])}`,
    status: row["status"] as Session["status"],
    createdAt: Number(row["opened_at"]),
    closedAt: row["closed_at"] === null ? null : Number(row["closed_at"]),
    base: id("base_id"),
    approved: id("approved_id"),
    head: id("head"),
    message: row["message"] === null ? null : String(row["message"]),
    checkpoints: Number(row["checkpoints"]),
  };
}
