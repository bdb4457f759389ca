/**
 * Turns, or parts of them, without a checkpoint because the disk was full or the store failed. They are
 * reported once there is room again, and appear in the timeline after the checkpoint that was newest then.
 */
import type { UncapturedRequest, UncapturedTurn } from "../model/conversation.ts";
import type { ThreadId } from "../model/ids.ts";
import type { CaptureFailure } from "../model/timeline.ts";
import type { Database, Row } from "../store/database.ts";
import { headSeq } from "./line.ts";
import { insertMessage } from "./messages.ts";

/** Records an uncaptured turn; call inside a transaction. Several reports about one message are combined. */
export function insertUncaptured(
  db: Database,
  thread: ThreadId,
  turn: UncapturedRequest & { readonly id: string },
): void {
  const message = turn.prompt === undefined ? lastPrompt(db, thread) : addPrompt(db, thread, turn);
  db.run(
    `INSERT INTO uncaptured (thread, message, at, until, events, problem, after) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (message) DO UPDATE SET until = max(until, excluded.until), events = events + excluded.events`,
    thread,
    message,
    turn.at,
    turn.until,
    turn.events,
    turn.problem,
    headSeq(db),
  );
}

/** All uncaptured turns, newest first. */
export function listUncaptured(db: Database, thread: ThreadId | undefined): UncapturedTurn[] {
  return db
    .all(
      `SELECT u.*, m.content FROM uncaptured u LEFT JOIN message m ON m.id = u.message
       WHERE ?1 IS NULL OR u.thread = ?1 ORDER BY u.seq DESC`,
      thread ?? null,
    )
    .map(toTurn);
}

/**
 * The beginning of the newest work if it was not captured, and not captured since; null where it was. Work that could not
 * even be recorded yet counts, too.
 */
export function failingSince(
  db: Database,
  { newest, unrecorded }: { newest: number; unrecorded: readonly CaptureFailure[] },
): CaptureFailure | null {
  const first = listUncaptured(db, undefined).findLast(({ after }) => after >= newest);
  const { since, problem } = (first && { ...first, since: first.at }) ?? unrecorded[0] ?? {};
  return since === undefined || problem === undefined ? null : { since, problem };
}

function addPrompt(
  db: Database,
  thread: ThreadId,
  { id, prompt, messageId, at }: UncapturedRequest & { id: string },
) {
  const named = messageId === undefined ? {} : { externalId: messageId };
  const about = { id, thread, now: at, checkpoint: null, step: null };
  return insertMessage(db, { ...about, role: "user", content: prompt!, ...named }).id;
}

function lastPrompt(db: Database, thread: ThreadId): string | null {
  const row = db.get(
    "SELECT id FROM message WHERE thread = ? AND role = 'user' ORDER BY number DESC LIMIT 1",
    thread,
  );
  return row === undefined ? null : String(row["id"]);
}

function toTurn(row: Row): UncapturedTurn {
  return {
    thread: row["thread"] as ThreadId,
    messageId: row["message"] === null ? null : String(row["message"]),
    prompt: row["content"] === null ? null : String(row["content"]),
    at: Number(row["at"]),
    until: Number(row["until"]),
    events: Number(row["events"]),
    problem: String(row["problem"]),
    after: Number(row["after"]),
  };
}
