/** What a checkpoint could not capture, and what it captured with a doubt: one row for each path. */
import { pathFromBytes, pathToBytes } from "../model/byte-path.ts";
import type { Doubt, DoubtReason, Gap } from "../model/checkpoint.ts";
import type { GapReason } from "../model/entry.ts";
import type { Database } from "../store/database.ts";
import { insertRows } from "../store/insert-rows.ts";

/** Stores the gaps of a checkpoint. */
export function insertGaps(db: Database, seq: number, gaps: readonly Gap[]): void {
  insertRows(
    db,
    "INSERT INTO gap (checkpoint, path, reason, size)",
    gaps.map(({ path, reason, size }) => [seq, pathToBytes(path), reason, size]),
  );
}

/** All gaps of a checkpoint, by path. */
export function readGaps(db: Database, seq: number): Gap[] {
  return db
    .all(
      "SELECT CAST(path AS BLOB) AS path, CAST(reason AS TEXT) AS reason, size FROM gap WHERE checkpoint = ? ORDER BY gap.path",
      seq,
    )
    .map((row) => ({
      path: pathFromBytes(row["path"] as Uint8Array),
      reason: row["reason"] as GapReason,
      size: Number(row["size"]),
    }));
}

/** Stores the doubts of a checkpoint. */
export function insertDoubts(db: Database, seq: number, doubts: readonly Doubt[]): void {
  insertRows(
    db,
    "INSERT OR IGNORE INTO doubt (checkpoint, path, reason)",
    doubts.map(({ path, reason }) => [seq, pathToBytes(path), reason]),
  );
}

/** Adds doubts to a checkpoint that is recorded already, if it is still there. */
export function addDoubts(db: Database, id: string, doubts: readonly Doubt[]): void {
  db.transaction(() => {
    const seq = db.get("SELECT seq FROM checkpoint WHERE id = ?", id)?.["seq"];
    if (seq !== undefined) insertDoubts(db, Number(seq), doubts);
  });
}

/** All doubts of a checkpoint, by path. */
export function readDoubts(db: Database, seq: number): Doubt[] {
  return db
    .all(
      "SELECT CAST(path AS BLOB) AS path, CAST(reason AS TEXT) AS reason FROM doubt WHERE checkpoint = ? ORDER BY doubt.path",
      seq,
    )
    .map((row) => ({
      path: pathFromBytes(row["path"] as Uint8Array),
      reason: row["reason"] as DoubtReason,
    }));
}
