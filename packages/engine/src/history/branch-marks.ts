/** Where branches show in the timeline: which rows lie on another branch than the one here, and where branches begin. */
import type { Database } from "../store/database.ts";
import { branchHere, onLine } from "./line.ts";

/** The names of branches by the seqs of checkpoints. */
export interface BranchMarks {
  /** Of checkpoints that are not on the branch here: their branch. */
  readonly elsewhere: ReadonlyMap<number, string>;
  /** Branches that began on the line here, oldest first, each with the seq of the checkpoint that it began with. */
  readonly begun: readonly { readonly name: string; readonly seq: number }[];
}

/** The marks of a page; undefined where there is only one branch, which needs none. */
export function readBranchMarks(db: Database, seqs: readonly number[]): BranchMarks | undefined {
  // [N5] nearly every store has one branch: nothing has to be asked of its rows
  if (db.all("SELECT 1 FROM branch LIMIT 2").length < 2) return undefined;
  const here = branchHere(db);
  const rows = db.all(
    `SELECT c.seq AS seq, b.name AS name FROM checkpoint c JOIN branch b ON b.id = c.branch
       WHERE c.seq IN (SELECT value FROM json_each(?1)) AND c.branch <> ?2`,
    JSON.stringify(seqs),
    here,
  );
  const begun = db.all(
    `SELECT b.name AS name, c.seq AS seq FROM branch b JOIN checkpoint c ON c.seq = coalesce(b.start, b.base)
       WHERE b.state <> 'discarded' AND b.parent IS NOT NULL AND b.id <> ? AND ${onLine(db, { seq: "c.seq", branch: "c.branch" }, here)}
       ORDER BY b.id`,
    here,
  );
  return {
    elsewhere: new Map(rows.map((row) => [Number(row["seq"]), String(row["name"])])),
    begun: begun.map((row) => ({ name: String(row["name"]), seq: Number(row["seq"]) })),
  };
}
