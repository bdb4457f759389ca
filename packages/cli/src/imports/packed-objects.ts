/**
 * Objects in the packs of a git repository: a clean-up of git's own moves what a program wrote into them. No program is run,
 * so no config of the repository is read. https://git-scm.com/docs/pack-format
 */
import { inflateSync } from "node:zlib";
import { LARGEST_BYTES, TOO_LARGE, type OldData } from "./old-data.ts";

/** An object, taken out of its pack. */
export interface PackedObject {
  readonly kind: string;
  readonly content: Buffer;
}

/** One pack: where each object begins, and the bytes. */
interface Pack {
  readonly places: ReadonlyMap<string, number>;
  readonly bytes: Buffer;
}

const KINDS: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const OFFSET_DELTA = 6;
const HASH_DELTA = 7;
/** Git makes chains of 50, or of 4095 if it is told to. */
const LONGEST_CHAIN = 5000;
const DAMAGED = "its content is damaged";

/** The packs of a repository; `data`: the directory `.git`. */
export class PackedObjects {
  readonly #data: OldData;
  #packs: readonly Pack[] | undefined;

  constructor(data: OldData) {
    this.#data = data;
  }

  /** An object, or why it cannot be had; undefined when no pack has it. Its hash is the caller's to check. */
  read(hash: string): PackedObject | string | undefined {
    this.#packs ??= readPacks(this.#data);
    for (const pack of this.#packs) {
      const place = pack.places.get(hash);
      if (place !== undefined) return this.#at(pack, place);
    }
    return undefined;
  }

  /** The object at a place: whole, or made of another one and the changes to it. */
  #at(pack: Pack, from: number): PackedObject | string {
    const changes: Buffer[] = [];
    try {
      for (let place = from; changes.length <= LONGEST_CHAIN;) {
        const head = headAt(pack.bytes, place);
        if (head.size > LARGEST_BYTES) return TOO_LARGE;
        const isWhole = KINDS[head.kind] !== undefined;
        const base = isWhole ? undefined : baseOf(pack, place, head);
        const content = inflateSync(pack.bytes.subarray(base?.end ?? head.end), {
          maxOutputLength: head.size || 1,
        });
        if (base === undefined) return madeOf({ kind: KINDS[head.kind]!, content }, changes);
        changes.push(content);
        if (base.place === undefined) return "what it is made of is missing";
        place = base.place;
      }
    } catch {
      // a place or a length that leads out of the pack, or text that is no zlib
    }
    return DAMAGED;
  }
}

function readPacks(data: OldData): Pack[] {
  return data
    .names("objects/pack")
    .filter((name) => name.endsWith(".idx"))
    .flatMap((name): Pack[] => {
      const index = data.bytes(`objects/pack/${name}`);
      const bytes = data.bytes(`objects/pack/${name.slice(0, -".idx".length)}.pack`);
      if (index === undefined || bytes === undefined) return [];
      const places = placesIn(index);
      if (places !== undefined) return [{ places, bytes }];
      data.skip(`objects/pack/${name}`, "it is no index of a pack");
      return [];
    });
}

const INDEX_2 = "ff744f6300000002";
const NAMES_AT = 8 + 256 * 4;
const HASH_BYTES = 20;
const FAR = 0x80000000;

/** Where each object begins, by its hash. */
function placesIn(index: Buffer): Map<string, number> | undefined {
  if (index.toString("hex", 0, 8) !== INDEX_2 || index.length < NAMES_AT) return undefined;
  const count = index.readUInt32BE(NAMES_AT - 4);
  const near = NAMES_AT + count * (HASH_BYTES + 4);
  const far = near + count * 4;
  if (index.length < far) return undefined;
  const places = new Map<string, number>();
  for (let at = 0; at < count; at += 1) {
    const place = index.readUInt32BE(near + at * 4);
    const farAt = far + (place - FAR) * 8;
    if (place >= FAR && farAt + 8 > index.length) return undefined;
    const name = NAMES_AT + at * HASH_BYTES;
    places.set(
      index.toString("hex", name, name + HASH_BYTES),
      place < FAR ? place : Number(index.readBigUInt64BE(farAt)),
    );
  }
  return places;
}

interface Head {
  readonly kind: number;
  readonly size: number;
  readonly end: number;
}

/** Kind and size: three bits and four, then seven in each byte as long as the first bit is set. */
function headAt(bytes: Buffer, place: number): Head {
  let at = place;
  let byte = bytes.readUInt8(at++);
  const kind = (byte >> 4) & 7;
  let [size, factor] = [byte & 15, 16];
  while (byte >= 128) {
    byte = bytes.readUInt8(at++);
    size += (byte & 127) * factor;
    factor *= 128;
  }
  return { kind, size, end: at };
}

/** What changes are made to: an object before it in the pack, or one by its hash. */
function baseOf(
  { bytes, places }: Pack,
  place: number,
  { kind, end }: Head,
): { place: number | undefined; end: number } {
  if (kind === HASH_DELTA)
    return { place: places.get(bytes.toString("hex", end, end + HASH_BYTES)), end: end + HASH_BYTES };
  if (kind !== OFFSET_DELTA) throw new RangeError("no kind of object");
  let at = end;
  let byte = bytes.readUInt8(at++);
  let back = byte & 127;
  while (byte >= 128) {
    byte = bytes.readUInt8(at++);
    back = (back + 1) * 128 + (byte & 127);
  }
  return { place: place - back, end: at };
}

/** Applies changes, the last one first. */
function madeOf({ kind, content }: PackedObject, changes: readonly Buffer[]): PackedObject | string {
  let made = content;
  for (const change of changes.toReversed()) {
    const [, from] = numberAt(change, 0);
    const [size, start] = numberAt(change, from);
    if (size > LARGEST_BYTES) return TOO_LARGE;
    made = changed(made, change, { size, start });
  }
  return { kind, content: made };
}

/** Copies of stretches of the base, and new bytes, one after the other. */
function changed(base: Buffer, change: Buffer, { size, start }: { size: number; start: number }): Buffer {
  const made = Buffer.alloc(size);
  let [at, to] = [start, 0];
  const optional = (isThere: number) => (isThere === 0 ? 0 : change.readUInt8(at++));
  while (at < change.length) {
    const order = change.readUInt8(at++);
    if (order < 128) {
      if (order === 0 || at + order > change.length || to + order > size) throw new RangeError("no changes");
      to += change.copy(made, to, at, at + order);
      at += order;
      continue;
    }
    const [a, b, c, d] = [optional(order & 1), optional(order & 2), optional(order & 4), optional(order & 8)];
    const [x, y, z] = [optional(order & 16), optional(order & 32), optional(order & 64)];
    const from = a + b * 256 + c * 65_536 + d * 16_777_216;
    const length = x + y * 256 + z * 65_536 || 65_536;
    if (from + length > base.length || to + length > size) throw new RangeError("no changes");
    to += base.copy(made, to, from, from + length);
  }
  if (to !== size) throw new RangeError("no changes");
  return made;
}

/** A number, seven bits in each byte, the low ones first; and where it ends. */
function numberAt(bytes: Buffer, place: number): [number, number] {
  let [at, value, factor] = [place, 0, 1];
  for (;;) {
    const byte = bytes.readUInt8(at++);
    value += (byte & 127) * factor;
    factor *= 128;
    if (byte < 128) return [value, at];
  }
}
