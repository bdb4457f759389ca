/** Rows of branches and working copies. A branch is a name for a line of checkpoints; a working copy is on one branch. */
import { displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import type { Branch, BranchState } from "../model/branch.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { Database, Row } from "../store/database.ts";
import { branchHere } from "./line.ts";

/** A branch as it is stored; `base` and `head` are seqs. */
export interface BranchRow {
  readonly id: number;
  readonly name: string;
  readonly head: number | null;
  readonly state: BranchState;
  readonly closedAt: number | null;
}

/** All branches, oldest first; deleted ones only where they are asked for. */
export function listBranches(db: Database, { deleted = false } = {}): Branch[] {
  return db
    .all(
      `SELECT b.*, p.name AS parent_name, h.id AS head_id, h.files AS files, h.created_at AS head_at, c.id AS base_id,
         w.root AS root, (SELECT r.id FROM run r WHERE r.branch = b.id ORDER BY r.rowid DESC LIMIT 1) AS run_id,
         (SELECT count(*) FROM checkpoint k WHERE k.branch = b.id AND k.seq > coalesce(b.base, 0) AND k.pruned_at IS NULL) AS own,
         (SELECT count(*) FROM checkpoint k WHERE k.branch = b.parent AND k.seq > coalesce(b.start, b.base) AND k.pruned_at IS NULL) AS missing
       FROM branch b LEFT JOIN branch p ON p.id = b.parent LEFT JOIN checkpoint h ON h.seq = b.head
         LEFT JOIN checkpoint c ON c.seq = b.base LEFT JOIN working_copy w ON w.branch = b.id AND w.state NOT IN ('removing', 'gone', 'spare')
       WHERE ?1 = 1 OR b.state <> 'discarded' ORDER BY b.id`,
      deleted ? 1 : 0,
    )
    .map((row) => toBranch(row, branchHere(db)));
}

/** One branch as other programs see it. */
export function describeBranch(db: Database, id: number): Branch {
  const { name } = branchAt(db, id);
  return listBranches(db, { deleted: true }).find((branch) => branch.name === name)!;
}

/** The branch with this name; throws `BRANCH_NOT_FOUND`. One that was deleted is found only where it is asked for. */
export function findBranch(db: Database, name: string, { deleted = false } = {}): BranchRow {
  const row = db.get("SELECT * FROM branch WHERE name = ?", name);
  if (row !== undefined && (deleted || row["state"] !== "discarded")) return toRow(row);
  throw new EngineError("BRANCH_NOT_FOUND", `There is no branch "${name}". Nothing was changed.`, {
    branch: name,
  });
}

/** The branch with this id. */
export function branchAt(db: Database, id: number): BranchRow {
  return toRow(db.get("SELECT * FROM branch WHERE id = ?", id)!);
}

/** Whether a branch has this name, or had it when it was deleted. */
export function namedBranch(db: Database, name: string): BranchRow | undefined {
  const row = db.get("SELECT * FROM branch WHERE name = ?", name);
  return row === undefined ? undefined : toRow(row);
}

/** Adds a branch that begins with a checkpoint, on the branch of that one. */
export function insertBranch(
  db: Database,
  branch: { name: string; base: number; description: string | null; now: number },
): number {
  const { name, base, description, now } = branch;
  return db.run(
    `INSERT INTO branch (name, parent, base, head, state, description, created_at)
       SELECT ?, branch, seq, seq, 'open', ?, ? FROM checkpoint WHERE seq = ?`,
    name,
    description,
    now,
    base,
  ).lastId;
}

/** Gives a branch another name. */
export function setBranchName(db: Database, id: number, name: string): void {
  db.run("UPDATE branch SET name = ? WHERE id = ?", name, id);
}

/** Deletes a branch, or brings it back; its checkpoints stay. */
export function setBranchState(db: Database, id: number, state: BranchState, now: number): void {
  db.run("UPDATE branch SET state = ?, closed_at = ? WHERE id = ?", state, state === "open" ? null : now, id);
}

/** The directory whose files are on a branch; undefined when there is none. */
export function workingCopyOn(db: Database, branch: number): { id: number; path: string } | undefined {
  const row = db.get(
    "SELECT id, root FROM working_copy WHERE branch = ? AND state NOT IN ('removing', 'gone', 'spare')",
    branch,
  );
  return row && { id: Number(row["id"]), path: rootOf(row) ?? "" };
}

/** The other working copy whose files are on a branch, and where it is; undefined when there is none to look at. */
export function otherCopyOn(
  db: Database,
  branch: number,
): { readonly workingCopy: number; readonly root: AbsolutePath } | undefined {
  const row = db.get(
    "SELECT id, root FROM working_copy WHERE branch = ? AND id <> ? AND state IN ('main', 'ready') AND root IS NOT NULL",
    branch,
    db.workingCopy,
  );
  return (
    row && {
      workingCopy: Number(row["id"]),
      root: Buffer.from(row["root"] as Uint8Array).toString("latin1") as AbsolutePath,
    }
  );
}

/** Takes the working copy here to a branch. */
export function putOnBranch(db: Database, branch: number): void {
  db.run("UPDATE working_copy SET branch = ? WHERE id = ?", branch, db.workingCopy);
}

/** Of this many runs, and loops of fixes, the checkpoints stay. */
const KEPT_RUNS = 100;

/** How long the head of a deleted branch is kept, so that the branch can be brought back. */
const DELETED_KEEP_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Lets go of the heads of branches that were deleted long ago; their checkpoints are dropped like all others. A fork in
 * the trash can still be brought back, and its branch with it.
 */
export function letDeletedGo(db: Database, now: number): void {
  db.run(
    `UPDATE branch SET head = NULL WHERE state = 'discarded' AND closed_at < ?
       AND NOT EXISTS (SELECT 1 FROM working_copy w WHERE w.branch = branch.id AND w.state <> 'gone')`,
    now - DELETED_KEEP_MS,
  );
}

/**
 * The seqs of the checkpoints where branches begin, end, and were merged from, and around the last runs and attempts to
 * fix something: no upkeep drops them.
 */
export function endsOfBranches(db: Database): Set<number> {
  const rows = db.all(
    `SELECT head AS seq FROM branch WHERE head IS NOT NULL
     UNION SELECT base FROM branch WHERE base IS NOT NULL AND head IS NOT NULL
     UNION SELECT start FROM branch WHERE start IS NOT NULL AND head IS NOT NULL
     UNION SELECT json_extract(s.value, '$.head') FROM merge m, json_each(m.sources) s
       JOIN branch b ON b.id = json_extract(s.value, '$.branch') WHERE m.state <> 'abandoned' AND b.head IS NOT NULL
     UNION SELECT b.value FROM merge m, json_each(m.sources) s, json_each(s.value, '$.bases') b WHERE m.state = 'open'
     UNION SELECT seq FROM (SELECT before AS seq, rowid AS n FROM run UNION ALL SELECT after, rowid FROM run)
       WHERE seq IS NOT NULL AND n > (SELECT max(rowid) - ${KEPT_RUNS} FROM run)
     UNION SELECT before FROM fix WHERE before IS NOT NULL AND rowid > (SELECT max(rowid) - ${KEPT_RUNS} FROM fix)
     UNION SELECT a.checkpoint FROM fix_attempt a JOIN fix f ON f.id = a.fix
       WHERE f.rowid > (SELECT max(rowid) - ${KEPT_RUNS} FROM fix)`,
  );
  return new Set(rows.map((row) => Number(row["seq"])));
}

/** Gives branches another head when theirs was forgotten: the checkpoint before it, or where they began. */
export function leaveHead(db: Database, seq: number): void {
  db.run(
    "UPDATE branch SET head = coalesce((SELECT max(c.seq) FROM checkpoint c WHERE c.branch = branch.id), base) WHERE head = ?",
    seq,
  );
}

function toRow(row: Row): BranchRow {
  return {
    id: Number(row["id"]),
    name: String(row["name"]),
    head: row["head"] === null ? null : Number(row["head"]),
    state: row["state"] as BranchState,
    closedAt: row["closed_at"] === null ? null : Number(row["closed_at"]),
  };
}

function rootOf(row: Row): string | null {
  const { root } = row;
  return root instanceof Uint8Array
    ? displayAbsolute(Buffer.from(root).toString("latin1") as AbsolutePath)
    : null;
}

function toBranch(row: Row, here: number): Branch {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    name: String(row["name"]),
    head: text("head_id") as CheckpointId | null,
    base: text("base_id") as CheckpointId | null,
    parent: text("parent_name"),
    current: Number(row["id"]) === here,
    workingCopy: rootOf(row),
    state: row["state"] as BranchState,
    description: text("description"),
    ahead: row["parent"] === null ? 0 : Number(row["own"]),
    behind: Number(row["missing"]),
    files: Number(row["files"] ?? 0),
    run: text("run_id"),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["head_at"] ?? row["created_at"]),
  };
}
