/**
 * Rows as records and back. A record has the state of its row when it is read, so a row that changed ten times is sent
 * once. Bytes are `{ base64 }`. Into a new store rows go with the numbers they had: a clone counts like its original.
 */
import type { HistoryRecord, QueuedRecord, Selection } from "../model/exchange.ts";
import { MAIN_WORKING_COPY, type Database, type Row, type Value } from "../store/database.ts";
import {
  CHECKPOINT_PARTS,
  columnsOf,
  FORGET_KIND,
  SYNCED_TABLES,
  TAG_KIND,
  type SyncedTable,
} from "./synced-tables.ts";
import { isSentCheckpoint, isSentRow, readSentKinds } from "../history/sent-kinds.ts";
import { isFetchedRow } from "./fetched-row.ts";
import { selectionFilter } from "./selection.ts";

/** The kind of records that hold what belongs to the checkpoint of the record before. */
const PART_KIND = "parts";
const PART_ROWS = 2_000;
/** The kind of records that name a step which lost some of its changes. */
export const LOST_STEP_KIND = "lost_step";

/** The ids of all checkpoints of this line, oldest first. */
export function readCheckpointIds(db: Database): string[] {
  return db
    .all(`SELECT id FROM checkpoint c WHERE NOT ${isFetchedRow("c")} ORDER BY seq`)
    .map((row) => String(row["id"]));
}

/** The place of the newest row that waits for a remote; 0 when none does. */
export function outboxEnd(db: Database, remote: string, chosen?: Selection): number {
  const row = db.get(
    `SELECT max(seq) AS seq FROM outbox o WHERE remote = ? AND kind <> ? AND ${isSent(chosen)}`,
    remote,
    FORGET_KIND,
  );
  return Number(row?.["seq"] ?? 0);
}

/** What is chosen goes whatever the settings say. */
function isSent(chosen: Selection | undefined): string {
  return chosen === undefined ? isSentRow("o") : "1";
}

/**
 * What waits for a remote, up to a place in its outbox: each row once, in the order of the tables, with its newest state. A
 * row that is gone is not sent: what a remote has stays there [T14].
 */
export function* readQueued(
  db: Database,
  remote: string,
  { until, chosen }: { readonly until: number; readonly chosen?: Selection | undefined },
): Generator<QueuedRecord> {
  const isChosen = selectionFilter(db, chosen);
  const sent = readSentKinds(db);
  for (const kind of [...SYNCED_TABLES.map((table) => table.kind), TAG_KIND]) {
    const rows = db.all(
      `SELECT id, max(seq) AS place, min(seq) AS first FROM outbox o
         WHERE remote = ? AND kind = ? AND seq <= ? AND ${isSent(chosen)} GROUP BY id ORDER BY first`,
      remote,
      kind,
      until,
    );
    for (const row of rows) {
      const [id, place] = [String(row["id"]), Number(row["place"])];
      if (isChosen(kind, id, undefined) === false) continue;
      for (const record of readRecord(db, kind, id)) {
        if (isChosen(kind, id, record.row) !== true) continue;
        yield { ...(sent.conversations ? record : withoutWords(record)), place };
        // [R2024] what it changed is not all there: a clone does not undo a part of it
        if (sent.kinds !== "all" && kind === "step" && isStepPartial(db, id))
          yield { kind: LOST_STEP_KIND, id, row: {}, place };
      }
    }
  }
}

/** Whether some of what a step changed is in checkpoints that are not sent. */
function isStepPartial(db: Database, step: string): boolean {
  return (
    db.get(
      `SELECT 1 FROM change g JOIN checkpoint c ON c.seq = g.checkpoint WHERE g.step = ? AND NOT ${isSentCheckpoint("c")} LIMIT 1`,
      step,
    ) !== undefined
  );
}

/** [R2025] A record without what was said in a conversation. */
function withoutWords({ kind, id, row }: HistoryRecord): HistoryRecord {
  const { title: _title, prompt: _prompt, conversation: _conversation, ...rest } = row;
  if (kind === "thread") return { kind, id, row: { ...rest, title: null } };
  if (kind === "step") return { kind, id, row: { ...rest, description: String(row["kind"]) } };
  if (kind !== "checkpoint" || row["thread"] === undefined || row["kind"] === "manual")
    return { kind, id, row };
  return { kind, id, row: { ...rest, description: String(row["kind"]) } };
}

/** The record of a row, and of a checkpoint with many changes those that hold them. */
function* readRecord(db: Database, kind: string, id: string): Generator<HistoryRecord> {
  if (kind === TAG_KIND) return yield { kind, id, row: readTag(db, id) };
  const table = SYNCED_TABLES.find((one) => one.kind === kind)!;
  const where = table.where?.replaceAll("$", "t") ?? "1";
  const found = db.get(
    `SELECT * FROM ${table.table} t WHERE ${lookup(table)} AND ${where}`,
    ...keysIn(kind, id),
  );
  if (found === undefined) return;
  const row = encodeRow(found, table.local ?? []);
  yield { kind, id, row: kind === "branch" ? { ...row, root: isOnRoot(db, id) } : row };
  if (kind === "checkpoint") yield* readParts(db, id, Number(found["seq"]));
}

/** What belongs to a checkpoint, in records of a size that any machine can read. */
function* readParts(db: Database, checkpoint: string, seq: number): Generator<HistoryRecord> {
  let n = 0;
  for (const table of CHECKPOINT_PARTS) {
    const rows = db.all(`SELECT * FROM ${table} WHERE checkpoint = ?`, seq).map((row) => encodeRow(row, []));
    for (let at = 0; at < rows.length; at += PART_ROWS)
      yield {
        kind: PART_KIND,
        id: `${checkpoint} ${n++}`,
        row: { table, rows: rows.slice(at, at + PART_ROWS) },
      };
  }
}

/** The columns that an id is made of. */
function keysIn(kind: string, id: string): string[] {
  const [first = "", second = "", ...rest] = id.split(" ");
  if (kind === "session" || kind === "agent_run") return [first, [second, ...rest].join(" ")];
  return kind === "annotation" ? [first, second, rest.join(" ")] : [id];
}

/** By an index of the table. */
function lookup({ kind }: SyncedTable): string {
  if (kind === "branch") return "t.id = CAST(? AS INTEGER)";
  if (kind === "session") return "t.thread = ? AND t.number = CAST(? AS INTEGER)";
  if (kind === "agent_run") return "t.thread = ? AND t.id = ?";
  if (kind === "annotation") return "t.line = ? AND t.checkpoint = ? AND t.field = ?";
  return kind === "tool_call" || kind === "uncaptured" ? "t.seq = CAST(? AS INTEGER)" : "t.id = ?";
}

function readTag(db: Database, name: string): Row {
  const row = db.get(
    "SELECT c.id FROM ref r JOIN checkpoint c ON c.seq = r.checkpoint WHERE r.name = ?",
    name,
  );
  return { checkpoint: row === undefined ? null : String(row["id"]) };
}

function isOnRoot(db: Database, branch: string): boolean {
  return (
    db.get(
      "SELECT 1 FROM working_copy WHERE id = ? AND branch = CAST(? AS INTEGER)",
      MAIN_WORKING_COPY,
      branch,
    ) !== undefined
  );
}

function encodeRow(row: Row, without: readonly string[]): Row {
  const encoded: Row = {};
  for (const [column, value] of Object.entries(row)) {
    if (value === null || without.includes(column)) continue;
    encoded[column] = value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value;
  }
  return encoded;
}

/** Puts a record into a store that holds nothing but records of the same line. Unknown kinds and columns are left out. */
export function writeRecord(db: Database, { kind, id, row }: HistoryRecord): void {
  if (kind === TAG_KIND) return writeTag(db, id, row["checkpoint"]);
  if (kind === PART_KIND) return writeParts(db, row);
  const table = SYNCED_TABLES.find((one) => one.kind === kind);
  if (table === undefined) return;
  const { root, ...columns } = row;
  // the records after it hold all that belongs to it now
  if (kind === "checkpoint")
    for (const part of CHECKPOINT_PARTS)
      db.run(`DELETE FROM ${part} WHERE checkpoint = ?`, Number(columns["seq"]));
  insertRow(db, table.table, columns);
  if (kind === "branch" && root === true)
    db.run("UPDATE working_copy SET branch = ? WHERE id = ?", Number(columns["id"]), MAIN_WORKING_COPY);
}

function writeParts(db: Database, { table, rows }: HistoryRecord["row"]): void {
  const part = CHECKPOINT_PARTS.find((name) => name === table);
  if (part === undefined || !Array.isArray(rows)) return;
  for (const row of rows as unknown[])
    if (typeof row === "object" && row !== null) insertRow(db, part, row as Row);
}

function writeTag(db: Database, name: string, checkpoint: unknown): void {
  if (typeof checkpoint !== "string") return void db.run("DELETE FROM ref WHERE name = ?", name);
  db.run(
    "INSERT OR REPLACE INTO ref (name, checkpoint) SELECT ?, seq FROM checkpoint WHERE id = ?",
    name,
    checkpoint,
  );
}

function insertRow(db: Database, table: string, row: Row): void {
  const known = columnsOf(db, table).filter(
    (column) => row[column] !== undefined && column !== "working_copy",
  );
  const places = known.map(() => "?").join(", ");
  db.run(
    `INSERT OR REPLACE INTO ${table} (${known.join(", ")}) VALUES (${places})`,
    ...known.map((column) => decodeValue(row[column])),
  );
}

/** A value of a record as its column holds it. */
export function decodeValue(value: unknown): Value {
  if (typeof value === "number" || typeof value === "string") return value;
  const base64: unknown = (value as { base64?: unknown } | null)?.base64;
  return typeof base64 === "string" ? Buffer.from(base64, "base64") : null;
}
