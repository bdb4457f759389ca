/** Checkpoint rows: writing, reading, listing newest first. Listing never touches trees or content. */
import { hash } from "node:crypto";
import {
  CARRIED_LIMIT,
  type Checkpoint,
  type CheckpointKind,
  type CheckpointPhase,
  type Doubt,
  type DoubtReason,
  type Gap,
} from "../model/checkpoint.ts";
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { GapReason } from "../model/entry.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import { remoteOrigin } from "../model/origin.ts";
import { HASH_BYTES, hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import { MAIN_WORKING_COPY, type Database, type Row, type Value } from "../store/database.ts";
import { insertRows } from "../store/insert-rows.ts";
import { ELSEWHERE } from "../store/schema.ts";
import { deltaHash } from "./changes.ts";
import { BRANCH_HERE, branchHere, headSeq, onLine } from "./line.ts";
import { droppedEnds } from "./step-rows.ts";

/** Begins the names under which tags are stored. */
export const TAG_PREFIX = "tag/";

/** A checkpoint before it has its place in the store. */
export type NewCheckpoint = Omit<
  Checkpoint,
  "seq" | "branch" | "fork" | "origin" | "arrivedAt" | "fetchedFrom" | "synced"
>;

/** Where a checkpoint comes from that was captured elsewhere, and when it came. */
export interface Arrival {
  readonly origin: string;
  readonly arrivedAt: number;
}

/** The hash of no changes: what a checkpoint from elsewhere changed here. */
const NO_CHANGES = deltaHash([]);

/**
 * Adds a checkpoint whose changes hash to `delta`, as the head of the branch here, and returns it with its seq. Call
 * inside a transaction.
 */
export function insertCheckpoint(db: Database, checkpoint: NewCheckpoint, delta: Buffer): Checkpoint {
  const branch = branchHere(db);
  const seq = insertRow(db, checkpoint, {
    delta,
    branch,
    working_copy: db.workingCopy,
    origin: null,
    arrived_at: null,
  });
  // a new store has its first branch before it has a clock: that begins with its first checkpoint
  const { name } =
    db.get(
      "UPDATE branch SET head = ?1, created_at = CASE created_at WHEN 0 THEN ?2 ELSE created_at END WHERE id = ?3 RETURNING name",
      seq,
      checkpoint.createdAt,
      branch,
    ) ?? {};
  const here = { origin: null, fetchedFrom: null, arrivedAt: null, synced: null };
  return { ...checkpoint, seq, ...placeOf(String(name), db.workingCopy), ...here };
}

/**
 * [R371] Adds a checkpoint that was captured elsewhere: on no branch, so that it is the newest of none. `delta` covers what
 * it changed there, if that is known. Call inside a transaction.
 */
export function insertArrival(
  db: Database,
  checkpoint: NewCheckpoint,
  { origin, arrivedAt, delta = NO_CHANGES }: Arrival & { readonly delta?: Buffer },
): Checkpoint {
  const place = { branch: ELSEWHERE, working_copy: ELSEWHERE };
  const seq = insertRow(db, checkpoint, { delta, ...place, origin, arrived_at: arrivedAt });
  const fetchedFrom = remoteOrigin(origin) ?? null;
  return { ...checkpoint, seq, branch: null, fork: null, origin, fetchedFrom, arrivedAt, synced: null };
}

/** What a row has that its checkpoint does not say. */
interface OwnColumns {
  readonly delta: Buffer;
  readonly branch: number;
  readonly working_copy: number;
  readonly origin: string | null;
  readonly arrived_at: number | null;
}

function insertRow(db: Database, checkpoint: NewCheckpoint, own: OwnColumns): number {
  const columns: Record<string, Value> = {
    id: checkpoint.id,
    thread: checkpoint.thread,
    session: checkpoint.session,
    kind: checkpoint.kind,
    phase: checkpoint.phase,
    name: checkpoint.name,
    note: checkpoint.note,
    description: checkpoint.description,
    created_at: checkpoint.createdAt,
    snapshot: hashToBytes(checkpoint.snapshot),
    rules: hashToBytes(checkpoint.rules),
    excluded: hashToBytes(checkpoint.excluded),
    parents: JSON.stringify(checkpoint.parents),
    message_id: checkpoint.messageId,
    message_index: checkpoint.messageIndex,
    tool_use_id: checkpoint.toolUseId,
    tool: checkpoint.tool,
    agent: toJson(checkpoint.agent),
    conversation: toJson(checkpoint.conversation),
    git: toJson(checkpoint.git),
    files: checkpoint.files,
    bytes: checkpoint.bytes,
    added: checkpoint.changes.added,
    modified: checkpoint.changes.modified,
    deleted: checkpoint.changes.deleted,
    seal: sealOf(checkpoint, own.delta),
    sealed: SEAL_VERSION,
    ...own,
  };
  insertion ??= insertionOf(Object.keys(columns));
  const { lastId } = db.run(insertion, ...Object.values(columns));
  for (const tag of checkpoint.tags)
    db.run("INSERT INTO ref (name, checkpoint) VALUES (?, ?)", TAG_PREFIX + tag, lastId);
  return lastId;
}

/** The same text for every row: the columns are always the same. */
let insertion: string | undefined;

function insertionOf(names: readonly string[]): string {
  return `INSERT INTO checkpoint (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
}

/** A fork has the name of its branch. */
function placeOf(branch: string, workingCopy: number): Pick<Checkpoint, "branch" | "fork"> {
  return { branch, fork: workingCopy === MAIN_WORKING_COPY ? null : branch };
}

/**
 * Covers what a checkpoint's row says about its files, so that alterations are noticed. Trees prove
 * themselves; the row that names them and its recorded changes need this seal.
 */
export function sealOf(checkpoint: NewCheckpoint, delta: Uint8Array, version = SEAL_VERSION): Buffer {
  const { id, thread, kind, createdAt, snapshot, rules, excluded, parents } = checkpoint;
  const { messageId, toolUseId, git } = checkpoint;
  const later = version === 1 ? [] : [messageId, toolUseId, git];
  const line = JSON.stringify([id, thread, kind, createdAt, snapshot, rules, excluded, parents, ...later]);
  return hash("sha256", Buffer.concat([Buffer.from(line, "utf8"), delta]), "buffer");
}

/** The present scope of seals. A row sealed by an older version is verified with that version's scope. */
export const SEAL_VERSION = 2;

/** Throws unless the row of a checkpoint is as it was written. */
export function assertSealed(db: Database, checkpoint: Checkpoint): void {
  const row = db.get("SELECT delta, seal, sealed FROM checkpoint WHERE seq = ?", checkpoint.seq);
  const [delta, seal, version] = [row?.["delta"], row?.["seal"], Number(row?.["sealed"])];
  if (
    delta instanceof Uint8Array &&
    seal instanceof Uint8Array &&
    sealOf(checkpoint, delta, version).equals(seal)
  )
    return;
  throw new EngineError(
    "OBJECT_CORRUPT",
    `The record of checkpoint ${checkpoint.seq} is damaged. It was not used; your files are untouched.`,
    {
      object: checkpoint.snapshot,
      checkpoints: [checkpoint.id],
    },
  );
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
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

/** Which checkpoints to list. */
export interface CheckpointFilter {
  readonly thread?: ThreadId | undefined;
  readonly kind?: string | undefined;
  /** All of these have to be found. */
  readonly search?: string | readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The id of the branch whose line to list, or all of the store; defaults to the line of the branch here. */
  readonly branch?: number | "all" | undefined;
}

/** Newest first; pruned ones are not listed. */
export function listCheckpoints(db: Database, filter: CheckpointFilter = {}): Checkpoint[] {
  const conditions = ["c.pruned_at IS NULL"];
  if (filter.branch !== "all") {
    const isOnLine = onLine(db, { seq: "c.seq", branch: "c.branch" }, filter.branch ?? branchHere(db));
    // a conversation that was imported is shown with its checkpoints, and a search finds them; nothing else lists them
    const isMeant = filter.thread !== undefined || filter.search !== undefined;
    conditions.push(isMeant ? `(${isOnLine} OR c.origin IS NOT NULL)` : isOnLine);
  }
  const values: Value[] = [];
  const require = (condition: string, value: string) => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.thread !== undefined) require("c.thread = ?", filter.thread);
  if (filter.kind !== undefined) require("c.kind = ?", filter.kind);
  for (const text of [filter.search ?? []].flat()) conditions.push(matchesText(text, values));
  const limit = filter.limit === undefined ? "" : `LIMIT ${Math.max(0, Math.trunc(filter.limit))}`;
  const dropped = droppedEnds(db);
  return db
    .all(`${SELECT} WHERE ${conditions.join(" AND ")} ORDER BY c.seq DESC ${limit}`, ...values)
    .map((row) => ({ ...toCheckpoint(row), undoDropped: dropped.has(Number(row["seq"])) }));
}

/** The seqs of checkpoints since a moment that were late for some of their files, newest first. */
export function listLate(db: Database, moment: number): number[] {
  return db
    .all(
      `SELECT seq FROM checkpoint c WHERE c.pruned_at IS NULL AND c.created_at >= ? AND EXISTS
         (SELECT 1 FROM doubt d WHERE d.checkpoint = c.seq AND d.reason IN ('late', 'missed')) ORDER BY seq DESC`,
      moment,
    )
    .map((row) => Number(row["seq"]));
}

/** Searches names, notes, descriptions, tags, prompts and changed paths. */
function matchesText(text: string, values: Value[]): string {
  const pattern = `%${text.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`;
  const like = (expression: string) => `${expression} LIKE ? ESCAPE '\\'`;
  const fields = ["c.name", "c.note", "c.description", "c.id"].map(like);
  const tag = `EXISTS (SELECT 1 FROM ref r WHERE r.checkpoint = c.seq AND ${like("substr(r.name, 5)")})`;
  const prompt = `EXISTS (SELECT 1 FROM step s WHERE (s.before = c.seq OR s.after = c.seq) AND ${like("s.prompt")})`;
  const message = `EXISTS (SELECT 1 FROM message m WHERE m.checkpoint = c.seq AND ${like("m.content")})`;
  const path = `EXISTS (SELECT 1 FROM change g WHERE g.checkpoint = c.seq AND ${like("CAST(g.path AS TEXT)")})`;
  for (let i = 0; i < fields.length + 4; i += 1) values.push(pattern);
  return `(${[...fields, tag, prompt, message, path].join(" OR ")})`;
}

/** Checkpoints that match an SQL condition, newest first; pruned ones are left out. */
export function findCheckpointsWhere(db: Database, condition: string, ...values: Value[]): Checkpoint[] {
  return db
    .all(`${SELECT} WHERE c.pruned_at IS NULL AND (${condition}) ORDER BY c.seq DESC`, ...values)
    .map(toCheckpoint);
}

/** What each checkpoint of the line here saw, newest first; pruned ones are left out. */
export function listSnapshots(
  db: Database,
): Pick<Checkpoint, "id" | "seq" | "createdAt" | "snapshot" | "rules" | "excluded">[] {
  return db
    .all(
      `SELECT id, seq, created_at, snapshot, rules, excluded FROM checkpoint
         WHERE pruned_at IS NULL AND ${onLine(db, { seq: "seq", branch: "branch" })} ORDER BY seq DESC`,
    )
    .map((row) => ({
      id: String(row["id"]) as CheckpointId,
      seq: Number(row["seq"]),
      createdAt: Number(row["created_at"]) || 0,
      snapshot: hashIn(row, "snapshot"),
      rules: hashIn(row, "rules"),
      excluded: hashIn(row, "excluded"),
    }));
}

/** The newest checkpoint of the branch here, pruned or not: the next capture is compared with it. */
export function headCheckpoint(db: Database): Checkpoint | undefined {
  return checkpointAt(db, headSeq(db));
}

/** What the next capture has to know of the one before it. */
export type CheckpointBefore = Pick<Checkpoint, "id" | "seq" | "snapshot" | "rules" | "excluded" | "files">;

/** What the head saw, and the rules it went by. */
export function headView(db: Database): CheckpointBefore | undefined {
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
export function headRules(db: Database): ObjectHash | undefined {
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

/** The hash in a column; one that no object has where the row is damaged. */
function hashIn(row: Row, column: string): ObjectHash {
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

/** Parses JSON from a row; null when it is damaged. The seal reports the damage when the value matters. */
export function parseJson(value: unknown): unknown {
  try {
    return value === null ? null : JSON.parse(String(value));
  } catch {
    return null;
  }
}

function pathFromHex(hex: string): BytePath {
  return pathFromBytes(Buffer.from(hex, "hex"));
}
