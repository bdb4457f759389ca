/** Whether a workspace captures everything or only what was named: `coverage` in `meta`, which is there while it is named. */
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/store.ts";

/** What captures see: everything that the rules let in, or exactly the paths that were named. */
export type Coverage = "all" | "named";

const KEY = "coverage";

/** Limits a new workspace to what is named. */
export function coverOnlyNamed(db: Database): void {
  writeMeta(db, KEY, "named");
}

/** Whether captures see everything or the paths that were named. */
export function readCoverage(db: Database): Coverage {
  return readMeta(db, KEY) === "named" ? "named" : "all";
}

/** Everything is captured from now on; there is no way back. */
export function coverAll(db: Database): void {
  db.run("DELETE FROM meta WHERE key = ?", KEY);
}
