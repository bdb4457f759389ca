/** Whose was a change: the thread, the tool and the message behind a step. */
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";

/** What a store knows of a change beyond its step. */
export interface ChangeAuthor {
  readonly thread: ThreadId | null;
  readonly tool: string | null;
  readonly messageId: string | null;
  readonly prompt: string | null;
}

/** Of a change that a capture found and a step made; both are seqs. */
export function authorOfChange(db: Database, checkpoint: number, step: number): ChangeAuthor {
  const row = db.get(
    `SELECT s.thread, s.prompt,
       (SELECT c.tool FROM checkpoint c WHERE c.seq = ?1 AND c.kind = 'tool' AND c.phase = 'after' AND c.thread = s.thread) AS tool,
       (SELECT coalesce(m.external_id, m.id) FROM message m WHERE m.step = s.id AND m.role = 'user'
          ORDER BY m.number LIMIT 1) AS message
     FROM step s WHERE s.seq = ?2`,
    checkpoint,
    step,
  );
  const text = (column: string) => (row === undefined || row[column] === null ? null : String(row[column]));
  return {
    thread: text("thread") as ThreadId | null,
    tool: text("tool"),
    messageId: text("message"),
    prompt: text("prompt"),
  };
}
