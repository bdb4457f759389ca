/** Reads a store pack by pack, in one pass: many times faster than object by object. What is damaged is only counted. */
import { HASH_BYTES, hashBytes, hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Database, Row } from "./database.ts";
import { FORM, ObjectStore } from "./object-store.ts";

/** What was scanned is read again, tree by tree: in most stores no pack has to be decompressed twice. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** Smaller packs are decompressed in less time than it takes to hand them to another thread. */
const ASIDE_BYTES = 512 * 1024;

/** One row a pack: as rows of their own, the objects would take longer to hand over than to look at. */
const BY_PACK = `
  SELECT pack, '[' || group_concat(offset || ',' || size) || ']' AS places, group_concat(hex(hash), '') AS names
    FROM object WHERE form = ? GROUP BY pack`;

/** A pack, and those of its objects that are bytes. */
export interface ScannedPack {
  readonly id: number;
  readonly raw: Buffer;
  /** Offset and size of one object after the other. */
  readonly places: readonly number[];
  /** The names of the same objects, as bytes. */
  readonly names: Buffer;
}

/** The packs of a store. */
export class PackScan {
  readonly #db: Database;
  /** Reads single objects from the packs that were scanned. */
  readonly objects: ObjectStore;
  unreadable = 0;

  constructor(db: Database) {
    this.#db = db;
    this.objects = new ObjectStore(db, CACHE_BYTES);
  }

  /** How many packs there are. */
  get count(): number {
    return Number(this.#db.get("SELECT count(*) AS n FROM pack")?.["n"]);
  }

  /** As long as this is the same there are the same objects: what is new comes in a new pack, what goes takes its pack along. */
  get state(): string {
    const row = this.#db.get("SELECT count(*) || ' ' || coalesce(max(id), 0) AS state FROM pack");
    return String(row?.["state"]);
  }

  /** Where an object lies; undefined when it is missing. */
  placeOf(name: ObjectHash): { readonly pack: number; readonly offset: number } | undefined {
    const row = this.#db.get("SELECT pack, offset FROM object WHERE hash = ?", hashToBytes(name));
    return row && { pack: Number(row["pack"]), offset: Number(row["offset"]) };
  }

  /** The names of objects that are lists of pieces. */
  large(): ObjectHash[] {
    return this.#db
      .all("SELECT hash FROM object WHERE form = ?", FORM.pieces)
      .map((row) => hashFromBytes(row["hash"] as Uint8Array));
  }

  /** All packs, one at a time. */
  *packs(): Generator<ScannedPack> {
    for (const row of this.#db.iterate(BY_PACK, FORM.bytes)) yield* this.#scanned(row);
  }

  /**
   * All packs as they come: large ones are decompressed on other threads while the rest is looked at. Nothing where not all
   * of them can be kept; they are decompressed as far as there is room.
   */
  async *packsAhead(): AsyncGenerator<ScannedPack> {
    const ahead = this.objects.readAhead(ASIDE_BYTES);
    const bytes = Number(this.#db.get("SELECT sum(raw_bytes) AS bytes FROM pack")?.["bytes"]);
    // pieces of large files have to be known before any pack is looked at
    const isWhole = bytes <= CACHE_BYTES && this.large().length === 0;
    const rows = isWhole ? this.#db.all(BY_PACK, FORM.bytes) : [];
    const isAhead = (row: Row) => (ahead.has(Number(row["pack"])) ? 1 : 0);
    for (const row of rows.toSorted((a, b) => isAhead(a) - isAhead(b))) {
      await ahead.get(Number(row["pack"]));
      yield* this.#scanned(row);
    }
    await Promise.all(ahead.values());
  }

  *#scanned(row: Row): Generator<ScannedPack> {
    const id = Number(row["pack"]);
    const raw = this.objects.rawPack(id);
    if (raw === undefined) this.unreadable += 1;
    else
      yield {
        id,
        raw,
        places: JSON.parse(String(row["places"])) as number[],
        names: Buffer.from(String(row["names"]), "hex"),
      };
  }

  /** The name of a pack's object; undefined when its bytes are not what the name says. */
  verifiedName({ names }: ScannedPack, index: number, bytes: Buffer): ObjectHash | undefined {
    const name = hashFromBytes(names.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES));
    if (hashBytes(bytes) === name) return name;
    this.unreadable += 1;
    return undefined;
  }
}
