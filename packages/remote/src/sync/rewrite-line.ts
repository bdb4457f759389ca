/**
 * Encrypts a line again: every parcel of an older secret is read, proved down to the hashes of its objects, and stored under
 * the present one; so is what rides inside segments, and with the base that names all that, every record. No store is
 * needed for it, and nothing is compressed again.
 */
import { createHash } from "node:crypto";
import { MergedLine } from "../line/merged-line.ts";
import { WITHHELD, type Place } from "../line/object-index.ts";
import type { LineRecord } from "../line/segment.ts";
import { PARCEL_TARGET_BYTES } from "../parcel/limits.ts";
import { decompressFrame, readHeader, type OpenParcel, type PlainFrame } from "../parcel/parcel.ts";
import type { Space } from "../space/space.ts";
import { arrivalsOf } from "./fold-line.ts";
import type { SyncStep } from "./progress.ts";
import { LineDamage, listParcels, readLine, type ReadSegment } from "./read-line.ts";
import { openContent } from "./receive-line.ts";
import type { Uploads } from "./uploads.ts";

/** What was encrypted again. */
export interface RewrittenLine {
  readonly parcels: number;
  readonly bytes: number;
}

/** What rewriting needs. */
interface Rewriting {
  readonly space: Space;
  readonly uploads: Pick<Uploads, "putParcel">;
  /** Content up to this size rides inside the base. */
  readonly inlineBytes?: number | undefined;
  readonly progress?: ((step: SyncStep) => void) | undefined;
}

/** Which line, up to which segment, and the first generation whose content stays as it is. */
interface Wanted {
  readonly line: string;
  readonly number: number;
  readonly least: number;
}

const FORM_BYTES = 0;
/** What begins a parcel says its generation. */
const HEADER_BYTES = 64;
const INLINE_BYTES = 1024 * 1024;

/** Encrypts one line again. */
export class LineRewriting {
  readonly #rewriting: Rewriting;
  readonly #wanted: Wanted;
  readonly #merged = new MergedLine();
  /** All objects of the line. */
  #objects: ReadonlySet<string> = new Set();
  readonly #index = new Map<string, Place>();
  /** Parcels of an older secret. */
  readonly #old = new Set<string>();
  #frames: PlainFrame[] = [];
  #waiting = 0;
  #parcels = 0;
  #bytes = 0;

  constructor(rewriting: Rewriting, wanted: Wanted) {
    this.#rewriting = rewriting;
    this.#wanted = wanted;
  }

  get records(): readonly LineRecord[] {
    return this.#merged.records();
  }

  report(): RewrittenLine {
    return { parcels: this.#parcels, bytes: this.#bytes };
  }

  /** Reads the line, and which of its parcels are old; false when nothing of it is. */
  async read(): Promise<boolean> {
    const { space } = this.#rewriting;
    const { line, number, least } = this.#wanted;
    const arrivals = await arrivalsOf(space, line);
    let [isOld, last] = [false, 0];
    for await (const { key, segment, bytes } of this.#segments()) {
      this.#merged.add(segment, arrivals.get(key) ?? 0);
      isOld ||= readHeader(bytes).generation < least;
      last = segment.head.number;
    }
    if (last !== number)
      throw new LineDamage("missing", space.names.segment(line, number), "the line is not as it was");
    this.#objects = this.#merged.objects;
    for (const [name, place] of this.#merged.index) this.#index.set(name, place);
    for (const id of new Set([...this.#index.values()].map(({ parcel }) => parcel)))
      if (id !== WITHHELD && (await this.#generationOf(id)) < least) this.#old.add(id);
    return isOld || this.#old.size > 0;
  }

  #segments(): AsyncGenerator<ReadSegment> {
    const { space } = this.#rewriting;
    return readLine(space, this.#wanted.line, undefined, { there: () => listParcels(space) });
  }

  async #generationOf(id: string): Promise<number> {
    const { store, names } = this.#rewriting.space;
    const key = names.parcel(id);
    const got = await store.get(key, { from: 0, length: HEADER_BYTES });
    if (got === undefined) throw gone(key);
    return readHeader(got.bytes).generation;
  }

  /** Stores what is old again; what is small enough to ride inside the base is returned. */
  async move(): Promise<{ readonly index: ReadonlyMap<string, Place>; readonly inline: PlainFrame[] }> {
    const { space, progress, inlineBytes = INLINE_BYTES } = this.#rewriting;
    const { store, names } = space;
    for (const [n, id] of [...this.#old].entries()) {
      const key = names.parcel(id);
      const got = await store.get(key);
      if (got === undefined) throw gone(key);
      const isHere = (hash: string) => this.#index.get(hash)?.parcel === id;
      await this.#take(key, { parcel: openContent(space, key, got.bytes), bytes: got.bytes }, isHere);
      const sizes = { bytes: this.#bytes, bytesTotal: 0 };
      progress?.({ phase: "content", objects: n + 1, objectsTotal: this.#old.size, ...sizes });
    }
    // the newest place of what rides inside a segment is that segment: only it is missing in the index
    const [taken, inside] = [new Set<string>(), this.#merged.objects];
    for (const hash of this.#merged.index.keys()) inside.delete(hash);
    const isInside = (hash: string) => inside.has(hash) && !taken.has(hash);
    for await (const { key, segment, bytes } of this.#segments()) {
      await this.#take(key, { parcel: segment.parcel, bytes }, isInside);
      for (const { objects } of segment.parcel.frames) for (const { hash } of objects) taken.add(hash);
    }
    const isSmall = this.#waiting <= inlineBytes;
    const inline = isSmall ? this.#frames : [];
    if (!isSmall) await this.#store();
    return { index: this.#index, inline };
  }

  /** The frames of a parcel that hold something wanted, proved and decrypted. */
  async #take(
    key: string,
    { parcel, bytes }: { readonly parcel: OpenParcel; readonly bytes: Buffer },
    isWanted: (hash: string) => boolean,
  ): Promise<void> {
    for (const [n, { kind, rawBytes, objects }] of parcel.frames.entries()) {
      if (kind !== "content" || !objects.some(({ hash }) => isWanted(hash))) continue;
      const compressed = parcel.openFrame(n, parcel.ciphertextOf(n, bytes));
      const raw = decompressFrame(compressed, rawBytes);
      for (const { hash, offset, size, form } of objects)
        if (form === FORM_BYTES && sha256(raw.subarray(offset, offset + size)) !== hash)
          throw new LineDamage("damaged", key, "an object is not what its name says");
      if (this.#waiting + compressed.length > PARCEL_TARGET_BYTES) await this.#store();
      this.#frames.push({ kind, compressed, rawBytes, objects });
      this.#waiting += compressed.length;
    }
  }

  async #store(): Promise<void> {
    if (this.#frames.length === 0) return;
    const placed = new Map<string, Place>();
    await this.#rewriting.uploads.putParcel(this.#frames, placed);
    // what a frame holds besides is where the index says it is, or is not the line's any more
    for (const [hash, place] of placed)
      if (this.#objects.has(hash) && this.#isMoved(hash)) this.#index.set(hash, place);
    this.#parcels++;
    this.#bytes += this.#waiting;
    [this.#frames, this.#waiting] = [[], 0];
  }

  #isMoved(hash: string): boolean {
    const place = this.#index.get(hash);
    return place === undefined || this.#old.has(place.parcel);
  }
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function gone(key: string): LineDamage {
  return new LineDamage("missing", key, "a parcel that the line names is gone");
}
