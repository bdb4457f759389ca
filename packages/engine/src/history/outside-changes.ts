/** Changes that no tool made: a person's, a build's, or those of a command that an agent left running. */
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import { isUnseen } from "../model/entry.ts";
import { decodeEntry } from "../model/tree.ts";
import type { Database } from "../store/database.ts";
import { readCheckpointRows, type Change } from "./changes.ts";
import { onLine } from "./line.ts";

/** What happened on another branch changed nothing here. */
const isHere = (db: Database) => onLine(db, { seq: "g.checkpoint" });

/**
 * Paths changed by no tool in checkpoints after this one. [R1890] A file that is captured now because a limit was raised was
 * not changed by that.
 */
export function outsidePathsSince(db: Database, seq: number): BytePath[] {
  const rows = db.all(
    `SELECT DISTINCT path, old, new FROM change g WHERE checkpoint > ? AND attribution = 'outside' AND ${isHere(db)}`,
    seq,
  );
  const changed = rows.filter(
    ({ old, new: now }) => !(isBytes(old) && isBytes(now) && isFirstReading(old, now)),
  );
  return [...new Set(changed.map((row) => pathFromBytes(row["path"] as Uint8Array)))];
}

const isBytes = (value: unknown) => value instanceof Uint8Array;

function isFirstReading(old: Uint8Array, now: Uint8Array): boolean {
  try {
    return isUnseen(decodeEntry(old), decodeEntry(now));
  } catch {
    // damaged: a list of what changed is not what must fail for it
    return false;
  }
}

/** The changes themselves, oldest first, proved unaltered. */
export function outsideChangesSince(db: Database, seq: number): Change[] {
  const captures = db.all(
    `SELECT DISTINCT checkpoint FROM change g WHERE checkpoint > ? AND attribution = 'outside' AND ${isHere(db)}
       ORDER BY checkpoint`,
    seq,
  );
  return captures.flatMap(({ checkpoint }) =>
    readCheckpointRows(db, Number(checkpoint)).filter(({ attribution }) => attribution === "outside"),
  );
}

/** A change by no tool, and the times between which it was made: those of two checkpoints. */
export interface OutsideStretch {
  readonly path: BytePath;
  readonly after: number;
  readonly until: number;
}

/** When the changes by no tool since a checkpoint were made. */
export function outsideStretchesSince(db: Database, seq: number): OutsideStretch[] {
  const rows = db.all(
    `SELECT g.path AS path, c.created_at AS taken,
       (SELECT p.created_at FROM checkpoint p WHERE p.seq < c.seq AND ${onLine(db, { seq: "p.seq", branch: "p.branch" })}
         ORDER BY p.seq DESC LIMIT 1) AS previous
       FROM change g JOIN checkpoint c ON c.seq = g.checkpoint
       WHERE g.checkpoint > ? AND g.attribution = 'outside' AND ${isHere(db)}`,
    seq,
  );
  return rows.map((row) => ({
    path: pathFromBytes(row["path"] as Uint8Array),
    after: Number(row["previous"] ?? 0),
    until: Number(row["taken"]),
  }));
}
