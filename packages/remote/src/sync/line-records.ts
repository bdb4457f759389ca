/**
 * What this home knows of the lines of a space: how far each is, who writes it, and the newest record of each kind and
 * id. Disposable, like the mirror: the lines have it. Losing it costs requests.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { LineRecord } from "../line/segment.ts";
import { spaceDirectory } from "../space/space.ts";
import type { KnownLine } from "./mirror.ts";

/** A line, as far as it was read. */
export interface KnownWriter extends KnownLine {
  readonly line: string;
  /** The ETag of its head when it was read. */
  readonly etag: string;
  /** Where its last segment is, and the hash of its beginning: no other segment has the same. */
  readonly key: string;
  readonly proof: string;
  readonly member: string;
  readonly device: string;
  /** When its first and its last known segment were written, by the writer's clock. */
  readonly beganAt: number;
  readonly at: number;
}

const TABLES = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS line (
    line TEXT PRIMARY KEY, etag TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, key TEXT NOT NULL,
    proof TEXT NOT NULL, member TEXT NOT NULL, device TEXT NOT NULL, began_at INTEGER NOT NULL, at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS record (
    line TEXT, kind TEXT, id TEXT, seq INTEGER, number INTEGER NOT NULL, row BLOB NOT NULL, PRIMARY KEY (line, kind, id)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS record_seq ON record (line, kind, seq);
  CREATE INDEX IF NOT EXISTS record_id ON record (kind, id);
  CREATE TABLE IF NOT EXISTS claim (line TEXT PRIMARY KEY, number INTEGER NOT NULL, by TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS own_head (line TEXT PRIMARY KEY, etag TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS annotated (reader TEXT, line TEXT, number INTEGER NOT NULL, PRIMARY KEY (reader, line)) WITHOUT ROWID;
`;

/** Limits what a record may become when it is read again. */
const ROW_BYTES = 64 * 1024 * 1024;

/** A segment's part of it. */
export interface ReadRecords extends KnownLine {
  readonly key: string;
  readonly proof: string;
  readonly member: string;
  readonly device: string;
  readonly at: number;
  /** When the server got it. */
  readonly arrivedAt: number;
  /** How far its writer had read other lines. */
  readonly seen: Readonly<Record<string, number>>;
  readonly records: readonly LineRecord[];
}

/** A clock may be ahead of the server's by this much; what is further ahead is cut back, so that it does not win for good. */
const AHEAD_MS = 5 * 60 * 1000;

/** That a line had read another up to a segment. */
export interface Claim {
  readonly line: string;
  readonly number: number;
  /** The line that says so. */
  readonly by: string;
}

/** The records of one space. */
export class LineRecords implements Disposable {
  readonly #db: DatabaseSync;

  constructor(home: string, space: string) {
    const directory = spaceDirectory(home, space);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#db = new DatabaseSync(join(directory, "lines.db"), { timeout: 10_000 });
    this.#db.exec(TABLES);
  }

  /** All lines that were read, the oldest first. */
  lines(): KnownWriter[] {
    return this.#db.prepare("SELECT * FROM line ORDER BY began_at, line").all().map(toWriter);
  }

  line(line: string): KnownWriter | undefined {
    const row = this.#db.prepare("SELECT * FROM line WHERE line = ?").get(line);
    return row === undefined ? undefined : toWriter(row);
  }

  /** Notes how the head looked when everything before it was read. */
  noteHead(line: string, etag: string): void {
    this.#db.prepare("UPDATE line SET etag = ? WHERE line = ?").run(etag, line);
  }

  /** Forgets a line, so that it is read from its beginning. */
  forget(line: string): void {
    this.#db.prepare("DELETE FROM line WHERE line = ?").run(line);
    this.#db.prepare("DELETE FROM record WHERE line = ?").run(line);
  }

  /** Adds what a segment says. The same one twice changes nothing. */
  add(line: string, read: ReadRecords): void {
    const { number, hash, key, proof, member, device, at, records } = read;
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      this.#db
        .prepare(
          `INSERT INTO line (line, etag, number, hash, key, proof, member, device, began_at, at)
           VALUES (?1, '', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
           ON CONFLICT (line) DO UPDATE SET number = ?2, hash = ?3, key = ?4, proof = ?5, member = ?6, device = ?7, at = ?8`,
        )
        .run(line, number, hash, key, proof, member, device, at);
      const put = this.#db.prepare(
        "INSERT OR REPLACE INTO record (line, kind, id, seq, number, row) VALUES (?, ?, ?, ?, ?, ?)",
      );
      const dropParts = this.#db.prepare(
        "DELETE FROM record WHERE line = ?1 AND kind = 'parts' AND id >= ?2 || ' ' AND id < ?2 || '!'",
      );
      for (const { kind, id, row } of records) {
        // the records after it hold all that belongs to it now
        if (kind === "checkpoint") dropParts.run(line, id);
        const seq = typeof row["seq"] === "number" ? row["seq"] : null;
        const told = kind === "annotation" ? cutBack(row, read.arrivedAt + AHEAD_MS) : row;
        put.run(line, kind, id, seq, number, zstdCompressSync(JSON.stringify(told)));
      }
      const claim = this.#db.prepare(
        `INSERT INTO claim (line, number, by) VALUES (?, ?, ?)
         ON CONFLICT (line) DO UPDATE SET number = excluded.number, by = excluded.by WHERE excluded.number > number`,
      );
      for (const [other, seen] of Object.entries(read.seen)) claim.run(other, seen, line);
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /** [T15] How far lines must reach, because another had read them so far. */
  claims(): Claim[] {
    return this.#db
      .prepare("SELECT line, number, by FROM claim")
      .all()
      .map((row) => ({ line: String(row["line"]), number: Number(row["number"]), by: String(row["by"]) }));
  }

  /** The ETag of the head of a store's own line when the line was last found to be whole. */
  ownHead(line: string): string | undefined {
    const row = this.#db.prepare("SELECT etag FROM own_head WHERE line = ?").get(line);
    return row === undefined ? undefined : String(row["etag"]);
  }

  noteOwnHead(line: string, etag: string): void {
    this.#db.prepare("INSERT OR REPLACE INTO own_head (line, etag) VALUES (?, ?)").run(line, etag);
  }

  /** Of each line, the segment up to which a store has taken over what was written there on checkpoints. */
  annotatedUntil(reader: string): Map<string, number> {
    const rows = this.#db.prepare("SELECT line, number FROM annotated WHERE reader = ?").all(reader);
    return new Map(rows.map((row) => [String(row["line"]), Number(row["number"])]));
  }

  noteAnnotated(reader: string, lines: readonly Pick<KnownWriter, "line" | "number">[]): void {
    const put = this.#db.prepare("INSERT OR REPLACE INTO annotated (reader, line, number) VALUES (?, ?, ?)");
    for (const { line, number } of lines) put.run(reader, line, number);
  }

  /** The newest record of a kind and id. */
  record(line: string, kind: string, id: string): LineRecord | undefined {
    const row = this.#db
      .prepare("SELECT id, row FROM record WHERE line = ? AND kind = ? AND id = ?")
      .get(line, kind, id);
    return row === undefined ? undefined : toRecord(kind, row);
  }

  /** What belongs to a checkpoint. */
  parts(line: string, checkpoint: string): LineRecord[] {
    return this.#db
      .prepare(
        "SELECT id, row FROM record WHERE line = ?1 AND kind = 'parts' AND id >= ?2 || ' ' AND id < ?2 || '!'",
      )
      .all(line, checkpoint)
      .map((row) => toRecord("parts", row));
  }

  /** The records of a kind, newest first by their place in their store; those of one segment on, if given. */
  *ofKind(line: string, kind: string, since = 0): Generator<LineRecord> {
    const rows = this.#db
      .prepare("SELECT id, row FROM record WHERE line = ? AND kind = ? AND number >= ? ORDER BY seq DESC")
      .iterate(line, kind, since);
    for (const row of rows) yield toRecord(kind, row);
  }

  /** The lines that have a checkpoint whose id begins so. */
  holders(prefix: string): { readonly line: string; readonly id: string }[] {
    return this.#db
      .prepare(
        "SELECT line, id FROM record WHERE kind = 'checkpoint' AND id >= ?1 AND id < ?1 || '{' LIMIT 20",
      )
      .all(prefix)
      .map((row) => ({ line: String(row["line"]), id: String(row["id"]) }));
  }

  /** What was written on checkpoints, with the line that says so; of each line after a segment. */
  *annotations(
    after: ReadonlyMap<string, number>,
  ): Generator<{ readonly by: string; readonly record: LineRecord }> {
    const rows = this.#db
      .prepare("SELECT line, id, number, row FROM record WHERE kind = 'annotation'")
      .iterate();
    for (const row of rows) {
      const by = String(row["line"]);
      if (Number(row["number"]) > (after.get(by) ?? 0)) yield { by, record: toRecord("annotation", row) };
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

function toWriter(row: Row): KnownWriter {
  const text = (column: string) => String(row[column]);
  return {
    line: text("line"),
    etag: text("etag"),
    key: text("key"),
    proof: text("proof"),
    number: Number(row["number"]),
    hash: text("hash"),
    member: text("member"),
    device: text("device"),
    beganAt: Number(row["began_at"]),
    at: Number(row["at"]),
  };
}

/** [T11] By the server's time, so that all machines cut at the same place. */
function cutBack(row: LineRecord["row"], latest: number): LineRecord["row"] {
  const { clock } = row;
  return typeof clock === "number" && clock > latest ? { ...row, clock: latest } : row;
}

function toRecord(kind: string, row: Row): LineRecord {
  const json = zstdDecompressSync(row["row"] as Uint8Array, { maxOutputLength: ROW_BYTES }).toString("utf8");
  return { kind, id: String(row["id"]), row: JSON.parse(json) as LineRecord["row"] };
}
