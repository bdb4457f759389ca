/**
 * What this home knows of a space: how far each line is, the hashes of segments it saw [T15], and where the objects of
 * lines are. Disposable: it is read again from the lines. Losing it costs requests, and the memory of rollbacks of other
 * lines; a store remembers its own line itself.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Span } from "../line/keys-of-space.ts";
import type { ObjectHash } from "@belay/engine";
import { SELF, WITHHELD, type Place } from "../line/object-index.ts";
import type { OpenSegment } from "../line/segment.ts";
import { spaceDirectory } from "../space/space.ts";

/** How far a line is known. */
export interface KnownLine {
  readonly number: number;
  readonly hash: string;
}

const TABLES = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS segment (line TEXT, number INTEGER, hash TEXT NOT NULL, PRIMARY KEY (line, number)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS object (line TEXT, hash BLOB, parcel TEXT NOT NULL, frame INTEGER NOT NULL, PRIMARY KEY (line, hash)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS fold (line TEXT, parcel TEXT, hash TEXT NOT NULL, PRIMARY KEY (line, parcel)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sweep (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS usage (id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL, space INTEGER NOT NULL, member INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS rewritten (line TEXT PRIMARY KEY, generation INTEGER NOT NULL DEFAULT 0, tried_at INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS adopted (line TEXT PRIMARY KEY, looked_at INTEGER NOT NULL DEFAULT 0, forgets INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS parcel (line TEXT, id TEXT, PRIMARY KEY (line, id)) WITHOUT ROWID;
`;

/** The id of a content parcel, in letters. */
const ID_LETTERS = 32;

/** The mirror of one space. */
export class Mirror implements Disposable {
  readonly #db: DatabaseSync;
  readonly #place: StatementSync;

  /** A home of `:memory:` keeps it in memory, for simulations. */
  constructor(home: string, space: string) {
    this.#db = new DatabaseSync(placeOf(home, space), { timeout: 10_000 });
    this.#db.exec(TABLES);
    this.#place = this.#db.prepare("SELECT parcel, frame FROM object WHERE line = ? AND hash = ?");
  }

  /** The last segment of a line that is known here. */
  last(line: string): KnownLine | undefined {
    const row = this.#db
      .prepare("SELECT number, hash FROM segment WHERE line = ? ORDER BY number DESC LIMIT 1")
      .get(line);
    return row === undefined ? undefined : { number: Number(row["number"]), hash: String(row["hash"]) };
  }

  /** The hashes of all segments of a line that were ever seen. */
  seen(line: string): Map<number, string> {
    const rows = this.#db.prepare("SELECT number, hash FROM segment WHERE line = ?").all(line);
    return new Map(rows.map((row) => [Number(row["number"]), String(row["hash"])]));
  }

  /** Notes the bytes of a fold, whose content its line's index names. */
  noteFold(line: string, span: Span, hash: string): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO fold (line, parcel, hash) VALUES (?, ?, ?)")
      .run(line, foldParcel(span), hash);
  }

  /** The hash of the object of a line that content rides in, by what the index calls it. */
  carrierHash(line: string, parcel: string): string | undefined {
    const row = parcel.includes("-")
      ? this.#db.prepare("SELECT hash FROM fold WHERE line = ? AND parcel = ?").get(line, parcel)
      : this.#db
          .prepare("SELECT hash FROM segment WHERE line = ? AND number = ?")
          .get(line, Number(parcel.slice(1)));
    return row === undefined ? undefined : String(row["hash"]);
  }

  /** All lines of which a segment was seen. */
  lines(): string[] {
    return this.#db
      .prepare("SELECT DISTINCT line FROM segment")
      .all()
      .map((row) => String(row["line"]));
  }

  /** [T15] Notes that a sweep was seen; returns the highest number that ever was. */
  noteSweep(number: number): number {
    this.#db
      .prepare(
        "INSERT INTO sweep (id, number) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET number = max(number, excluded.number)",
      )
      .run(number);
    return Number(this.#db.prepare("SELECT number FROM sweep").get()?.["number"]);
  }

  /** How much the space held when it was last asked, with what this home added. */
  usage(): { readonly at: number; readonly space: number; readonly member: number } | undefined {
    const row = this.#db.prepare("SELECT at, space, member FROM usage").get();
    if (row === undefined) return undefined;
    return { at: Number(row["at"]), space: Number(row["space"]), member: Number(row["member"]) };
  }

  /** Notes how much the space holds. */
  noteUsage(usage: { readonly at: number; readonly space: number; readonly member: number }): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO usage (id, at, space, member) VALUES (1, ?, ?, ?)")
      .run(usage.at, usage.space, usage.member);
  }

  /** [R2245] The generation below which nothing of a line is encrypted any more, as far as is known. */
  rewritten(line: string): number {
    return this.#number("SELECT generation AS n FROM rewritten WHERE line = ?", line);
  }

  /** Notes that nothing of a line is older than a generation. */
  noteRewritten(line: string, generation: number): void {
    this.#db
      .prepare(
        "INSERT INTO rewritten (line, generation) VALUES (?, ?) ON CONFLICT (line) DO UPDATE SET generation = excluded.generation",
      )
      .run(line, generation);
  }

  /** When it was last tried to encrypt a line again. */
  rewriteTriedAt(line: string): number {
    return this.#number("SELECT tried_at AS n FROM rewritten WHERE line = ?", line);
  }

  /** Notes that it is tried. */
  noteRewriteTry(line: string, at: number): void {
    this.#db
      .prepare(
        "INSERT INTO rewritten (line, tried_at) VALUES (?, ?) ON CONFLICT (line) DO UPDATE SET tried_at = excluded.tried_at",
      )
      .run(line, at);
  }

  /** When an adopted line was last looked at. */
  adoptedLookedAt(line: string): number {
    return this.#number("SELECT looked_at AS n FROM adopted WHERE line = ?", line);
  }

  /** The newest request to forget something that an adopted line follows. */
  adoptedForgets(line: string): number {
    return this.#number("SELECT forgets AS n FROM adopted WHERE line = ?", line);
  }

  /** Notes that an adopted line was looked at, and the newest request to forget something that it follows since. */
  noteAdopted(line: string, { at, forgets }: { readonly at: number; readonly forgets: number }): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO adopted (line, looked_at, forgets) VALUES (?, ?, ?)")
      .run(line, at, forgets);
  }

  #number(sql: string, line: string): number {
    return Number(this.#db.prepare(sql).get(line)?.["n"] ?? 0);
  }

  /** Where an object of a line is. */
  place(line: string, hash: string): Place | undefined {
    const row = this.#place.get(line, Buffer.from(hash, "hex"));
    return row === undefined ? undefined : { parcel: String(row["parcel"]), frame: Number(row["frame"]) };
  }

  /** What the owner of a line keeps at home. */
  withheld(line: string): ObjectHash[] {
    return this.#db
      .prepare("SELECT hash FROM object WHERE line = ? AND parcel = ?")
      .all(line, WITHHELD)
      .map((row) => Buffer.from(row["hash"] as Uint8Array).toString("hex") as ObjectHash);
  }

  /** A content parcel of another line that holds an object. */
  borrow(hash: string, line: string): Place | undefined {
    const place = this.place(line, hash);
    return place?.parcel.length === ID_LETTERS ? place : undefined;
  }

  /** The ids of all content parcels that the index of a line names. */
  parcels(line: string): string[] {
    return this.#db
      .prepare("SELECT id FROM parcel WHERE line = ? ORDER BY id")
      .all(line)
      .map((row) => String(row["id"]));
  }

  /** The ids of all content parcels that a line needs for other objects than these. */
  parcelsBeside(line: string, objects: ReadonlyMap<string, unknown>): Set<string> {
    const used = new Set<string>();
    for (const row of this.#db.prepare("SELECT hash, parcel FROM object WHERE line = ?").iterate(line)) {
      const parcel = String(row["parcel"]);
      const hash = Buffer.from(row["hash"] as Uint8Array).toString("hex");
      if (parcel.length === ID_LETTERS && !objects.has(hash)) used.add(parcel);
    }
    return used;
  }

  /** Adds a segment: its hash and its index. The same one twice changes nothing. */
  add(line: string, { number, hash }: KnownLine, index: ReadonlyMap<string, Place>): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const isEmpty = this.#db.prepare("SELECT 1 FROM object WHERE line = ? LIMIT 1").get(line) === undefined;
      this.#db
        .prepare("INSERT OR REPLACE INTO segment (line, number, hash) VALUES (?, ?, ?)")
        .run(line, number, hash);
      const object = this.#db.prepare(
        "INSERT OR REPLACE INTO object (line, hash, parcel, frame) VALUES (?, ?, ?, ?)",
      );
      const parcel = this.#db.prepare("INSERT OR IGNORE INTO parcel (line, id) VALUES (?, ?)");
      let isMoved = false;
      for (const [name, place] of index) {
        const id = place.parcel === SELF ? segmentParcel(number) : place.parcel;
        const before = isEmpty ? undefined : this.place(line, name);
        isMoved ||= before !== undefined && before.parcel !== id;
        object.run(line, Buffer.from(name, "hex"), id, place.frame);
        if (id.length === ID_LETTERS) parcel.run(line, id);
      }
      if (isMoved) this.#forgetUnused(line);
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /**
   * [T5] After a base: the line has these objects and no others. Durable before it returns: a push that still believed in
   * what the base dropped would not send it again.
   */
  replace(line: string, known: KnownLine, index: ReadonlyMap<string, Place>): void {
    this.#db.exec("PRAGMA synchronous = FULL");
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      for (const table of ["object", "parcel"])
        this.#db.prepare(`DELETE FROM ${table} WHERE line = ?`).run(line);
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
    this.add(line, known, index);
    this.#db.exec("PRAGMA synchronous = NORMAL");
  }

  /** After a repair: a parcel that no object is in any more is none of the line's. */
  #forgetUnused(line: string): void {
    const used = "SELECT parcel FROM object WHERE line = ?1";
    this.#db.prepare(`DELETE FROM parcel WHERE line = ?1 AND id NOT IN (${used})`).run(line);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

/** Adds what was read of a line; a base says all that the line has. `isThere`: only objects in such parcels. */
export function addToMirror(
  mirror: Mirror,
  line: string,
  { head, hash, index, bytesHash }: Pick<OpenSegment, "head" | "hash" | "index" | "bytesHash">,
  isThere: (parcel: string) => boolean = () => true,
): void {
  const known = { number: head.number, hash };
  const places = new Map<string, Place>();
  const span = head.fold === undefined ? undefined : { from: head.fold.from, to: head.number };
  if (span !== undefined) mirror.noteFold(line, span, bytesHash);
  for (const [name, { parcel, frame }] of index)
    if (parcel === SELF && span !== undefined) places.set(name, { parcel: foldParcel(span), frame });
    else if (parcel.length !== ID_LETTERS || isThere(parcel)) places.set(name, { parcel, frame });
  if (head.fold?.isBase === true) mirror.replace(line, known, places);
  else mirror.add(line, known, places);
}

function placeOf(home: string, space: string): string {
  if (home === ":memory:") return home;
  const directory = spaceDirectory(home, space);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, "mirror.db");
}

/** Content that rides inside a fold is found under what it restates. */
function foldParcel({ from, to }: Span): string {
  return `#${from}-${to}`;
}

/** The segments that the carrier of content stands for, by what the index of a line calls it. */
export function segmentsOfCarrier(parcel: string): Span | undefined {
  const [, from, to] = /^#(\d+)(?:-(\d+))?$/.exec(parcel) ?? [];
  return from === undefined ? undefined : { from: Number(from), to: Number(to ?? from) };
}

/** Content that rides inside a segment is found under its number. */
function segmentParcel(number: number): string {
  return `#${number}`;
}
