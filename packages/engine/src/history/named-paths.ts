/** Paths that a tool or a user named: they are captured from then on, unless a `.belayignore` leaves them out. */
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Database } from "../store/database.ts";
import { newestSeq } from "./checkpoints.ts";

/** Names paths; `isThere` tells of each whether it is on disk now, before the tool writes it. */
export function insertNamedPaths(
  db: Database,
  paths: Iterable<BytePath>,
  isThere: (path: BytePath) => boolean,
): void {
  db.transaction(() => {
    for (const path of paths) {
      db.run(
        "INSERT OR IGNORE INTO named_path (path, since, absent) VALUES (?, ?, ?)",
        pathToBytes(path),
        newestSeq(db),
        isThere(path) ? 0 : 1,
      );
    }
  });
}

/** All paths that were named. */
export function listNamedPaths(db: Database): BytePath[] {
  return db.all("SELECT path FROM named_path").map((row) => pathFromBytes(row["path"] as Uint8Array));
}

/** Paths that were absent when a tool named them: they are known to be absent from every checkpoint up to then. */
export function pathsAbsentFrom(db: Database, seq: number): Set<BytePath> {
  const rows = db.all("SELECT path FROM named_path WHERE absent = 1 AND since >= ?", seq);
  return new Set(rows.map((row) => pathFromBytes(row["path"] as Uint8Array)));
}
