/**
 * Objects by the hash of their content. Every read is verified: a wrong byte never leaves this folder.
 * Objects over 1 MiB are stored as a list of 1 MiB pieces (form 1), all others as their bytes (form 0). The
 * store does not know what an object means; only references tell trees and blobs apart.
 */
import { CHUNK_BYTES } from "../fs/read-file.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import {
  createContentHash,
  HASH_BYTES,
  hashBytes,
  hashFromBytes,
  hashToBytes,
  NO_OBJECT,
  type ObjectHash,
} from "../model/object-hash.ts";
import type { Database, Row } from "./database.ts";
import { decompressPack, decompressPackAside } from "./pack.ts";
import { withheldNames } from "./withheld-names.ts";

/** A source of content: the store, or the store plus the present disk. */
export interface ObjectSource {
  has(name: ObjectHash): boolean;
  read(name: ObjectHash): Buffer;
  pieces(name: ObjectHash): Iterable<Buffer>;
  /** Content that its owner keeps elsewhere: where it is not here, trees have a gap. */
  withheld?(): ReadonlySet<ObjectHash>;
}

/** How an object is stored. */
export const FORM = { bytes: 0, pieces: 1 } as const;

const NAMES_PER_QUERY = 32;
/** Names are asked for in multiples of this many, so that there are few different statements to prepare. */
const NAMES_STEP = 8;

const PACK_CACHE_BYTES = 8 * 1024 * 1024;

/** Reads the objects of one store. */
export class ObjectStore implements ObjectSource {
  readonly #db: Database;
  readonly #packs = new Map<number, Buffer>();
  readonly #cacheBytes: number;
  #packBytes = 0;

  constructor(db: Database, cacheBytes = PACK_CACHE_BYTES) {
    this.#db = db;
    this.#cacheBytes = cacheBytes;
  }

  has(name: ObjectHash): boolean {
    return this.#db.get("SELECT 1 FROM object WHERE hash = ?", hashToBytes(name)) !== undefined;
  }

  withheld(): ReadonlySet<ObjectHash> {
    return withheldNames(this.#db);
  }

  /** Those of the names that are in the store. */
  known(names: readonly ObjectHash[]): Set<ObjectHash> {
    const found = new Set<ObjectHash>();
    for (let at = 0; at < names.length; at += NAMES_PER_QUERY) {
      const asked = names.slice(at, at + NAMES_PER_QUERY).map(hashToBytes);
      // a name asked for twice is found once
      while (asked.length % NAMES_STEP !== 0) asked.push(asked[0]!);
      const places = "?,".repeat(asked.length).slice(0, -1);
      for (const row of this.#db.all(`SELECT hash FROM object WHERE hash IN (${places})`, ...asked))
        found.add(hashFromBytes(row["hash"] as Uint8Array));
    }
    return found;
  }

  /** The pack of an object, to read many in the order in which they are stored; 0 when there is none. */
  packOf(name: ObjectHash | ""): number {
    if (name === "") return 0;
    return Number(this.#db.get("SELECT pack FROM object WHERE hash = ?", hashToBytes(name))?.["pack"] ?? 0);
  }

  /** The complete content. Use `pieces` for content that may be large. */
  read(name: ObjectHash): Buffer {
    const row = this.#row(name);
    return row["form"] === FORM.bytes ? this.#bytes(name, row) : Buffer.concat([...this.pieces(name)]);
  }

  /**
   * The content in pieces of at most 1 MiB. The last step verifies the whole; nothing may be trusted before.
   */
  *pieces(name: ObjectHash): Generator<Buffer> {
    const row = this.#row(name);
    if (row["form"] === FORM.bytes) {
      yield this.#bytes(name, row);
      return;
    }
    const whole = createContentHash();
    for (const piece of this.pieceNames(name, row)) {
      const bytes = this.#bytes(piece, this.#row(piece));
      whole.update(bytes);
      yield bytes;
    }
    if (whole.digest() !== name) throw corrupt(name);
  }

  /** The names of a large object's pieces; empty for small objects. */
  pieceNames(name: ObjectHash, row: Row = this.#row(name)): ObjectHash[] {
    if (row["form"] === FORM.bytes) return [];
    const list = this.#stored(name, row);
    if (list.length === 0 || list.length % HASH_BYTES !== 0) throw corrupt(name);
    const names: ObjectHash[] = [];
    for (let at = 0; at < list.length; at += HASH_BYTES)
      names.push(hashFromBytes(list.subarray(at, at + HASH_BYTES)));
    return names;
  }

  /** The stored bytes of an object, uninterpreted: a piece list stays a list. */
  stored(name: ObjectHash): { bytes: Buffer; form: number } {
    const row = this.#row(name);
    return { bytes: this.#stored(name, row), form: Number(row["form"]) };
  }

  /** The bytes of all objects of a pack; undefined when it is damaged, or no longer there. */
  rawPack(id: number): Buffer | undefined {
    try {
      return this.#pack(id, NO_OBJECT);
    } catch (error) {
      if (isEngineError(error, "OBJECT_CORRUPT")) return undefined;
      throw error;
    }
  }

  /**
   * Decompresses packs on other threads and keeps them, the first ones, as far as there is room; says of each when it is
   * done. A pack never changes and its id is never given again, so it may be done long before they are needed.
   */
  readAhead(smallestBytes: number): ReadonlyMap<number, Promise<void>> {
    let room = this.#cacheBytes - this.#packBytes;
    const read = new Map<number, Promise<void>>();
    for (const { id, raw_bytes: bytes } of this.#db.all(
      "SELECT id, raw_bytes FROM pack WHERE raw_bytes >= ? ORDER BY id",
      smallestBytes,
    )) {
      room -= Number(bytes);
      if (room < 0) break;
      const row = this.#db.get("SELECT data FROM pack WHERE id = ?", Number(id));
      if (row === undefined) continue;
      const raw = decompressPackAside(row["data"] as Uint8Array, Number(bytes));
      // what is damaged is found again where it is needed, and reported there
      read.set(
        Number(id),
        raw.then(
          (content) => this.#remember(Number(id), content),
          () => undefined,
        ),
      );
    }
    return read;
  }

  #row(name: ObjectHash): Row {
    const row = this.#db.get("SELECT pack, offset, size, form FROM object WHERE hash = ?", hashToBytes(name));
    if (row !== undefined) return row;
    throw new EngineError("OBJECT_MISSING", `The store is missing object ${name.slice(0, 12)}.`, {
      object: name,
      checkpoints: [],
    });
  }

  #bytes(name: ObjectHash, row: Row): Buffer {
    const bytes = this.#stored(name, row);
    if (bytes.length > CHUNK_BYTES || hashBytes(bytes) !== name) throw corrupt(name);
    return bytes;
  }

  #stored(name: ObjectHash, row: Row): Buffer {
    const pack = this.#pack(Number(row["pack"]), name);
    if (pack === undefined) {
      // `gc` of another process may have moved the object between the two queries
      const again = this.#row(name);
      if (again["pack"] === row["pack"]) throw corrupt(name);
      return this.#stored(name, again);
    }
    const start = Number(row["offset"]);
    const end = start + Number(row["size"]);
    if (start < 0 || end < start || end > pack.length) throw corrupt(name);
    return pack.subarray(start, end);
  }

  #pack(id: number, name: ObjectHash): Buffer | undefined {
    const cached = this.#packs.get(id);
    if (cached !== undefined) {
      // the one that was used longest ago goes first
      this.#packs.delete(id);
      this.#packs.set(id, cached);
      return cached;
    }
    const row = this.#db.get("SELECT raw_bytes, data FROM pack WHERE id = ?", id);
    if (row === undefined) return undefined;
    let raw: Buffer;
    try {
      raw = decompressPack(row["data"] as Uint8Array, Number(row["raw_bytes"]));
    } catch (error) {
      throw corrupt(name, error);
    }
    this.#remember(id, raw);
    return raw;
  }

  #remember(id: number, raw: Buffer): void {
    for (const [oldest, bytes] of this.#packs) {
      if (this.#packBytes + raw.length <= this.#cacheBytes) break;
      this.#packs.delete(oldest);
      this.#packBytes -= bytes.length;
    }
    this.#packs.set(id, raw);
    this.#packBytes += raw.length;
  }

  /** Drops cached packs. Pack ids are never reused, but `gc` moves objects between packs. */
  forgetCache(): void {
    this.#packs.clear();
    this.#packBytes = 0;
  }
}

function corrupt(name: ObjectHash, cause?: unknown): EngineError<"OBJECT_CORRUPT"> {
  return new EngineError(
    "OBJECT_CORRUPT",
    `Object ${name.slice(0, 12)} of the store is damaged. It was not used; your files are untouched.`,
    { object: name, checkpoints: [] },
    cause,
  );
}
