/**
 * What belongs to one thread or one checkpoint, so that it can be sent alone and cloned: a line must hold every row that
 * its rows name. Branches always go along; the log of operations never does, because it is whole or it is broken.
 */
import type { HistoryRecord, Selection } from "../model/exchange.ts";
import type { Database } from "../store/database.ts";
import { TAG_KIND } from "./synced-tables.ts";

/** Rows of a thread that are sent when the thread is, and not for a checkpoint of it. */
const OF_THREADS = ["step", "message", "tool_call", "agent_run", "uncaptured"];

/** Whether a row is chosen; undefined where that can only be told from its record. */
export type IsChosen = (
  kind: string,
  id: string,
  row: HistoryRecord["row"] | undefined,
) => boolean | undefined;

/** Which rows are chosen; all of them without a selection. */
export function selectionFilter(db: Database, selection: Selection | undefined): IsChosen {
  if (selection === undefined) return () => true;
  const { threads, checkpoints } = closureOf(db, selection);
  return (kind, id, row) => {
    if (kind === "branch") return true;
    if (kind === "operation") return false;
    if (kind === "thread") return threads.has(id);
    if (kind === "checkpoint") return checkpoints.has(id);
    const [first = "", second = ""] = id.split(" ");
    if (kind === "session") return threads.has(first);
    if (kind === "annotation") return first === "" && checkpoints.has(second);
    if (row === undefined) return undefined;
    if (kind === TAG_KIND) return checkpoints.has(String(row["checkpoint"]));
    return OF_THREADS.includes(kind) && selection.thread !== null && row["thread"] === selection.thread;
  };
}

/** Threads and checkpoints that name each other: the states of a thread's sessions and steps, and whose they are. */
function closureOf(
  db: Database,
  { thread, checkpoint }: Selection,
): { threads: Set<string>; checkpoints: Set<string> } {
  const threads = new Set<string>();
  const checkpoints = new Set<string>();
  const waiting: Row[] = [];
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const add = (sql: string, value: string) => {
    for (const row of db.all(sql, value)) waiting.push({ id: text(row["id"]), thread: text(row["thread"]) });
  };
  if (checkpoint !== null) add("SELECT id, thread FROM checkpoint WHERE id = ?", checkpoint);
  if (thread !== null) {
    add("SELECT id, thread FROM checkpoint WHERE thread = ?", thread);
    add(
      "SELECT c.id, c.thread FROM step s JOIN checkpoint c ON c.seq IN (s.before, s.after, s.target) WHERE s.thread = ?",
      thread,
    );
    waiting.push({ id: null, thread });
  }
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    if (row.id !== null) checkpoints.add(row.id);
    if (row.thread === null || threads.has(row.thread)) continue;
    threads.add(row.thread);
    add(
      "SELECT c.id, c.thread FROM session s JOIN checkpoint c ON c.seq IN (s.base, s.approved) WHERE s.thread = ?",
      row.thread,
    );
  }
  return { threads, checkpoints };
}

interface Row {
  readonly id: string | null;
  readonly thread: string | null;
}
