/**
 * Where the objects of a line are: the parcel and the frame of each. A segment holds the entries that it adds. Parcels
 * are named by their ids; the segment itself has none, and content that stays at home has neither.
 */
import { expectSound } from "../parcel/damage.ts";

/** Where an object lies. */
export interface Place {
  /** The id of a content parcel, `self` for the segment that says so, `withheld` for what was kept back. */
  readonly parcel: string;
  readonly frame: number;
}

/** The parcel of objects that ride inside the segment. */
export const SELF = "self";
/** The parcel of objects that their owner keeps at home. */
export const WITHHELD = "withheld";

const ID_BYTES = 16;
const HASH_BYTES = 32;
const ENTRY_BYTES = HASH_BYTES + 2 + 2;
const SELF_NUMBER = 0xffff;
const WITHHELD_NUMBER = 0xfffe;

/** At most this many entries go into one segment: with their directory they stay below the limits of a parcel. */
export const INDEX_ENTRIES_LIMIT = 150_000;

/** The bytes of index entries, by the hash of their objects. */
export function encodeIndex(entries: ReadonlyMap<string, Place>): Buffer {
  const numbers = new Map<string, number>([
    [SELF, SELF_NUMBER],
    [WITHHELD, WITHHELD_NUMBER],
  ]);
  const ids: string[] = [];
  for (const { parcel } of entries.values()) {
    if (numbers.has(parcel)) continue;
    numbers.set(parcel, ids.length);
    ids.push(parcel);
  }
  expectSound(ids.length < WITHHELD_NUMBER, "too many parcels for one index");
  const bytes = Buffer.alloc(2 + ids.length * ID_BYTES + entries.size * ENTRY_BYTES);
  let at = bytes.writeUInt16BE(ids.length, 0);
  for (const id of ids) at += bytes.write(id, at, ID_BYTES, "hex");
  for (const [hash, { parcel, frame }] of entries) {
    at += bytes.write(hash, at, HASH_BYTES, "hex");
    at = bytes.writeUInt16BE(numbers.get(parcel)!, at);
    at = bytes.writeUInt16BE(frame, at);
  }
  return bytes;
}

/** The entries of an index frame. */
export function decodeIndex(bytes: Buffer): Map<string, Place> {
  expectSound(bytes.length >= 2, "the index is cut off");
  const count = bytes.readUInt16BE(0);
  const start = 2 + count * ID_BYTES;
  expectSound(
    bytes.length >= start && (bytes.length - start) % ENTRY_BYTES === 0,
    "the index has a wrong length",
  );
  const ids = Array.from({ length: count }, (_, n) => hex(bytes, 2 + n * ID_BYTES, ID_BYTES));
  const entries = new Map<string, Place>();
  for (let at = start; at < bytes.length; at += ENTRY_BYTES) {
    const number = bytes.readUInt16BE(at + HASH_BYTES);
    const parcel = number === SELF_NUMBER ? SELF : number === WITHHELD_NUMBER ? WITHHELD : ids[number];
    expectSound(parcel !== undefined, "the index names a parcel that it does not list");
    entries.set(hex(bytes, at, HASH_BYTES), { parcel, frame: bytes.readUInt16BE(at + HASH_BYTES + 2) });
  }
  return entries;
}

/** The bytes of a list of parcel ids. */
export function encodeUses(ids: readonly string[]): Buffer {
  return Buffer.concat(ids.map((id) => Buffer.from(id, "hex")));
}

/** The parcel ids that a list holds. */
export function decodeUses(bytes: Buffer): string[] {
  expectSound(bytes.length % ID_BYTES === 0, "the list of parcels has a wrong length");
  return Array.from({ length: bytes.length / ID_BYTES }, (_, n) => hex(bytes, n * ID_BYTES, ID_BYTES));
}

function hex(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("hex", at, at + length);
}
