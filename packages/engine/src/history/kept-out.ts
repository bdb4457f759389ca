/** Paths the user excluded permanently: `forget --always`. */
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Database } from "../store/database.ts";

/** How such a path is named as a rule. */
export const KEPT_OUT_RULE = "forget --always";

/** Excludes a path permanently. */
export function keepOut(db: Database, path: BytePath, now: number): void {
  db.run("INSERT OR IGNORE INTO kept_out (path, since) VALUES (?, ?)", pathToBytes(path), now);
}

/** Lifts the exclusion; false when there was none. */
export function liftExclusion(db: Database, path: BytePath): boolean {
  const isKeptOut = db.get("SELECT 1 FROM kept_out WHERE path = ?", pathToBytes(path)) !== undefined;
  db.run("DELETE FROM kept_out WHERE path = ?", pathToBytes(path));
  return isKeptOut;
}

/** All excluded paths, sorted. */
export function keptOutPaths(db: Database): BytePath[] {
  return db
    .all("SELECT path FROM kept_out ORDER BY path")
    .map((row) => pathFromBytes(row["path"] as Uint8Array));
}
