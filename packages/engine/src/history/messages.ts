/** The messages of a thread. They are numbered, marked when rolled back, and never deleted. */
import type { History, HistoryOptions, Message, MessageRequest, MessageRole } from "../model/conversation.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import type { SessionName } from "../model/session.ts";
import type { Database, Row } from "../store/database.ts";
import { parseJson } from "./row-json.ts";
import { headSeq } from "./line.ts";
import { readOpenSession } from "./sessions.ts";

const PAGE = 100;

/** A message to insert. */
export interface NewMessage extends MessageRequest {
  readonly id: string;
  readonly thread: ThreadId;
  readonly now: number;
  /** The seq of the checkpoint taken before it. */
  readonly checkpoint: number | null;
  readonly step: string | null;
}

/** Adds a message; call inside a transaction. If its external id is known, returns the existing one. */
export function insertMessage(db: Database, message: NewMessage): Message {
  const { thread, externalId } = message;
  const known = externalId === undefined ? undefined : findMessage(db, thread, externalId);
  if (known !== undefined) return known;
  const number = Number(
    db.get("SELECT coalesce(max(number), -1) + 1 AS n FROM message WHERE thread = ?", thread)?.["n"],
  );
  db.run(
    `INSERT INTO message (id, thread, number, role, content, external_id, created_at, session, checkpoint, since, step, artifacts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    message.id,
    thread,
    number,
    message.role,
    message.content,
    externalId ?? null,
    message.now,
    readOpenSession(db, thread).name,
    message.checkpoint,
    message.checkpoint ?? headSeq(db),
    message.step,
    JSON.stringify(message.artifacts ?? []),
  );
  db.run("UPDATE thread SET updated_at = max(updated_at, ?) WHERE id = ?", message.now, thread);
  return toMessage(db.get(`${SELECT} WHERE m.thread = ? AND m.number = ?`, thread, number)!);
}

/** A message by its agent's id. */
export function findMessage(db: Database, thread: ThreadId, externalId: string): Message | undefined {
  const row = db.get(`${SELECT} WHERE m.thread = ? AND m.external_id = ?`, thread, externalId);
  return row === undefined ? undefined : toMessage(row);
}

/** A message by its id. */
export function readMessage(db: Database, id: string): Message | undefined {
  const row = db.get(`${SELECT} WHERE m.id = ?`, id);
  return row === undefined ? undefined : toMessage(row);
}

/** A message by its id or its agent's id; throws when there is none. */
export function resolveMessage(db: Database, ref: string): Message {
  const rows = db.all(`${SELECT} WHERE m.id = ?1 OR m.external_id = ?1 ORDER BY m.seq`, ref);
  if (rows.length === 1) return toMessage(rows[0]!);
  const why = rows.length === 0 ? "There is no message" : "More than one message is called";
  throw new EngineError("MESSAGE_NOT_FOUND", `${why} "${ref}". Nothing was changed.`, { message: ref });
}

/** One page of a thread's messages. */
export function readHistory(db: Database, thread: ThreadId, options: HistoryOptions): History {
  const limit = Math.max(1, Math.trunc(options.limit ?? PAGE));
  const rows = db.all(
    `${SELECT} WHERE m.thread = ? AND m.number < ? ORDER BY m.number DESC LIMIT ?`,
    thread,
    options.before ?? Number.MAX_SAFE_INTEGER,
    limit + 1,
  );
  const messages = rows.slice(0, limit).map(toMessage).reverse();
  return {
    messages,
    total: Number(db.get("SELECT count(*) AS n FROM message WHERE thread = ?", thread)?.["n"]),
    cursor: rows.length > limit ? messages[0]!.index : null,
  };
}

/** What a checkpoint records about the conversation: messages that are not rolled back. */
export function conversationFacts(
  db: Database,
  thread: ThreadId,
): { messageCount: number; lastMessageId: string | null; lastIndex: number | null } {
  const row = db.get(
    `SELECT count(*) AS n, max(number) AS last,
       (SELECT coalesce(external_id, id) FROM message WHERE thread = ?1 AND rolled_back_by IS NULL ORDER BY number DESC LIMIT 1) AS id
     FROM message WHERE thread = ?1 AND rolled_back_by IS NULL`,
    thread,
  )!;
  return {
    messageCount: Number(row["n"]),
    lastMessageId: row["id"] === null ? null : String(row["id"]),
    lastIndex: row["last"] === null ? null : Number(row["last"]),
  };
}

const SELECT =
  "SELECT m.*, c.id AS checkpoint_id, u.problem AS uncaptured FROM message m LEFT JOIN checkpoint c ON c.seq = m.checkpoint LEFT JOIN uncaptured u ON u.message = m.id";

function toMessage(row: Row): Message {
  return {
    id: String(row["id"]),
    thread: row["thread"] as ThreadId,
    index: Number(row["number"]),
    role: row["role"] as MessageRole,
    content: String(row["content"]),
    externalId: row["external_id"] === null ? null : String(row["external_id"]),
    createdAt: Number(row["created_at"]),
    session: row["session"] as SessionName,
    checkpoint: row["checkpoint_id"] === null ? null : (String(row["checkpoint_id"]) as CheckpointId),
    artifacts: (parseJson(row["artifacts"]) ?? []) as unknown[],
    rolledBack: row["rolled_back_by"] !== null,
    uncaptured: row["uncaptured"] === null ? null : String(row["uncaptured"]),
  };
}

/**
 * seq of the checkpoint at which the effect of a message ends, given that of its own; undefined = it has not ended. What was
 * captured elsewhere and what was captured here end nothing of each other.
 */
export function endOfMessage(db: Database, thread: ThreadId, seq: number): number | undefined {
  const row = db.get(
    `SELECT min(seq) AS seq FROM (
       SELECT min(seq) AS seq FROM checkpoint WHERE thread = ?1 AND kind = 'message' AND seq > ?2
         AND origin IS (SELECT origin FROM checkpoint WHERE seq = ?2)
       UNION ALL
       SELECT CASE s.kind WHEN 'turn' THEN s.after ELSE s.before END FROM checkpoint c JOIN step s ON s.id = c.rolled_back_by WHERE c.seq = ?2)`,
    thread,
    seq,
  );
  return row?.["seq"] === null || row === undefined ? undefined : Number(row["seq"]);
}
