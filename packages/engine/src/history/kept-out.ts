/** Paths that are never captured, because the user said so: `forget --always`. */
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Database } from "../store/database.ts";

/** What captures and people are told of such a path. */
export const KEPT_OUT_RULE = "forget --always";

export function keepOut(db: Database, path: BytePath, now: number): void {
  db.run("INSERT OR IGNORE INTO kept_out (path, since) VALUES (?, ?)", pathToBytes(path), now);
}

/** False when the path was not kept out. */
export function letIn(db: Database, path: BytePath): boolean {
  const isKeptOut = db.get("SELECT 1 FROM kept_out WHERE path = ?", pathToBytes(path)) !== undefined;
  db.run("DELETE FROM kept_out WHERE path = ?", pathToBytes(path));
  return isKeptOut;
}

/** In order. */
export function keptOutPaths(db: Database): BytePath[] {
  return db
    .all("SELECT path FROM kept_out ORDER BY path")
    .map((row) => pathFromBytes(row["path"] as Uint8Array));
}
