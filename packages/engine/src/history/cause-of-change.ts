/** Who changed a path in a capture? */
import { pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Database } from "../store/database.ts";
import type { Attribution } from "./changes.ts";

/** The attribution of a recorded change, and the seq of the step that made it, or of the first that may have. */
export interface RecordedCause {
  readonly attribution: Attribution["attribution"];
  readonly step: number | null;
}

/** Undefined where the capture recorded no change of the path. */
export function causeOfChange(db: Database, seq: number, path: BytePath): RecordedCause | undefined {
  const row = db.get(
    `SELECT attribution, coalesce(
         (SELECT s.seq FROM step s WHERE s.id = g.step),
         (SELECT s.seq FROM shared_window w JOIN step s ON s.id = w.step
            WHERE w.checkpoint = g.checkpoint AND g.attribution = 'shared' ORDER BY s.seq LIMIT 1)) AS step
       FROM change g WHERE g.checkpoint = ? AND g.path = ?`,
    seq,
    pathToBytes(path),
  );
  if (row === undefined) return undefined;
  return {
    attribution: row["attribution"] as RecordedCause["attribution"],
    step: row["step"] === null ? null : Number(row["step"]),
  };
}
