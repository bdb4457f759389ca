/**
 * The index on disk: `index.db` beside the store. It is disposable: whatever is wrong with it, it is made again. Chunks
 * and vectors belong to contents, not to paths, so that content seen before costs nothing when it comes back.
 */
import { rmSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Chunk } from "./chunks.ts";

const VERSION = "1";

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE document (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, is_text INTEGER NOT NULL, bytes INTEGER NOT NULL,
    used_at INTEGER NOT NULL, vectors TEXT);
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES document (id), start INTEGER NOT NULL,
    stop INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, vector BLOB);
  CREATE INDEX chunk_document ON chunk (document);
  CREATE VIRTUAL TABLE chunk_text USING fts5(words, content='', contentless_delete=1, detail=none, columnsize=1,
    tokenize='porter unicode61');
  CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, document INTEGER NOT NULL REFERENCES document (id),
    indexed_at INTEGER NOT NULL);
  CREATE INDEX file_document ON file (document);
  CREATE VIRTUAL TABLE file_text USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='porter unicode61');
`;

/** A content, with its pieces or without where it is not text. */
export interface NewDocument {
  readonly hash: string;
  readonly bytes: number;
  /** Undefined for what is not text. */
  readonly chunks:
    | readonly (Chunk & { readonly words: string; readonly vector: Int8Array | null })[]
    | undefined;
  /** The embedder that made the vectors; null when there are none yet. */
  readonly embedder: string | null;
}

/** A row of a table. */
export type Row = Record<string, unknown>;

/** The database of one index. */
export class IndexStore implements Disposable {
  readonly #path: string;
  #db: DatabaseSync;

  /** Opens the index at a path, or makes it; one that cannot be read is made again. */
  constructor(path: string) {
    this.#path = path;
    this.#db = open(path);
  }

  /** Throws everything away. */
  clear(): void {
    this.#db.close();
    remove(this.#path);
    this.#db = open(this.#path);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#db.prepare(sql).all(...values);
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#db.prepare(sql).get(...values);
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#db.prepare(sql).run(...values).lastInsertRowid);
  }

  transaction<Result>(work: () => Result): Result {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  meta(key: string): string | undefined {
    const value = this.get("SELECT value FROM meta WHERE key = ?", key)?.["value"];
    return value === undefined ? undefined : String(value);
  }

  setMeta(key: string, value: string): void {
    this.run(
      "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      key,
      value,
    );
  }

  /** The document of a content. */
  documentOf(hash: string): { id: number; isText: boolean; vectors: string | null } | undefined {
    const row = this.get(
      "SELECT id, is_text, vectors FROM document WHERE hash = ?",
      Buffer.from(hash, "hex"),
    );
    if (row === undefined) return undefined;
    const vectors = row["vectors"];
    return {
      id: Number(row["id"]),
      isText: row["is_text"] === 1,
      vectors: vectors === null ? null : String(vectors),
    };
  }

  /** Adds a content; returns its id and those of its pieces. Call it in a transaction. */
  addDocument(added: NewDocument, now: number): { id: number; chunks: number[] } {
    const id = this.run(
      "INSERT INTO document (hash, is_text, bytes, used_at, vectors) VALUES (?, ?, ?, ?, ?)",
      Buffer.from(added.hash, "hex"),
      added.chunks === undefined ? 0 : 1,
      added.bytes,
      now,
      added.embedder,
    );
    const chunks = (added.chunks ?? []).map((chunk) => {
      const { start, stop, startLine, endLine, vector } = chunk;
      const row = this.run(
        "INSERT INTO chunk (document, start, stop, start_line, end_line, vector) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        start,
        stop,
        startLine,
        endLine,
        vector,
      );
      this.run("INSERT INTO chunk_text (rowid, words) VALUES (?, ?)", row, chunk.words);
      return row;
    });
    return { id, chunks };
  }

  /** Lets a path have a content. Call it in a transaction. */
  setFile(path: string, document: number, facts: { words: string; now: number }): void {
    const known = this.get("SELECT id FROM file WHERE path = ?", path);
    this.run("UPDATE document SET used_at = ? WHERE id = ?", facts.now, document);
    if (known !== undefined) {
      this.run("UPDATE file SET document = ?, indexed_at = ? WHERE path = ?", document, facts.now, path);
      return;
    }
    const id = this.run(
      "INSERT INTO file (path, document, indexed_at) VALUES (?, ?, ?)",
      path,
      document,
      facts.now,
    );
    this.run("INSERT INTO file_text (rowid, words) VALUES (?, ?)", id, facts.words);
  }

  /** Takes a path out; its content stays for the time when it comes back. Call it in a transaction. */
  removeFile(path: string): boolean {
    const row = this.get("SELECT id FROM file WHERE path = ?", path);
    if (row === undefined) return false;
    this.run("DELETE FROM file_text WHERE rowid = ?", Number(row["id"]));
    this.run("DELETE FROM file WHERE id = ?", Number(row["id"]));
    return true;
  }

  /** Takes a content out, with every path that has it. Call it in a transaction. */
  removeDocument(id: number): void {
    for (const { path } of this.all("SELECT path FROM file WHERE document = ?", id))
      this.removeFile(String(path));
    this.run("DELETE FROM chunk_text WHERE rowid IN (SELECT id FROM chunk WHERE document = ?)", id);
    this.run("DELETE FROM chunk WHERE document = ?", id);
    this.run("DELETE FROM document WHERE id = ?", id);
  }

  /** Frees what was taken out: until then the text index only marks it. */
  compact(): void {
    for (const table of ["chunk_text", "file_text"])
      this.run(`INSERT INTO ${table} (${table}) VALUES ('optimize')`);
  }

  /** How much of the file is in use. */
  get bytes(): number {
    const number = (pragma: string) => Number(Object.values(this.get(`PRAGMA ${pragma}`) ?? {})[0] ?? 0);
    return (number("page_count") - number("freelist_count")) * number("page_size");
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

function open(path: string): DatabaseSync {
  try {
    return openExisting(path);
  } catch {
    // damaged, or of another version of Belay
    remove(path);
    return openExisting(path);
  }
}

function openExisting(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    const isNew = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"] === 0;
    if (isNew)
      db.exec(`BEGIN IMMEDIATE; ${SCHEMA} INSERT INTO meta VALUES ('version', '${VERSION}'); COMMIT;`);
    const found = db.prepare("SELECT value FROM meta WHERE key = 'version'").get()?.["value"];
    if (found !== VERSION) throw new Error(`version ${String(found)}`);
    db.prepare("SELECT count(*) FROM file JOIN document ON document.id = file.document").get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function remove(path: string): void {
  if (path === ":memory:") return;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}
