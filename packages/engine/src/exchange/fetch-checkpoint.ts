/**
 * Takes one checkpoint of another line into the store. Objects go in as packs, under a lease, each hashed first; nothing
 * refers to them until everything that the checkpoint needs is there [T9]. Then one transaction adds the checkpoint. A fetch that ends earlier leaves objects that `gc` frees.
 */
import { readWholeTree } from "../diff/compare-trees.ts";
import { withheldIn } from "../diff/withheld-in.ts";
import { addAlias, aliasedSeq } from "../history/aliases.ts";
import { noteUse, reviveCheckpoint } from "../history/arrivals.ts";
import { deltaHash, encodeChanges, insertChanges } from "../history/changes.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { insertDoubts, insertGaps } from "../history/gaps-and-doubts.ts";
import { insertArrival } from "../history/insert-checkpoint.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { FetchedFrom, Fetching, HistoryRecord } from "../model/exchange.ts";
import type { CheckpointId } from "../model/ids.ts";
import { hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import { originText } from "../model/origin.ts";
import type { System } from "../model/system.ts";
import { hardExclude } from "../rules/hard-excludes.ts";
import type { Database } from "../store/database.ts";
import { releaseQuietly } from "../store/lease.ts";
import { FORM } from "../store/object-store.ts";
import { ObjectWriter, readGeneration, type Pack } from "../store/object-writer.ts";
import { decompressPack } from "../store/pack.ts";
import type { Store } from "../store/store.ts";
import { noteWithheld } from "../store/withheld-names.ts";
import { damaged, fetchedState, type FetchedState } from "./fetched-state.ts";
import { assertProved } from "./needed-objects.ts";
import { noteWithheldGaps } from "./withheld-gaps.ts";

/** The checkpoint of a line that this store has already: fetched before, or its own. */
export function findFetched(
  { db }: Store,
  { origin, id, snapshot }: FetchedFrom,
  now: number,
): Checkpoint | undefined {
  const fetched = aliasedSeq(db, { origin: originText(origin), name: id });
  const seq = fetched ?? ownSeq(db, { id, snapshot });
  const found = seq === undefined ? undefined : db.get("SELECT pruned_at FROM checkpoint WHERE seq = ?", seq);
  if (seq === undefined || found?.["pruned_at"] !== null) return undefined;
  noteUse(db, seq, now);
  return checkpointAt(db, seq);
}

/** A checkpoint of this store that another line has too: one of them was cloned from the other. */
function ownSeq(db: Database, { id, snapshot }: Pick<FetchedFrom, "id" | "snapshot">): number | undefined {
  const own = db.get(
    "SELECT seq FROM checkpoint WHERE id = ? AND snapshot = ? AND origin IS NULL",
    id,
    hashToBytes(snapshot),
  );
  return own === undefined ? undefined : Number(own["seq"]);
}

/** What of a checkpoint was withheld from this store and is not here. */
export function withheldFrom({ db, objects }: Store, checkpoint: string): ObjectHash[] {
  const row = db.get("SELECT snapshot FROM checkpoint WHERE id = ?", checkpoint);
  if (row === undefined) return [];
  return withheldIn(objects, hashFromBytes(row["snapshot"] as Uint8Array))
    .map(([, { hash }]) => hash)
    .filter((hash) => !objects.has(hash));
}

/** What a fetch needs of its surroundings. */
export interface FetchPlace {
  readonly store: Store;
  readonly system: System;
  /** How much the store may still grow. */
  readonly budgetBytes: number;
}

/** A fetch that is under way. */
export class CheckpointFetch implements Fetching {
  readonly #place: FetchPlace;
  readonly #from: FetchedFrom;
  readonly #state: FetchedState;
  readonly #writer: ObjectWriter;
  #wanted: Wanted;
  #isOver = false;
  /** What its owner keeps at home. */
  readonly #withheld = new Set<ObjectHash>();
  /** Large contents that arrived: they are proved when all their pieces are there. */
  readonly #lists = new Set<ObjectHash>();

  constructor(
    place: FetchPlace,
    from: FetchedFrom,
    records: { readonly record: HistoryRecord; readonly parts: readonly HistoryRecord[] },
  ) {
    const { store, system, budgetBytes } = place;
    this.#place = place;
    this.#from = from;
    this.#state = fetchedState(records.record, records.parts);
    this.#writer = new ObjectWriter(store.db, store.objects, system.owner, budgetBytes);
    this.#wanted = new Wanted(store, this.#state);
  }

  missing(): ObjectHash[] {
    this.#writer.flush();
    return this.#wanted.missing();
  }

  putPack({ data, rawBytes, objects }: Pack): void {
    const raw = decompressPack(data, rawBytes);
    for (const { hash, offset, size, form } of objects) {
      assertProved(hash, { bytes: raw.subarray(offset, offset + size), form });
      if (form === FORM.pieces) this.#lists.add(hash);
    }
    this.#writer.putPack({ data, rawBytes, objects });
  }

  withhold(hashes: readonly ObjectHash[]): void {
    for (const hash of hashes) this.#withheld.add(hash);
    this.#wanted.settle(this.#withheld);
  }

  finish(): Checkpoint {
    const missing = this.missing();
    if (missing.length > 0) throw incomplete(this.#from.id, missing);
    const { objects } = this.#place.store;
    // the last piece proves the whole
    for (const name of this.#lists)
      if (this.#wanted.has(name)) for (const _ of objects.pieces(name)) continue;
    const checkpoint = this.#writer.commit(() => {
      this.#expectAllKept();
      noteWithheld(this.#place.store.db, this.#withheld);
      const recorded = this.#record();
      noteWithheldGaps(this.#place.store, recorded.seq);
      return checkpointAt(this.#place.store.db, recorded.seq)!;
    });
    this.#isOver = true;
    return checkpoint;
  }

  /** [R3] `gc` may have freed what was in the store when the fetch began. */
  #expectAllKept(): void {
    const { store } = this.#place;
    if (readGeneration(store.db) === this.#writer.generation) return;
    this.#wanted = new Wanted(store, this.#state);
    this.#wanted.settle(this.#withheld);
    const missing = this.#wanted.missing();
    if (missing.length > 0) throw incomplete(this.#from.id, missing);
  }

  #record(): Checkpoint {
    const { store, system } = this.#place;
    const { db } = store;
    const alias = { origin: originText(this.#from.origin), name: this.#from.id };
    const now = system.now();
    const known = aliasedSeq(db, alias);
    if (known !== undefined) return reviveCheckpoint(db, known, now);
    const own = ownSeq(db, this.#from);
    if (own !== undefined) return checkpointAt(db, own)!;
    const { checkpoint, changes, gaps, doubts } = this.#state;
    const rows = encodeChanges(changes);
    const id = isFree(db, checkpoint.id) ? checkpoint.id : (system.newId() as CheckpointId);
    const arrival = { origin: alias.origin, arrivedAt: now, delta: deltaHash(rows) };
    const arrived = insertArrival(db, { ...checkpoint, id }, arrival);
    insertChanges(db, arrived.seq, rows, []);
    insertGaps(db, arrived.seq, gaps);
    insertDoubts(db, arrived.seq, doubts);
    addAlias(db, arrived, alias);
    return checkpointAt(db, arrived.seq)!;
  }

  [Symbol.dispose](): void {
    if (!this.#isOver) releaseQuietly(() => this.#writer.abandon());
    this.#isOver = true;
  }
}

function isFree(db: Database, id: string): boolean {
  return db.get("SELECT 1 FROM checkpoint WHERE id = ?", id) === undefined;
}

interface Need {
  readonly hash: ObjectHash;
  readonly isTree: boolean;
}

/** What a checkpoint needs, as far as its trees are there to be read. */
class Wanted {
  readonly #store: Store;
  readonly #seen = new Set<string>();
  #open: Need[] = [];
  #settled: ReadonlySet<ObjectHash> = new Set();

  constructor(store: Store, { checkpoint, changes }: FetchedState) {
    this.#store = store;
    this.#add(checkpoint.snapshot, true);
    for (const blob of [checkpoint.rules, checkpoint.excluded]) this.#add(blob, false);
    for (const { from, to } of changes)
      for (const entry of [from, to])
        if (entry?.kind === "file" || entry?.kind === "symlink") this.#add(entry.hash, false);
  }

  /** These will not come. */
  settle(names: ReadonlySet<ObjectHash>): void {
    this.#settled = names;
    this.#open = this.#open.filter(({ hash, isTree }) => isTree || !names.has(hash));
  }

  /** Whether the checkpoint needs an object, as a whole. */
  has(name: ObjectHash): boolean {
    return this.#seen.has(`${name} true`) || this.#seen.has(`${name} false`);
  }

  /** What is not there; asked again, it goes on where something was missing. */
  missing(): ObjectHash[] {
    const { objects } = this.#store;
    const missing = new Set<ObjectHash>();
    const waiting: Need[] = [];
    for (let need = this.#open.pop(); need !== undefined; need = this.#open.pop()) {
      const lacking = objects.has(need.hash)
        ? objects.pieceNames(need.hash).filter((piece) => !objects.has(piece))
        : [need.hash];
      for (const name of lacking) missing.add(name);
      if (lacking.length > 0) waiting.push(need);
      else if (need.isTree) this.#enter(need.hash);
    }
    this.#open = waiting;
    return [...missing];
  }

  #enter(name: ObjectHash): void {
    for (const [entryName, entry] of readWholeTree(this.#store.objects, name)) {
      if (hardExclude(entryName) !== undefined)
        throw damaged("", `it holds ${displayPath(entryName as BytePath)}, which Belay never captures`);
      if (entry.kind === "directory") this.#add(entry.hash, true);
      else if (entry.kind !== "gap") this.#add(entry.hash, false);
    }
  }

  #add(hash: ObjectHash, isTree: boolean): void {
    const key = `${hash} ${isTree}`;
    if (this.#seen.has(key) || (!isTree && this.#settled.has(hash))) return;
    this.#seen.add(key);
    this.#open.push({ hash, isTree });
  }
}

function incomplete(checkpoint: string, missing: readonly ObjectHash[]): EngineError<"OBJECT_MISSING"> {
  return new EngineError(
    "OBJECT_MISSING",
    `${missing.length} objects of checkpoint ${checkpoint} did not arrive. Nothing was kept.`,
    { object: missing[0] ?? "", checkpoints: [checkpoint] },
  );
}
