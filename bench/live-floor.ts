/**
 * The least work a live capture of known names can be on this machine: the files are read and hashed, the trees above them
 * too, what is new is compressed and goes with its rows into a copy of the store, in one durable transaction. Nothing is
 * watched, no rule, branch, agent or author is asked about, nothing is checked again, and nothing is prepared for the next time.
 */
import { hash, randomBytes } from "node:crypto";
import { closeSync, cpSync, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { constants, zstdCompressSync } from "node:zlib";

const HASH_BYTES = 32;
const ROOM_BYTES = 4 * 1024 * 1024;
const ROWS_PER_STATEMENT = 32;

/** A directory's tree, encoded once; a changed hash is written over the old one. */
interface Tree {
  readonly bytes: Buffer;
  readonly hashAt: ReadonlyMap<string, number>;
}

interface Placed {
  readonly hash: Buffer;
  readonly offset: number;
  readonly size: number;
}

/** Captures into a copy of the store of a home that has one workspace. */
export class LeastCapture implements Disposable {
  readonly #root: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #trees = new Map<string, Tree>();
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  readonly #last: Record<string, SQLInputValue>;
  #objects: Placed[] = [];
  #used = 0;

  /** Call it while nothing has the store open. */
  constructor(root: string, home: string, copy: string) {
    this.#root = root;
    cpSync(home, copy, { recursive: true });
    const [name] = readdirSync(join(copy, "workspaces"));
    this.#db = new DatabaseSync(join(copy, "workspaces", name!, "store.db"));
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    const { seq: _, ...last } = this.#db.prepare("SELECT * FROM checkpoint ORDER BY seq DESC LIMIT 1").get()!;
    this.#last = last;
    this.#encode(root);
  }

  capture(paths: readonly string[]): void {
    [this.#objects, this.#used] = [[], 0];
    const changed = new Set<string>();
    const changes = paths.map((path) => {
      const tree = this.#trees.get(dirname(path))!;
      const at = tree.hashAt.get(basename(path))!;
      const before = Buffer.from(tree.bytes.subarray(at, at + HASH_BYTES));
      const now = this.#readFile(path);
      now.copy(tree.bytes, at);
      for (let above = dirname(path); above.length >= this.#root.length; above = dirname(above))
        changed.add(above);
      return [Buffer.from(path), before, now];
    });
    let snapshot: Buffer = randomBytes(HASH_BYTES);
    for (const path of [...changed].sort((a, b) => b.length - a.length)) {
      snapshot = this.#put(this.#trees.get(path)!.bytes);
      const above = this.#trees.get(dirname(path));
      if (path !== this.#root) snapshot.copy(above!.bytes, above!.hashAt.get(basename(path)));
    }
    this.#store(snapshot, changes);
  }

  [Symbol.dispose](): void {
    this.#statements.clear();
    this.#db.close();
  }

  #encode(path: string): void {
    const hashAt = new Map<string, number>();
    const parts: Buffer[] = [];
    let length = 0;
    const nodes = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const node of nodes) {
      const entry = Buffer.concat([Buffer.alloc(11), Buffer.from(node.name), randomBytes(HASH_BYTES)]);
      length += entry.length;
      hashAt.set(node.name, length - HASH_BYTES);
      parts.push(entry);
      if (node.isDirectory()) this.#encode(join(path, node.name));
    }
    this.#trees.set(path, { bytes: Buffer.concat(parts), hashAt });
  }

  #readFile(path: string): Buffer {
    lstatSync(path, { bigint: true });
    const file = openSync(path, "r");
    const { size } = fstatSync(file, { bigint: true });
    const bytes = this.#room.subarray(this.#used, this.#used + Number(size));
    readSync(file, bytes, 0, bytes.length, 0);
    fstatSync(file, { bigint: true });
    closeSync(file);
    return this.#place(bytes);
  }

  #put(bytes: Buffer): Buffer {
    bytes.copy(this.#room, this.#used);
    return this.#place(bytes);
  }

  #place(bytes: Buffer): Buffer {
    const name = hash("sha256", bytes, "buffer");
    this.#objects.push({ hash: name, offset: this.#used, size: bytes.length });
    this.#used += bytes.length;
    return name;
  }

  #store(snapshot: Buffer, changes: readonly (readonly SQLInputValue[])[]): void {
    const objects = this.#objects.sort((a, b) => a.hash.compare(b.hash));
    const names = objects.map((object) => object.hash);
    this.#statement(`SELECT hash FROM object WHERE hash IN (${places(names.length)})`).all(...names);
    const data = zstdCompressSync(this.#room.subarray(0, this.#used), {
      params: { [constants.ZSTD_c_compressionLevel]: 1 },
      chunkSize: 2 * this.#used,
    });
    this.#db.exec("BEGIN IMMEDIATE");
    const pack = this.#insert("pack (raw_bytes, cold, data)", [[this.#used, 0, data]]);
    const rows = objects.map((object) => [object.hash, pack, object.offset, object.size, 0]);
    this.#insert("object (hash, pack, offset, size, form)", rows);
    const [id, at] = [randomBytes(16).toString("hex"), Date.now()];
    const checkpoint = { ...this.#last, id, created_at: at, snapshot };
    const seq = this.#insert(`checkpoint (${Object.keys(checkpoint).join(", ")})`, [
      Object.values(checkpoint),
    ]);
    this.#insert(
      "change (checkpoint, path, old, new, attribution)",
      changes.map((change) => [seq, ...change, "outside"]),
    );
    const detail = JSON.stringify({ checkpoint: id });
    this.#insert("operation (id, kind, at, detail, chain)", [[id, "checkpoint", at, detail, snapshot]]);
    this.#insert("event (type, at, data)", [["checkpoint_created", at, detail]]);
    this.#statement("UPDATE branch SET head = ? WHERE id = 1").run(seq);
    this.#db.exec("COMMIT");
  }

  #insert(into: string, rows: readonly (readonly SQLInputValue[])[]): SQLInputValue {
    let last: SQLInputValue = 0;
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
      const some = rows.slice(from, from + ROWS_PER_STATEMENT);
      const values = some.map((row) => `(${places(row.length)})`).join(", ");
      last = this.#statement(`INSERT OR IGNORE INTO ${into} VALUES ${values}`).run(
        ...some.flat(),
      ).lastInsertRowid;
    }
    return last;
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

function places(count: number): string {
  return "?,".repeat(count).slice(0, -1);
}
