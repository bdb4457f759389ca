/**
 * The line of a branch: its checkpoints, those of its parent up to where it began, and so on. Numbers of checkpoints
 * are given to all branches in turn, so "since checkpoint 12" means something only on a line. A branch is on one working
 * copy at most, so what is open on the branch is open in that working copy. A checkpoint that was captured elsewhere (its
 * `origin` says where) is on no line: no capture is compared with it, and no step leads to or from it.
 */
import type { Database } from "../store/database.ts";
import { ELSEWHERE, MAIN_BRANCH } from "../store/schema.ts";

/** The checkpoints of a branch up to a number. */
interface Stretch {
  readonly branch: number;
  readonly until: number;
}

/** The id of the branch that the working copy of this connection is on. */
export function branchHere(db: Database): number {
  const row = db.get("SELECT branch FROM working_copy WHERE id = ?", db.workingCopy);
  return Number(row?.["branch"] ?? MAIN_BRANCH);
}

/** The same in SQL; its parameter is the working copy of the connection. */
export const BRANCH_HERE = `coalesce((SELECT branch FROM working_copy WHERE id = ?), ${MAIN_BRANCH})`;

/** The branch here and its newest checkpoint, as one text that tells whether another process changed either. */
export function placeHere(db: Database): string {
  const row = db.get(`SELECT id, head FROM branch WHERE id = ${BRANCH_HERE}`, db.workingCopy);
  return `${String(row?.["id"])} ${String(row?.["head"])}`;
}

/** The seq of a branch's newest checkpoint, pruned or not; 0 when there is none. Of the branch here unless another is given. */
export function headSeq(db: Database, branch?: number): number {
  const row =
    branch === undefined
      ? db.get(`SELECT head FROM branch WHERE id = ${BRANCH_HERE}`, db.workingCopy)
      : db.get("SELECT head FROM branch WHERE id = ?", branch);
  return Number(row?.["head"] ?? 0);
}

/** The id of the branch that a checkpoint is on; undefined when there is no such checkpoint. */
export function branchOf(db: Database, seq: number): number | undefined {
  const row = db.get("SELECT branch FROM checkpoint WHERE seq = ?", seq);
  return row === undefined ? undefined : Number(row["branch"]);
}

/** Which columns of a row say where it belongs. */
export interface PlaceColumns {
  /** A number of a checkpoint. */
  readonly seq: string;
  /** The branch; without it, that of the checkpoint. */
  readonly branch?: string;
}

/**
 * Where a step `s` is. A turn is what came after the checkpoint that opened it: a branch that began with that one does
 * not have the turn.
 */
export const STEP_PLACE = {
  seq: "CASE s.kind WHEN 'turn' THEN s.before + 1 ELSE s.after END",
  branch: "s.branch",
};

/** The SQL condition that a row is on the line of a branch: of the one here unless another is given. */
export function onLine(db: Database, { seq, branch }: PlaceColumns, of = branchHere(db)): string {
  // [N5] nearly every store has one branch and nothing from elsewhere: nothing has to be asked of its rows
  if (db.all("SELECT 1 FROM branch LIMIT 2").length < 2)
    return hasArrivals(db) ? notFromElsewhere({ seq, branch }) : "1";
  if (branch === undefined)
    return `EXISTS (SELECT 1 FROM checkpoint lc WHERE lc.seq = ${seq} AND ${within(db, { seq: "lc.seq", branch: "lc.branch" }, of)})`;
  return within(db, { seq, branch }, of);
}

/** Whether the store has checkpoints that were captured elsewhere. They are on no line. */
function hasArrivals(db: Database): boolean {
  return db.get("SELECT 1 FROM checkpoint WHERE origin IS NOT NULL LIMIT 1") !== undefined;
}

function notFromElsewhere({ seq, branch }: { seq: string; branch: string | undefined }): string {
  return branch === undefined
    ? `NOT EXISTS (SELECT 1 FROM checkpoint lc WHERE lc.seq = ${seq} AND lc.origin IS NOT NULL)`
    : `${branch} <> ${ELSEWHERE}`;
}

function within(db: Database, { seq, branch }: Required<PlaceColumns>, of: number): string {
  const parts = stretchesOf(db, of).map(({ branch: id, until }) =>
    until === Infinity ? `${branch} = ${id}` : `(${branch} = ${id} AND ${seq} <= ${until})`,
  );
  return `(${parts.join(" OR ")})`;
}

function stretchesOf(db: Database, of: number): Stretch[] {
  const stretches: Stretch[] = [];
  let next: Stretch | undefined = { branch: of, until: Infinity };
  while (next !== undefined && !stretches.some(({ branch }) => branch === next!.branch)) {
    stretches.push(next);
    const row = db.get("SELECT parent, coalesce(start, base) AS start FROM branch WHERE id = ?", next.branch);
    next =
      row === undefined || row["parent"] === null
        ? undefined
        : { branch: Number(row["parent"]), until: Math.min(next.until, Number(row["start"] ?? 0)) };
  }
  return stretches;
}

/** A checkpoint by its branch and its seq. */
export interface Place {
  readonly branch: number;
  readonly seq: number;
}

/** The checkpoint of another branch that a branch began with; undefined for the first one. */
export function beginningOf(db: Database, branch: number): Place | undefined {
  const row = db.get(
    `SELECT c.seq AS seq, c.branch AS branch FROM branch b JOIN checkpoint c ON c.seq = coalesce(b.start, b.base)
       WHERE b.id = ? AND b.parent IS NOT NULL`,
    branch,
  );
  return row && { branch: Number(row["branch"]), seq: Number(row["seq"]) };
}
