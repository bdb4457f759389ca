/**
 * Where in the timeline the store was attached to another directory. What stood there before is not later
 * work (N6).
 */
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/store.ts";
import { checkpointAt } from "./checkpoints.ts";
import { headSeq, onLine } from "./line.ts";
import type { ObjectHash } from "../model/object-hash.ts";

const KEY = "attached_after";

/** Records that the following captures are of another directory. */
export function noteAttach(db: Database): void {
  db.transaction(() => writeMeta(db, KEY, [...new Set([...attachedAfter(db), headSeq(db)])].join(" ")));
}

/** The seqs of the checkpoints after which the store was attached elsewhere. */
function attachedAfter(db: Database): number[] {
  return (readMeta(db, KEY) ?? "").split(" ").filter(Boolean).map(Number);
}

/**
 * The last state captured in one directory and the first in the next; `after` is undefined before the first
 * capture there.
 */
export interface Attach {
  readonly before: ObjectHash | undefined;
  readonly after: ObjectHash | undefined;
}

/** The attaches since a checkpoint. */
export function attachesSince(db: Database, seq: number): Attach[] {
  return attachedAfter(db)
    .filter((last) => last >= seq)
    .map((last) => ({
      before: snapshotAt(db, "max(seq)", `seq <= ${last}`),
      after: snapshotAt(db, "min(seq)", `seq > ${last}`),
    }));
}

/** Only among checkpoints that still exist. */
function snapshotAt(db: Database, which: "max(seq)" | "min(seq)", condition: string): ObjectHash | undefined {
  const isHere = onLine(db, { seq: "seq", branch: "branch" });
  const row = db.get(
    `SELECT ${which} AS seq FROM checkpoint WHERE pruned_at IS NULL AND ${condition} AND ${isHere}`,
  );
  const seq = row?.["seq"];
  return seq === null || seq === undefined ? undefined : checkpointAt(db, Number(seq))?.snapshot;
}
