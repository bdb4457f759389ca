/** Checkpoints and conversations that came from elsewhere, as rows. */
import type { ImportedMessage, ImportedSession } from "../model/arrival.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import { aliasedSeq } from "./aliases.ts";
import { checkpointAt } from "./checkpoints.ts";
import { headSeq } from "./line.ts";
import { findMessage } from "./messages.ts";

/** A checkpoint that comes again: one that was dropped is there again, and gets old from now on. */
export function reviveCheckpoint(db: Database, seq: number, now: number): Checkpoint {
  db.run(
    `UPDATE checkpoint SET pruned_at = NULL, arrived_at = CASE WHEN origin IS NULL THEN NULL ELSE ?1 END
       WHERE seq = ?2 AND pruned_at IS NOT NULL`,
    now,
    seq,
  );
  return checkpointAt(db, seq)!;
}

/** A checkpoint that was fetched is used: it is kept for a while from now on. */
export function noteUse(db: Database, seq: number, now: number): void {
  db.transaction(() =>
    db.run("UPDATE checkpoint SET arrived_at = ? WHERE seq = ? AND origin IS NOT NULL", now, seq),
  );
}

/** Where the rows of an imported conversation belong. */
export interface ArrivedThread {
  readonly thread: ThreadId;
  readonly origin: string;
  readonly newId: () => string;
}

/**
 * Gives a new thread the sessions that it had elsewhere. The open one has no approved state here: nothing that came from
 * elsewhere is what pending changes are compared with.
 */
export function insertSessions(
  db: Database,
  { thread, origin }: ArrivedThread,
  sessions: readonly ImportedSession[],
): void {
  if (sessions.length === 0) return;
  db.run("DELETE FROM session WHERE thread = ?", thread);
  const seqNamed = (name: string | null) =>
    name === null ? null : (aliasedSeq(db, { origin, name }) ?? null);
  for (const session of sessions) {
    const isOpen = session.status === "active";
    db.run(
      "INSERT INTO session (thread, number, status, opened_at, closed_at, base, approved, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      thread,
      Number(session.name.slice("session_".length)),
      session.status,
      session.createdAt,
      isOpen ? null : session.closedAt,
      isOpen ? null : seqNamed(session.base),
      isOpen ? null : seqNamed(session.approved),
      session.message,
    );
  }
}

/** Adds messages of an imported conversation, and returns how many are new. */
export function insertArrivedMessages(
  db: Database,
  { thread, origin, newId }: ArrivedThread,
  messages: readonly ImportedMessage[],
): number {
  let added = 0;
  let number = Number(
    db.get("SELECT coalesce(max(number), -1) + 1 AS n FROM message WHERE thread = ?", thread)?.["n"],
  );
  let since = headSeq(db);
  for (const message of messages) {
    const checkpoint =
      message.checkpoint === undefined ? undefined : aliasedSeq(db, { origin, name: message.checkpoint });
    since = checkpoint ?? since;
    if (isKnown(db, thread, message)) continue;
    db.run(
      `INSERT INTO message (id, thread, number, role, content, external_id, created_at, session, checkpoint, since, step, artifacts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)`,
      newId(),
      thread,
      number,
      message.role,
      message.content,
      message.externalId ?? null,
      message.createdAt,
      message.session ?? "session_1",
      checkpoint ?? null,
      since,
      JSON.stringify(message.artifacts ?? []),
    );
    number += 1;
    added += 1;
  }
  return added;
}

/** A message without an id of its own is known by its words and its time. */
function isKnown(db: Database, thread: ThreadId, message: ImportedMessage): boolean {
  const { externalId, role, content, createdAt } = message;
  if (externalId !== undefined) return findMessage(db, thread, externalId) !== undefined;
  const same = "SELECT 1 FROM message WHERE thread = ? AND role = ? AND content = ? AND created_at = ?";
  return db.get(same, thread, role, content, createdAt) !== undefined;
}

/** Notes when a conversation from elsewhere began and was last at work there. */
export function setThreadTimes(
  db: Database,
  thread: ThreadId,
  { createdAt, updatedAt }: { createdAt: number; updatedAt: number },
): void {
  db.run(
    "UPDATE thread SET created_at = ?, updated_at = ?, heard_at = ? WHERE id = ?",
    createdAt,
    updatedAt,
    updatedAt,
    thread,
  );
}
