/**
 * Reads single frames of parcels by range. The first bytes of a parcel have its directory, which proves each frame by
 * itself: what arrived cut off or altered is asked for once more, and then it is damage.
 */
import type { ObjectHash } from "@belay/engine";
import { spanIn, type Span } from "../line/keys-of-space.ts";
import { openSegment, segmentHash } from "../line/segment.ts";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel, parcelStart } from "../parcel/parcel.ts";
import { secretFor, type Space } from "../space/space.ts";
import { segmentsOfCarrier, type Mirror } from "./mirror.ts";
import { LineDamage } from "./read-line.ts";

/** Objects compressed together, as they lie in a frame. */
export interface FetchedPack {
  readonly data: Buffer;
  readonly rawBytes: number;
  readonly objects: readonly {
    readonly hash: ObjectHash;
    readonly offset: number;
    readonly size: number;
    readonly form: number;
  }[];
}

/** Enough for the directory of an ordinary parcel. */
const FIRST_BYTES = 64 * 1024;
/** What lies between two frames is read along when it is less than this: cheaper than another request. */
const GAP_BYTES = 256 * 1024;

/** Reads the parcels that the index of one line names. */
export class ParcelReader {
  readonly #space: Space;
  readonly #mirror: Mirror;
  readonly #line: string;
  bytes = 0;

  constructor(space: Space, mirror: Mirror, line: string) {
    this.#space = space;
    this.#mirror = mirror;
    this.#line = line;
  }

  /** Frames of a content parcel by its id, or of a segment or fold by `#` and its numbers, whose content frames count from 0. */
  async *frames(id: string, wanted: ReadonlySet<number>): AsyncGenerator<FetchedPack> {
    const span = segmentsOfCarrier(id);
    if (span !== undefined) return yield* await this.#carriedFrames(id, span, wanted);
    const key = this.#space.names.parcel(id);
    const parcel = await twice(key, () => this.#open(key));
    const numbers = [...wanted].toSorted((a, b) => a - b);
    for (const range of rangesOf(parcel, numbers)) {
      // every frame is proved by itself: none is used before all of the range are
      const packs = await twice(key, () => this.#read(key, parcel, range));
      yield* packs;
    }
  }

  /** The objects that stand for these segments: where the server cannot refuse to overwrite, their names end in letters. */
  async #carrierKeys({ from, to }: Span): Promise<string[]> {
    const { names, store } = this.#space;
    const name = names.segment(this.#line, from);
    const keys: string[] = [];
    for await (const { key } of store.list(name)) {
      const span = spanIn(key);
      if (span?.from === from && span.to === to) keys.push(key);
    }
    if (keys.length > 0) return keys;
    throw new LineDamage("missing", name, "a segment that the line names is gone");
  }

  async #open(key: string): Promise<OpenParcel> {
    const first = await this.#get(key, 0, FIRST_BYTES);
    const { framesAt } = parcelStart(first);
    const bytes =
      framesAt <= first.length
        ? first
        : Buffer.concat([first, await this.#get(key, first.length, framesAt - first.length)]);
    return new OpenParcel(bytes, { key, kind: "content", secret: secretFor(this.#space, bytes) });
  }

  /** A segment or fold is small, and was proved when its line was read: it must be the same. */
  async #carriedFrames(id: string, span: Span, wanted: ReadonlySet<number>): Promise<FetchedPack[]> {
    const keys = await this.#carrierKeys(span);
    return twice(keys[0]!, async () => {
      const { key, bytes } = await this.#carrier(keys, this.#mirror.carrierHash(this.#line, id));
      const { parcel, firstContent } = openSegment(bytes, { key, secret: secretFor(this.#space, bytes) });
      return [...wanted].map((frame) => {
        const at = firstContent + frame;
        expectSound(parcel.frames[at]?.kind === "content", "the index names a frame that is not there");
        return packOf(parcel, at, parcel.openFrame(at, parcel.ciphertextOf(at, bytes)));
      });
    });
  }

  async #carrier(keys: readonly string[], hash: string | undefined): Promise<{ key: string; bytes: Buffer }> {
    for (const key of keys) {
      const bytes = await this.#get(key);
      if (segmentHash(bytes) === hash) return { key, bytes };
    }
    throw new DamageError("it is another segment");
  }

  async #read(key: string, parcel: OpenParcel, range: Range): Promise<FetchedPack[]> {
    const bytes = await this.#get(key, parcel.framesAt + range.from, range.to - range.from);
    return range.frames.map((number) => {
      const { offset, length } = parcel.frames[number]!;
      const at = offset - range.from;
      return packOf(parcel, number, parcel.openFrame(number, bytes.subarray(at, at + length)));
    });
  }

  async #get(key: string, from = 0, length: number = LIMIT.parcelBytes): Promise<Buffer> {
    expectSound(length <= LIMIT.parcelBytes, "a parcel is larger than is allowed");
    const got = await this.#space.store.get(key, { from, length });
    if (got === undefined) throw new LineDamage("missing", key, "a parcel that the line names is gone");
    this.bytes += got.bytes.length;
    return got.bytes;
  }
}

function packOf(parcel: OpenParcel, number: number, data: Buffer): FetchedPack {
  const { rawBytes, objects } = parcel.frames[number]!;
  return { data, rawBytes, objects: objects.map((one) => ({ ...one, hash: one.hash as ObjectHash })) };
}

interface Range {
  readonly from: number;
  to: number;
  readonly frames: number[];
}

/** Frames that lie close together, as one range. */
function rangesOf(parcel: OpenParcel, numbers: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const number of numbers) {
    const frame = parcel.frames[number];
    expectSound(frame?.kind === "content", "the index names a frame that is not there");
    const { offset, length } = frame;
    const last = ranges.at(-1);
    if (last === undefined || offset - last.to > GAP_BYTES)
      ranges.push({ from: offset, to: offset + length, frames: [number] });
    else {
      last.to = Math.max(last.to, offset + length);
      last.frames.push(number);
    }
  }
  return ranges;
}

/** What is damaged may only have been damaged on its way. */
async function twice<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      if (isAgain) throw new LineDamage("damaged", key, error.message, error);
    }
  }
}
