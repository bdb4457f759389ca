/** Reads the rows of checkpoints: `insert-checkpoint.ts` writes them, `list-checkpoints.ts` lists them. */
import {
  CARRIED_LIMIT,
  type Checkpoint,
  type CheckpointKind,
  type CheckpointPhase,
  type DoubtReason,
} from "../model/checkpoint.ts";
import { pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { GapReason } from "../model/entry.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import { remoteOrigin } from "../model/origin.ts";
import { HASH_BYTES, hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import { MAIN_WORKING_COPY, type Database, type Row, type Value } from "../store/database.ts";
import { BRANCH_HERE, headSeq, onLine } from "./line.ts";
import { parseJson } from "./row-json.ts";

/** Begins the names under which tags are stored. */
export const TAG_PREFIX = "tag/";

/** Where a checkpoint was captured: a fork has the name of its branch. */
export function placeOf(branch: string, workingCopy: number): Pick<Checkpoint, "branch" | "fork"> {
  return { branch, fork: workingCopy === MAIN_WORKING_COPY ? null : branch };
}

/** A damaged row may hold any type, and JSON accepts no bytes: it must not hide the other rows. */
const CARRIED = (table: string, columns: string) =>
  `(SELECT json_group_array(json_array(hex(path), CAST(reason AS TEXT)${columns})) FROM (SELECT * FROM ${table} WHERE checkpoint = c.seq LIMIT ${CARRIED_LIMIT})) AS ${table}s,
   (SELECT count(*) FROM ${table} WHERE checkpoint = c.seq) AS ${table}s_total`;

/** [T1] A checkpoint is out of the outbox when its segment is known to be stored; a fetched one is in its line. */
const SYNCED = `CASE WHEN NOT EXISTS (SELECT 1 FROM remote) THEN NULL
  ELSE NOT EXISTS (SELECT 1 FROM remote r JOIN outbox o ON o.remote = r.name AND o.kind = 'checkpoint' AND o.id = c.id) END AS synced`;

const SELECT = `SELECT *, ${SYNCED}, ${CARRIED("gap", ", CAST(size AS INTEGER)")}, ${CARRIED("doubt", "")}, (SELECT json_group_array(CAST(substr(r.name, ${TAG_PREFIX.length + 1}) AS TEXT)) FROM ref r
  WHERE r.checkpoint = c.seq AND r.name GLOB '${TAG_PREFIX}*') AS tags, (SELECT b.name FROM branch b WHERE b.id = c.branch) AS branch_name FROM checkpoint c`;

/** The checkpoints that the end of an SQL query selects from the table `c`, in its order. */
export function readCheckpoints(db: Database, which: string, ...values: Value[]): Checkpoint[] {
  return db.all(`${SELECT} ${which}`, ...values).map(toCheckpoint);
}

/** Checkpoints that match an SQL condition, newest first; pruned ones are left out. */
export function findCheckpointsWhere(db: Database, condition: string, ...values: Value[]): Checkpoint[] {
  return readCheckpoints(db, `WHERE c.pruned_at IS NULL AND (${condition}) ORDER BY c.seq DESC`, ...values);
}

/** The newest checkpoint of the branch here, pruned or not: the next capture is compared with it. */
export function headCheckpoint(db: Database): Checkpoint | undefined {
  return checkpointAt(db, headSeq(db));
}

/** What the next capture has to know of the one before it. */
export type CheckpointBefore = Pick<Checkpoint, "id" | "seq" | "snapshot" | "rules" | "excluded" | "files">;

/** What the head saw, and the rules it went by. */
export function headCheckpointView(db: Database): CheckpointBefore | undefined {
  const row = db.get(
    `SELECT id, seq, snapshot, rules, excluded, files FROM checkpoint
       WHERE seq = (SELECT head FROM branch WHERE id = ${BRANCH_HERE})`,
    db.workingCopy,
  );
  if (row === undefined) return undefined;
  return {
    id: String(row["id"]) as CheckpointId,
    seq: Number(row["seq"]),
    files: Number(row["files"]),
    snapshot: hashIn(row, "snapshot"),
    rules: hashIn(row, "rules"),
    excluded: hashIn(row, "excluded"),
  };
}

/** The rules object of the head. */
export function headCheckpointRules(db: Database): ObjectHash | undefined {
  const row = db.get("SELECT rules FROM checkpoint WHERE seq = ?", headSeq(db));
  return row === undefined ? undefined : hashIn(row, "rules");
}

/** Notes which message of its conversation a checkpoint was taken before. */
export function setMessageIndex(db: Database, seq: number, index: number): void {
  db.run("UPDATE checkpoint SET message_index = ? WHERE seq = ?", index, seq);
}

/** How many checkpoints there are; pruned ones do not count. */
export function countCheckpoints(db: Database): number {
  return Number(db.get("SELECT count(*) AS n FROM checkpoint WHERE pruned_at IS NULL")?.["n"] ?? 0);
}

/** Whether the store has this checkpoint, and with this snapshot. */
export function hasCheckpoint(db: Database, id: string, snapshot: string): boolean {
  const bytes = Buffer.from(snapshot, "hex");
  return db.get("SELECT 1 FROM checkpoint WHERE id = ? AND snapshot = ?", id, bytes) !== undefined;
}

/** The rules object of a checkpoint; undefined when there is no such checkpoint, or its row is damaged. */
export function rulesName(db: Database, id: string): ObjectHash | undefined {
  const name = db.get("SELECT rules FROM checkpoint WHERE id = ?", id)?.["rules"];
  return name instanceof Uint8Array ? hashFromBytes(name) : undefined;
}

/** The checkpoint with this seq, pruned or not. */
export function checkpointAt(db: Database, seq: number): Checkpoint | undefined {
  const row = db.get(`${SELECT} WHERE c.seq = ?`, seq);
  return row === undefined ? undefined : toCheckpoint(row);
}

/** The checkpoint with this id, unless it was pruned. */
export function keptCheckpoint(db: Database, id: string): Checkpoint | undefined {
  const row = db.get(`${SELECT} WHERE c.id = ? AND c.pruned_at IS NULL`, id);
  return row === undefined ? undefined : toCheckpoint(row);
}

/** The place of a checkpoint in the order; undefined when there is none with this id. */
export function seqOf(db: Database, id: CheckpointId): number | undefined {
  const row = db.get("SELECT seq FROM checkpoint WHERE id = ?", id);
  return row === undefined ? undefined : Number(row["seq"]);
}

/** The newest checkpoint of the line here at or before a place in the order that was not pruned. */
export function lastKept(db: Database, seq: number): Checkpoint | undefined {
  const isHere = onLine(db, { seq: "c.seq", branch: "c.branch" });
  const row = db.get(
    `${SELECT} WHERE c.pruned_at IS NULL AND c.seq <= ? AND ${isHere} ORDER BY c.seq DESC LIMIT 1`,
    seq,
  );
  return row === undefined ? undefined : toCheckpoint(row);
}

/** The oldest checkpoint of a thread after a place in the order that was captured here. */
export function firstOfThread(db: Database, thread: ThreadId, after: number): Checkpoint | undefined {
  const row = db.get(
    `${SELECT} WHERE c.thread = ? AND c.seq > ? AND c.origin IS NULL ORDER BY c.seq LIMIT 1`,
    thread,
    after,
  );
  return row === undefined ? undefined : toCheckpoint(row);
}

/** The hash in a column of a checkpoint's row; one that no object has where the row is damaged. */
export function hashIn(row: Row, column: string): ObjectHash {
  const bytes = row[column];
  return hashFromBytes(bytes instanceof Uint8Array ? bytes : NO_HASH);
}

/**
 * Reads a row as it stands. A damaged row must not hide others from a list; its seal refuses it when it is
 * used.
 */
function toCheckpoint(row: Row): Checkpoint {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  const number = (column: string) => (row[column] === null ? null : Number(row[column]));
  const json = <Kind>(column: string) => parseJson(row[column]) as Kind | null;
  return {
    id: String(row["id"]) as CheckpointId,
    seq: Number(row["seq"]),
    ...(row["origin"] === null
      ? placeOf(String(row["branch_name"]), Number(row["working_copy"]))
      : { branch: null, fork: null }),
    origin: text("origin"),
    fetchedFrom: remoteOrigin(text("origin")) ?? null,
    synced: row["synced"] === null ? null : row["synced"] === 1,
    arrivedAt: number("arrived_at"),
    thread: text("thread") as ThreadId | null,
    session: text("session"),
    kind: row["kind"] as CheckpointKind,
    phase: text("phase") as CheckpointPhase | null,
    name: text("name"),
    note: text("note"),
    tags: json<string[]>("tags") ?? [],
    description: String(row["description"]),
    createdAt: Number(row["created_at"]) || 0,
    snapshot: hashIn(row, "snapshot"),
    rules: hashIn(row, "rules"),
    excluded: hashIn(row, "excluded"),
    parents: json<CheckpointId[]>("parents") ?? [],
    messageId: text("message_id"),
    messageIndex: number("message_index"),
    toolUseId: text("tool_use_id"),
    tool: text("tool"),
    rolledBack: row["rolled_back_by"] !== null,
    hasChanges: null,
    agent: json("agent"),
    conversation: json("conversation"),
    git: json("git"),
    files: Number(row["files"]),
    bytes: Number(row["bytes"]),
    gaps: (json<[string, GapReason, number][]>("gaps") ?? []).map(([path, reason, size]) => ({
      path: pathFromHex(path),
      reason,
      size,
    })),
    gapsTotal: Number(row["gaps_total"]),
    doubts: (json<[string, DoubtReason][]>("doubts") ?? []).map(([path, reason]) => ({
      path: pathFromHex(path),
      reason,
    })),
    doubtsTotal: Number(row["doubts_total"]),
    changes: {
      added: Number(row["added"]),
      modified: Number(row["modified"]),
      deleted: Number(row["deleted"]),
    },
  };
}

const NO_HASH = new Uint8Array(HASH_BYTES);

function pathFromHex(hex: string): BytePath {
  return pathFromBytes(Buffer.from(hex, "hex"));
}
