/** Paths that a tool or a user named: they are captured from then on, unless a `.belayignore` leaves them out. */
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Database } from "../store/database.ts";
import { headSeq } from "./line.ts";

/** Names paths; `isThere` tells of each whether it is on disk now, before the tool writes it. */
export function insertNamedPaths(
  db: Database,
  paths: Iterable<BytePath>,
  isThere: (path: BytePath) => boolean,
): void {
  db.transaction(() => {
    for (const path of paths) {
      db.run(
        "INSERT OR IGNORE INTO named_path (working_copy, path, since, absent) VALUES (?, ?, ?, ?)",
        db.workingCopy,
        pathToBytes(path),
        headSeq(db),
        isThere(path) ? 0 : 1,
      );
    }
  });
}

/** All paths that were named in this working copy. */
export function listNamedPaths(db: Database): BytePath[] {
  return db
    .all("SELECT path FROM named_path WHERE working_copy = ?", db.workingCopy)
    .map((row) => pathFromBytes(row["path"] as Uint8Array));
}

/**
 * Paths that were absent when a tool named them: they are known to be absent from every checkpoint of this working copy up
 * to then. [N6] Of what another directory held that says nothing.
 */
export function pathsAbsentFrom(db: Database, seq: number): Set<BytePath> {
  const rows = db.all(
    `SELECT path FROM named_path WHERE working_copy = ?1 AND absent = 1 AND since >= ?2
       AND EXISTS (SELECT 1 FROM checkpoint WHERE seq = ?2 AND working_copy = ?1)`,
    db.workingCopy,
    seq,
  );
  return new Set(rows.map((row) => pathFromBytes(row["path"] as Uint8Array)));
}
