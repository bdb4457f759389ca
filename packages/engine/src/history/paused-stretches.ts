/**
 * The periods without captures, from the log of operations. Changes made then are known, their authors are
 * not.
 */
import type { Database } from "../store/database.ts";
import { onLine, STEP_PLACE } from "./line.ts";

/** In milliseconds since 1970. */
interface Stretch {
  readonly from: number;
  readonly until: number;
}

/** Oldest first; an extended pause is one period. */
export function pausedStretches(db: Database): Stretch[] {
  const stretches: Stretch[] = [];
  const rows = db.all(
    `SELECT kind, at, json_extract(detail, '$.until') AS until FROM operation WHERE kind IN ('pause', 'resume') ORDER BY seq`,
  );
  for (const row of rows) {
    const at = Number(row["at"]);
    const isPause = row["kind"] === "pause";
    const last = stretches.at(-1);
    if (last !== undefined && last.until > at)
      stretches[stretches.length - 1] = {
        from: last.from,
        until: isPause ? Math.max(last.until, Number(row["until"])) : at,
      };
    else if (isPause) stretches.push({ from: at, until: Number(row["until"]) });
  }
  return stretches;
}

/** How many prompts were sent during pauses after a moment: those turns are not steps. */
export function countPausedTurns(db: Database, after: number): number {
  const stretches = pausedStretches(db);
  if (stretches.length === 0) return 0;
  return db
    .all("SELECT created_at FROM message WHERE role = 'user' AND step IS NULL AND created_at > ?", after)
    .map((row) => Number(row["created_at"]))
    .filter((at) => stretches.some(({ from, until }) => from <= at && at < until)).length;
}

/** How many of them since the newest turn that is a step. */
export function countNewestPausedTurns(db: Database): number {
  const newest = db.get(
    `SELECT max(opened_at) AS at FROM step s WHERE kind = 'turn' AND ${onLine(db, STEP_PLACE)}`,
  );
  return countPausedTurns(db, Number(newest?.["at"] ?? 0));
}
