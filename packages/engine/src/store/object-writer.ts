/**
 * Puts new objects into the store. Small captures become part of the one transaction that records the
 * checkpoint. Large ones go in ahead of it in transactions of at most 8 MiB, under a lease that keeps `gc`
 * away from them. An object that exists already costs one query.
 */
import { CHUNK_BYTES } from "../fs/read-file.ts";
import { EngineError } from "../model/errors.ts";
import { hashBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Database, Value } from "./database.ts";
import { insertRows } from "./insert-rows.ts";
import { releaseLease, takeLease } from "./lease.ts";
import { FORM, type ObjectStore } from "./object-store.ts";
import { CAPTURE_LEVEL, CAPTURE_PACK_BYTES, compressPack } from "./pack.ts";

/** Objects compressed together, ready to be stored. */
export interface Pack {
  readonly data: Buffer;
  readonly rawBytes: number;
  readonly objects: readonly PackedObject[];
}

/** Where an object lies in its pack. */
export interface PackedObject {
  readonly hash: ObjectHash;
  readonly offset: number;
  readonly size: number;
  readonly form: number;
}

/** Contents of files, and their bytes. */
export interface NewContent {
  readonly objects: number;
  readonly bytes: number;
}

const TRANSACTION_BYTES = 8 * 1024 * 1024;
/** Rows are inserted in multiples of this many, so that there are few different statements to prepare. */
const ROWS_STEP = 8;

/** Collects objects into packs and stores them. */
export class ObjectWriter {
  readonly #db: Database;
  readonly #objects: ObjectStore;
  readonly #owner: ProcessIdentity;
  readonly #written = new Set<ObjectHash>();
  /** What each content that waits for its pack counts as, if the store lacks it. */
  readonly #counted = new Map<ObjectHash, NewContent>();
  readonly #stored = { objects: 0, bytes: 0 };
  #builder = new PackBuilder();
  #packs: Pack[] = [];
  #held: PlacedObject[] = [];
  #packedBytes = 0;
  #lease: string | undefined;
  #budgetBytes: number;
  /**
   * `gc` increments this whenever it frees something. If it has changed, objects that existed at the start
   * may be gone.
   */
  readonly generation: number;
  /** True when the store was empty: no object can exist already. */
  readonly isFirst: boolean;

  /** `budgetBytes`: how much the store may still grow. */
  constructor(db: Database, objects: ObjectStore, owner: ProcessIdentity, budgetBytes = Infinity) {
    this.#budgetBytes = budgetBytes;
    this.#db = db;
    this.#objects = objects;
    this.#owner = owner;
    this.generation = readGeneration(db);
    this.isFirst = db.get("SELECT 1 FROM object LIMIT 1") === undefined;
  }

  /** Stores content of any size. */
  put(bytes: Buffer): ObjectHash {
    const name = hashBytes(bytes);
    if (bytes.length <= CHUNK_BYTES) {
      this.putObject(name, bytes, FORM.bytes);
      return name;
    }
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      pieces.push(hashToBytes(this.putPiece(bytes.subarray(at, at + CHUNK_BYTES))));
    }
    this.putObject(name, Buffer.concat(pieces), FORM.pieces);
    return name;
  }

  /** One piece of a large object (≤ 1 MiB). */
  putPiece(bytes: Buffer): ObjectHash {
    const name = hashBytes(bytes);
    this.putObject(name, bytes, FORM.bytes);
    return name;
  }

  /** Stores bytes under a name that the caller has computed, unless the store has it. */
  putObject(name: ObjectHash, bytes: Buffer, form: number): void {
    if (this.#written.has(name)) return;
    this.#written.add(name);
    this.#builder.add(name, bytes, form);
    if (this.#builder.rawBytes >= CAPTURE_PACK_BYTES) this.#closePack();
  }

  /** The same for content of a file, or a piece of it, which counts as `stored` if it is new. */
  putContent(name: ObjectHash, bytes: Buffer, { form, ...counts }: NewContent & { form: number }): void {
    if (this.#written.has(name)) return;
    this.#counted.set(name, counts);
    this.putObject(name, bytes, form);
  }

  /** New contents of files so far: how many, and how many bytes they have. What the store had does not count. */
  get stored(): NewContent {
    return { ...this.#stored };
  }

  /** Adds a pack of contents that was built elsewhere (a worker). */
  putPack(pack: Pack): void {
    for (const { hash, size } of pack.objects) {
      if (!this.#written.has(hash)) this.#count({ objects: 1, bytes: size });
      this.#written.add(hash);
    }
    this.#packs.push(pack);
    this.#packedBytes += pack.data.length;
    if (this.#packedBytes >= TRANSACTION_BYTES) this.#db.transaction(() => this.#storeAhead());
  }

  /** Stores what is left and does `work` in the same durable transaction; nothing is changed when `isKept` says no. */
  commit<Result>(work: () => Result, isKept: (result: Result) => boolean = () => true): Result {
    this.#closePack();
    try {
      const result = this.#db.transaction(() => {
        this.#storePacks();
        this.#storeHeld();
        const done = work();
        if (this.#lease !== undefined) releaseLease(this.#db, this.#lease);
        return done;
      }, isKept);
      if (!isKept(result)) this.#objects.forgetCache();
      return result;
    } catch (error) {
      // a rolled-back pack id will be used for another pack
      this.#objects.forgetCache();
      throw error;
    }
  }

  /** Stores what `work` has put so far so that it can be read. Only inside `commit`. */
  storeNow(): void {
    this.#closePack();
    this.#storePacks();
    this.#storeHeld();
  }

  /** Stores what was put so far durably, before anything refers to it. */
  flush(): void {
    this.#closePack();
    if (this.#packs.length > 0 || this.#held.length > 0) {
      this.#db.transaction(() => {
        this.#storeAhead();
        this.#storeHeld();
      });
    }
  }

  /** Discards the rest. Objects that went in ahead are unreferenced and left to `gc`. */
  abandon(): void {
    const lease = this.#lease;
    if (lease !== undefined) this.#db.fleetingTransaction(() => releaseLease(this.#db, lease));
  }

  /** What the store has already is left out: one question for all of a pack's objects. */
  #closePack(): void {
    const builder = this.#builder;
    if (builder.isEmpty) return;
    this.#builder = new PackBuilder();
    if (!this.isFirst) builder.leaveOut(this.#objects.known(builder.names));
    for (const name of builder.names) this.#count(this.#counted.get(name));
    this.#counted.clear();
    if (builder.isEmpty) return;
    const pack = builder.build(CAPTURE_LEVEL);
    this.#packs.push(pack);
    this.#packedBytes += pack.data.length;
    if (this.#packedBytes >= TRANSACTION_BYTES) this.#db.transaction(() => this.#storeAhead());
  }

  #count(content: NewContent | undefined): void {
    this.#stored.objects += content?.objects ?? 0;
    this.#stored.bytes += content?.bytes ?? 0;
  }

  #storeAhead(): void {
    this.#lease ??= takeLease(this.#db, "capture", this.#owner);
    this.#storePacks();
  }

  /**
   * In an empty store objects wait for the end and go in sorted: inserting in order builds the index much
   * faster.
   */
  #storePack(pack: Pack): void {
    const id = insertPack(this.#db, pack, false);
    if (this.isFirst) for (const object of pack.objects) this.#held.push({ ...object, pack: id });
    else
      insertObjects(
        this.#db,
        pack.objects.map((object) => ({ ...object, pack: id })),
        "IGNORE",
      );
  }

  #storeHeld(): void {
    insertObjects(this.#db, this.#held, "IGNORE");
    this.#held = [];
  }

  #storePacks(): void {
    this.#budgetBytes -= this.#packedBytes;
    // [R14] the cap holds: what does not fit is not stored, and the caller learns it
    if (this.#budgetBytes < 0 && this.#packedBytes > 0) throw full(-this.#budgetBytes);
    for (const pack of this.#packs) this.#storePack(pack);
    this.#packs = [];
    this.#packedBytes = 0;
  }
}

/** Collects objects until they fill a pack. */
export class PackBuilder {
  #bytes = NO_BYTES;
  #objects: PackedObject[] = [];
  rawBytes = 0;

  get isEmpty(): boolean {
    return this.#objects.length === 0;
  }

  get names(): ObjectHash[] {
    return this.#objects.map(({ hash }) => hash);
  }

  /** Takes objects out again. */
  leaveOut(names: ReadonlySet<ObjectHash>): void {
    if (names.size === 0) return;
    const objects = this.#objects;
    [this.#objects, this.rawBytes] = [[], 0];
    for (const object of objects) {
      if (names.has(object.hash)) continue;
      const offset = this.rawBytes;
      // what every capture has again comes last: most stay where they are
      if (offset !== object.offset)
        this.#bytes.copyWithin(offset, object.offset, object.offset + object.size);
      this.#objects.push({ ...object, offset });
      this.rawBytes += object.size;
    }
  }

  /** Copies the bytes: the caller may reuse its buffer. */
  add(hash: ObjectHash, bytes: Buffer, form: number): void {
    const offset = this.rawBytes;
    this.#reserve(offset + bytes.length);
    bytes.copy(this.#bytes, offset);
    this.#objects.push({ hash, offset, size: bytes.length, form });
    this.rawBytes += bytes.length;
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length, FIRST_ROOM_BYTES));
    this.#bytes.copy(larger, 0, 0, this.rawBytes);
    this.#bytes = larger;
  }

  build(level: number): Pack {
    return {
      data: compressPack(this.#bytes.subarray(0, this.rawBytes), level),
      rawBytes: this.rawBytes,
      objects: this.#objects,
    };
  }
}

const NO_BYTES = Buffer.alloc(0);
/** What ten changed files and their trees take. */
const FIRST_ROOM_BYTES = 128 * 1024;

interface PlacedObject extends PackedObject {
  readonly pack: number;
}

/** Stores a pack of objects that other packs hold already; from now on they are read from this one. */
export function storePackAgain(db: Database, pack: Pack, cold: boolean): void {
  const id = insertPack(db, pack, cold);
  insertObjects(
    db,
    pack.objects.map((object) => ({ ...object, pack: id })),
    "REPLACE",
  );
}

function insertPack(db: Database, { rawBytes, data }: Pack, cold: boolean): number {
  return db.run("INSERT INTO pack (raw_bytes, cold, data) VALUES (?, ?, ?)", rawBytes, cold ? 1 : 0, data)
    .lastId;
}

function insertObjects(db: Database, objects: readonly PlacedObject[], conflict: "IGNORE" | "REPLACE"): void {
  const rows = objects
    .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
    .map((o): Value[] => [hashToBytes(o.hash), o.pack, o.offset, o.size, o.form]);
  // the same row again changes nothing
  while (rows.length % ROWS_STEP !== 0) rows.push(rows.at(-1)!);
  insertRows(db, `INSERT OR ${conflict} INTO object (hash, pack, offset, size, form)`, rows);
}

/** How often `gc` has freed something. */
export function readGeneration(db: Database): number {
  return Number(db.get("SELECT value FROM meta WHERE key = 'gc_generation'")?.["value"] ?? 0);
}

function full(missingBytes: number): EngineError<"STORE_FULL"> {
  return new EngineError(
    "STORE_FULL",
    `The store has reached its cap: ${missingBytes} bytes do not fit. Nothing was recorded; your files are untouched.`,
    { missingBytes },
  );
}
