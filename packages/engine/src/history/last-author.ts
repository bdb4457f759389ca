/** Whose change of a path stands in the way of taking another one out. */
import { pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import { onLine } from "./line.ts";

/** Steps and a thread that do not count. */
export interface Except {
  readonly steps?: readonly string[];
  readonly thread?: ThreadId;
}

/** The thread that changed a path last on the line here, apart from the given ones; undefined when none is known. */
export function lastAuthor(
  db: Database,
  path: BytePath,
  { steps = [], thread }: Except,
): ThreadId | undefined {
  const row = db.get(
    `SELECT s.thread AS thread FROM change g JOIN step s ON s.id = g.step
       WHERE g.path = ?1 AND s.thread IS NOT NULL AND s.id NOT IN (SELECT value FROM json_each(?2))
       AND (?3 IS NULL OR s.thread <> ?3) AND ${onLine(db, { seq: "g.checkpoint" })} ORDER BY g.checkpoint DESC LIMIT 1`,
    pathToBytes(path),
    JSON.stringify(steps),
    thread ?? null,
  );
  return row === undefined ? undefined : (row["thread"] as ThreadId);
}
