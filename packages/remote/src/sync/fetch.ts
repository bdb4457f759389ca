/**
 * Brings one checkpoint of another line into the store: its trees first, as far as they are missing, then contents. Only
 * the frames that hold something missing are read, by range; frames that lie close together are read at once.
 */
import type { Checkpoint, Exchange, FetchedFrom, Fetching, ObjectHash } from "@belay/engine";
import { WITHHELD, type Place } from "../line/object-index.ts";
import type { LineRecord } from "../line/segment.ts";
import type { Space } from "../space/space.ts";
import { annotationsOn } from "./line-annotations.ts";
import type { LineRecords } from "./line-records.ts";
import { addToMirror, type Mirror } from "./mirror.ts";
import { ParcelReader } from "./parcel-reader.ts";
import { LineDamage, listParcels, readLine } from "./read-line.ts";

/** What a fetch needs. */
export interface FetchTarget {
  readonly exchange: Exchange;
  readonly space: Space;
  readonly mirror: Mirror;
  readonly records: LineRecords;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** A checkpoint of another line, by what its line says of it. */
export interface WantedCheckpoint {
  readonly remote: string;
  readonly line: string;
  readonly record: LineRecord;
}

/** What came of a fetch. */
export interface FetchReport {
  readonly checkpoint: Checkpoint;
  /** False when it was here already. */
  readonly isNew: boolean;
  readonly objects: number;
  readonly bytes: number;
}

const PARCELS_IN_FLIGHT = 3;

/** Fetches a checkpoint, or finds it here. */
export async function fetchCheckpoint(target: FetchTarget, wanted: WantedCheckpoint): Promise<FetchReport> {
  const { exchange, records } = target;
  const { remote, line, record } = wanted;
  const from: FetchedFrom = { origin: { remote, line }, id: record.id, snapshot: snapshotOf(record) };
  const known = exchange.fetched(from);
  // [R2021] what its owner kept at home then may be on the server by now
  const isComing = (hash: ObjectHash) =>
    ![undefined, WITHHELD].includes(target.mirror.place(line, hash)?.parcel);
  if (known !== undefined && !exchange.withheldFrom(known.id).some(isComing))
    return { checkpoint: known, isNew: false, objects: 0, bytes: 0 };
  using fetching = exchange.fetch(from, { record, parts: records.parts(line, record.id) });
  const run = new Fetch(target, { line, checkpoint: record.id }, fetching);
  await run.bringAll();
  const checkpoint = fetching.finish();
  exchange.annotate(annotationsOn(target, line, record.id));
  const { objects, bytes } = run;
  return { checkpoint: exchange.fetched(from) ?? checkpoint, isNew: true, objects, bytes };
}

function snapshotOf({ id, row }: LineRecord): ObjectHash {
  const { base64 } = (row["snapshot"] ?? {}) as { base64?: unknown };
  const hash = typeof base64 === "string" ? Buffer.from(base64, "base64").toString("hex") : "";
  if (hash.length !== 64)
    throw new LineDamage("damaged", id, "the record of the checkpoint names no snapshot");
  return hash as ObjectHash;
}

class Fetch {
  readonly #target: FetchTarget;
  readonly #of: { readonly line: string; readonly checkpoint: string };
  readonly #fetching: Fetching;
  objects = 0;
  bytes = 0;

  constructor(
    target: FetchTarget,
    of: { readonly line: string; readonly checkpoint: string },
    fetching: Fetching,
  ) {
    this.#target = target;
    this.#of = of;
    this.#fetching = fetching;
  }

  async bringAll(): Promise<void> {
    let missing = this.#fetching.missing();
    let isCaughtUp = false;
    while (missing.length > 0) {
      const before = missing;
      const withheld = missing.filter((hash) => this.#isWithheld(hash));
      this.#fetching.withhold(withheld);
      try {
        await this.#bring(missing.filter((hash) => !this.#isWithheld(hash)));
      } catch (error) {
        // [T5] the newest index counts: what was folded or repaired is elsewhere now
        if (isCaughtUp || !(error instanceof LineDamage) || error.kind !== "missing") throw error;
        await this.#readIndexAgain();
        isCaughtUp = true;
        continue;
      }
      missing = this.#fetching.missing();
      if (missing.length > 0 && missing.every((hash) => before.includes(hash)))
        throw this.#incomplete(missing[0]!);
    }
  }

  async #bring(missing: readonly ObjectHash[]): Promise<void> {
    const { progress } = this.#target;
    const parcels = [...this.#framesByParcel(missing)];
    const total = this.objects + missing.length;
    const work = async () => {
      for (let next = parcels.pop(); next !== undefined; next = parcels.pop()) {
        const [parcel, frames] = next;
        await this.#bringFrames(parcel, frames);
        progress?.(Math.min(this.objects, total), total);
      }
    };
    await Promise.all(Array.from({ length: PARCELS_IN_FLIGHT }, work));
  }

  #framesByParcel(missing: readonly ObjectHash[]): Map<string, Set<number>> {
    const frames = new Map<string, Set<number>>();
    for (const hash of missing) {
      const place = this.#placeOf(hash);
      frames.set(place.parcel, (frames.get(place.parcel) ?? new Set()).add(place.frame));
    }
    return frames;
  }

  #isWithheld(hash: ObjectHash): boolean {
    return this.#target.mirror.place(this.#of.line, hash)?.parcel === WITHHELD;
  }

  #placeOf(hash: ObjectHash): Place {
    const place = this.#target.mirror.place(this.#of.line, hash);
    if (place === undefined) throw this.#incomplete(hash);
    return place;
  }

  async #bringFrames(parcel: string, frames: ReadonlySet<number>): Promise<void> {
    const reader = new ParcelReader(this.#target.space, this.#target.mirror, this.#of.line);
    for await (const pack of reader.frames(parcel, frames)) {
      this.#fetching.putPack(pack);
      this.objects += pack.objects.length;
    }
    this.bytes += reader.bytes;
  }

  async #readIndexAgain(): Promise<void> {
    const { space, mirror } = this.#target;
    // a base says where everything is now, also while the segments that it restates are still there
    const reading = { there: () => listParcels(space) };
    for await (const { segment } of readLine(space, this.#of.line, undefined, reading))
      addToMirror(mirror, this.#of.line, segment);
  }

  #incomplete(hash: ObjectHash): LineDamage {
    return new LineDamage(
      "missing",
      this.#of.checkpoint,
      `its line does not say where object ${hash.slice(0, 12)} is`,
    );
  }
}
