/** Which recorded change of a path is the newest: what stands in the way of taking an earlier one out. */
import { pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Database } from "../store/database.ts";
import type { Attribution } from "./changes.ts";
import type { Except } from "./last-author.ts";
import { onLine } from "./line.ts";

/** A recorded change without its content. */
export interface LatestRecord {
  /** The seq of the checkpoint that found it. */
  readonly checkpoint: number;
  readonly foundAt: number;
  readonly attribution: Attribution["attribution"];
  /** The agent of its step; null where no agent made it. */
  readonly agent: string | null;
}

/** The newest change of a path after a checkpoint on the line here, apart from the given ones. */
export function latestRecord(
  db: Database,
  { path, after }: { readonly path: BytePath; readonly after: number },
  { steps = [], thread }: Except,
): LatestRecord | undefined {
  const row = db.get(
    `SELECT g.checkpoint AS checkpoint, g.attribution AS attribution, c.created_at AS at, t.agent AS agent
       FROM change g JOIN checkpoint c ON c.seq = g.checkpoint
       LEFT JOIN step s ON s.id = g.step LEFT JOIN thread t ON t.id = s.thread
       WHERE g.checkpoint > ?1 AND g.path = ?2 AND (g.step IS NULL OR g.step NOT IN (SELECT value FROM json_each(?3)))
       AND (?4 IS NULL OR s.thread IS NOT ?4) AND ${onLine(db, { seq: "g.checkpoint" })}
       ORDER BY g.checkpoint DESC LIMIT 1`,
    after,
    pathToBytes(path),
    JSON.stringify(steps),
    thread ?? null,
  );
  return (
    row && {
      checkpoint: Number(row["checkpoint"]),
      foundAt: Number(row["at"]),
      attribution: row["attribution"] as Attribution["attribution"],
      agent: row["agent"] === null ? null : String(row["agent"]),
    }
  );
}

/** The agent of a step; null where it has none. */
export function agentOfStep(db: Database, step: string | null): string | null {
  const row = db.get(
    "SELECT t.agent AS agent FROM step s JOIN thread t ON t.id = s.thread WHERE s.id = ?",
    step,
  );
  return row === undefined ? null : String(row["agent"]);
}
