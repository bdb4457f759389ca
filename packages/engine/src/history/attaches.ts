/** Where in the timeline the store came to another directory: what stood there already is nobody's later work (N6). */
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/store.ts";
import { checkpointAt, newestSeq } from "./checkpoints.ts";
import type { ObjectHash } from "../model/object-hash.ts";

const KEY = "attached_after";

/** Notes that what follows is seen in another directory than what is recorded so far. */
export function noteAttach(db: Database): void {
  db.transaction(() => writeMeta(db, KEY, [...new Set([...attachedAfter(db), newestSeq(db)])].join(" ")));
}

/** The numbers of the checkpoints after which the store came to another directory. */
function attachedAfter(db: Database): number[] {
  return (readMeta(db, KEY) ?? "").split(" ").filter(Boolean).map(Number);
}

/** The last state seen in one directory and the first in the next; `after` is undefined before anything is captured there. */
export interface Attach {
  readonly before: ObjectHash | undefined;
  readonly after: ObjectHash | undefined;
}

/** The changes of directory since a checkpoint. */
export function attachesSince(db: Database, seq: number): Attach[] {
  return attachedAfter(db)
    .filter((last) => last >= seq)
    .map((last) => ({
      before: snapshotAt(db, "max(seq)", `seq <= ${last}`),
      after: snapshotAt(db, "min(seq)", `seq > ${last}`),
    }));
}

/** Of the checkpoints that are still there. */
function snapshotAt(db: Database, which: "max(seq)" | "min(seq)", condition: string): ObjectHash | undefined {
  const seq = db.get(`SELECT ${which} AS seq FROM checkpoint WHERE pruned_at IS NULL AND ${condition}`)?.[
    "seq"
  ];
  return seq === null || seq === undefined ? undefined : checkpointAt(db, Number(seq))?.snapshot;
}
