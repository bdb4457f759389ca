/**
 * A tree object: one directory, its entries sorted by name bytes. The bytes are the identity of the
 * directory, so each content has exactly one encoding, and `decodeTree` refuses any other. A name with a
 * separator, "..", a duplicate or a wrong order means damage or an attack.
 * Layout: docs/format.md.
 */
import type { BytePath } from "./byte-path.ts";
import { EngineError } from "./errors.ts";
import { MODE_BITS, type Entry, type GapReason } from "./entry.ts";
import { HASH_BYTES, hashFromBytes, keyAt, NO_OBJECT, type HashKey, type ObjectHash } from "./object-hash.ts";

/** Entries by name, in byte order. */
export type Tree = ReadonlyMap<string, Entry>;

const MAGIC = Buffer.from("belay tree 1\n", "latin1");
const KIND_CODES = { file: 0x66, symlink: 0x6c, directory: 0x64, gap: 0x67 } as const;
const GAP_REASONS: readonly GapReason[] = [
  "too-large",
  "unreadable",
  "special",
  "limit",
  "forgotten",
  "withheld",
];
/** kind 1, mode 2, size 6, name length 2; then the name, then 32 bytes of hash (a gap has none) */
const FIXED_BYTES = 11;

/** Encodes entries that are already sorted by name. */
export function encodeTree(entries: Iterable<readonly [string, Entry]>): Buffer {
  const list = [...entries];
  let length = MAGIC.length;
  for (const [name] of list) length += FIXED_BYTES + name.length + HASH_BYTES;
  const bytes = Buffer.allocUnsafe(length);
  let at = MAGIC.copy(bytes, 0);
  for (const [name, entry] of list) at = writeEntry(bytes, at, name, entry);
  return bytes.subarray(0, at);
}

function writeEntry(bytes: Buffer, start: number, name: string, entry: Entry): number {
  let at = bytes.writeUInt8(KIND_CODES[entry.kind], start);
  const mode =
    entry.kind === "gap" ? GAP_REASONS.indexOf(entry.reason) : entry.kind === "symlink" ? 0 : entry.mode;
  at = bytes.writeUInt16BE(mode, at);
  at = bytes.writeUIntBE(entry.kind === "directory" ? 0 : entry.size, at, 6);
  at = bytes.writeUInt16BE(name.length, at);
  at += bytes.write(name, at, "latin1");
  if (entry.kind !== "gap") at += bytes.write(entry.hash, at, "hex");
  return at;
}

/** Entries as columns; `mode` of a gap is the number of its reason. */
export interface TreeColumns {
  readonly names: readonly string[];
  readonly kind: Uint8Array;
  readonly mode: Uint16Array;
  readonly size: Float64Array;
  /** 32 bytes for each entry. */
  readonly hash: Uint8Array;
  /** What the numbers in `kind` stand for; an entry with another number is left out. */
  readonly kinds: readonly Entry["kind"][];
}

/** The same bytes as `encodeTree` for a run of entries, without an object or a string for any of them. */
export function encodeTreeRows(columns: TreeColumns, first: number, end: number): Buffer {
  const { names, kind, mode, size, hash, kinds } = columns;
  let length = MAGIC.length;
  for (let index = first; index < end; index += 1) length += FIXED_BYTES + names[index]!.length + HASH_BYTES;
  const bytes = Buffer.allocUnsafe(length);
  let at = MAGIC.copy(bytes, 0);
  for (let index = first; index < end; index += 1) {
    const of = kinds[kind[index]!];
    if (of === undefined) continue;
    const name = names[index]!;
    bytes[at] = KIND_CODES[of];
    writePair(bytes, at + 1, of === "symlink" ? 0 : mode[index]!);
    writeSize(bytes, at + 3, of === "directory" ? 0 : size[index]!);
    writePair(bytes, at + 9, name.length);
    at += FIXED_BYTES;
    for (let place = 0; place < name.length; place += 1) bytes[at++] = name.charCodeAt(place);
    if (of === "gap") continue;
    for (let from = index * HASH_BYTES, stop = from + HASH_BYTES; from < stop;) bytes[at++] = hash[from++]!;
  }
  return bytes.subarray(0, at);
}

/** Big-endian. The methods of `Buffer` check each value, and a big directory is encoded by every live capture. */
function writePair(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

/** Six bytes: the upper two of a size are beyond what the operators on bits reach. */
function writeSize(bytes: Buffer, at: number, size: number): void {
  writePair(bytes, at, Math.floor(size / 2 ** 32));
  writePair(bytes, at + 2, size >>> 16);
  writePair(bytes, at + 4, size);
}

/** Decodes a tree object; throws `OBJECT_CORRUPT` on anything `encodeTree` would not have written. */
export function decodeTree(bytes: Buffer, name: ObjectHash): Tree {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw corrupt(name, "it is not a tree");
  const tree = new Map<string, Entry>();
  let previous = "";
  for (let at = MAGIC.length; at < bytes.length;) {
    if (at + FIXED_BYTES > bytes.length) throw corrupt(name, "an entry is cut off");
    const nameLength = bytes.readUInt16BE(at + 9);
    const nameEnd = at + FIXED_BYTES + nameLength;
    const entryName = bytes.toString("latin1", at + FIXED_BYTES, nameEnd);
    if (!isSafeName(entryName)) throw corrupt(name, "an entry has a name that no file can have");
    if (entryName <= previous) throw corrupt(name, "its entries are not in order");
    previous = entryName;
    const hasHash = bytes[at] !== KIND_CODES.gap;
    const end = nameEnd + (hasHash ? HASH_BYTES : 0);
    if (end > bytes.length) throw corrupt(name, "an entry is cut off");
    tree.set(entryName, readEntry(bytes, at, nameEnd, name));
    at = end;
  }
  return tree;
}

/** An entry of a tree's bytes: what it is, and where its name and hash lie. A gap has no hash. */
export interface RawEntry {
  readonly kind: Entry["kind"];
  readonly nameAt: number;
  readonly nameEnd: number;
}

/**
 * True when `isFound` says so of an entry. For bytes that were verified already: it makes nothing of the entries it
 * passes, so that searching a thousand trees costs little more than reading them.
 */
export function someEntry(bytes: Buffer, isFound: (entry: RawEntry) => boolean): boolean {
  for (let at = MAGIC.length; at + FIXED_BYTES <= bytes.length;) {
    const nameAt = at + FIXED_BYTES;
    const nameEnd = nameAt + bytes.readUInt16BE(at + 9);
    const kind = KINDS[bytes[at]!]!;
    if (isFound({ kind, nameAt, nameEnd })) return true;
    at = nameEnd + (kind === "gap" ? 0 : HASH_BYTES);
  }
  return false;
}

const KINDS = Object.fromEntries(
  Object.entries(KIND_CODES).map(([kind, code]) => [code, kind as Entry["kind"]]),
);

/** Whether an object begins as a tree does. A file may begin so too. */
export function beginsAsTree(bytes: Buffer, start: number, end: number): boolean {
  // most are files, and their first letter tells
  return (
    bytes[start] === MAGIC[0] &&
    end - start >= MAGIC.length &&
    bytes.compare(MAGIC, 0, MAGIC.length, start, start + MAGIC.length) === 0
  );
}

/**
 * Tells `visit` where the hash of each entry lies, for an object that begins as a tree does; false, at once, where it goes
 * on as no tree does. Nothing else is checked or made: a search passes a million entries.
 */
export function everyContent(
  bytes: DataView,
  { start, end }: { readonly start: number; readonly end: number },
  visit: (hashAt: number, isDirectory: boolean) => void,
): boolean {
  let at = start + MAGIC.length;
  while (at + FIXED_BYTES <= end) {
    const kind = bytes.getUint8(at);
    const nameEnd = at + FIXED_BYTES + bytes.getUint16(at + 9);
    at = kind === KIND_CODES.gap ? nameEnd : nameEnd + HASH_BYTES;
    if (at > end || KINDS[kind] === undefined) return false;
    if (kind !== KIND_CODES.gap) visit(nameEnd, kind === KIND_CODES.directory);
  }
  return at === end;
}

/** An entry in the bytes of a tree; what it says is read when it is needed. */
export class PlacedEntry {
  readonly #bytes: Buffer;
  readonly #at: number;
  readonly #nameEnd: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#nameEnd = endOfName(bytes, at);
  }

  get isDirectory(): boolean {
    return this.#bytes[this.#at] === KIND_CODES.directory;
  }

  get name(): string {
    const name = this.#bytes.toString("latin1", this.#at + FIXED_BYTES, this.#nameEnd);
    if (!isSafeName(name)) throw corrupt(NO_OBJECT, "an entry has a name that no file can have");
    return name;
  }

  /** The key of its content; empty for a gap, which has none. */
  get key(): HashKey {
    return this.#bytes[this.#at] === KIND_CODES.gap ? NO_KEY : keyAt(this.#bytes, this.#nameEnd);
  }

  entry(): Entry {
    return readEntry(this.#bytes, this.#at, this.#nameEnd, NO_OBJECT);
  }
}

const NO_KEY = "" as HashKey;

/** The bytes of a tree without entries. */
export const EMPTY_TREE: Buffer = MAGIC;

/**
 * Tells `visit` each entry that two trees do not have in common, both sides of it where both have the name. For bytes that
 * were verified already: it makes nothing of the entries that are the same.
 */
export function differingEntries(
  a: Buffer,
  b: Buffer,
  visit: (inA: PlacedEntry | undefined, inB: PlacedEntry | undefined) => void,
): void {
  const place = new PlaceInTwoTrees(a, b);
  while (!place.isEnd) {
    place.skipSameBlock();
    const order = place.order();
    if (order !== "same")
      visit(
        order === "b first" ? undefined : new PlacedEntry(a, place.inA),
        order === "a first" ? undefined : new PlacedEntry(b, place.inB),
      );
    place.step(order);
  }
}

/** So much is compared at once before single entries are. */
const BLOCK_BYTES = 512;

/** Both trees of a comparison, entry by entry. Their versions have most entries in common, and so most bytes. */
class PlaceInTwoTrees {
  readonly #a: Buffer;
  readonly #b: Buffer;
  inA = MAGIC.length;
  inB = MAGIC.length;
  #nextBlock = 0;

  constructor(a: Buffer, b: Buffer) {
    this.#a = a;
    this.#b = b;
  }

  get isEnd(): boolean {
    return this.inA >= this.#a.length && this.inB >= this.#b.length;
  }

  /** Goes past the entries that lie whole in a block that both have. */
  skipSameBlock(): void {
    if (this.inA < this.#nextBlock) return;
    const [limit, limitB] = [this.inA + BLOCK_BYTES, this.inB + BLOCK_BYTES];
    this.#nextBlock = limit;
    if (limit > this.#a.length || limitB > this.#b.length) return;
    if (this.#a.compare(this.#b, this.inB, limitB, this.inA, limit) !== 0) return;
    let end = this.inA;
    for (let next = end; next <= limit && end < this.#a.length; next = endOfEntry(this.#a, end)) end = next;
    this.inB += end - this.inA;
    this.inA = end;
  }

  order(): "same" | "a first" | "b first" | "same name" {
    const [a, b] = [this.#a, this.#b];
    if (this.inA >= a.length) return this.inB >= b.length ? "same" : "b first";
    if (this.inB >= b.length) return "a first";
    // they check that the entries are whole
    const [endA, endB] = [endOfEntry(a, this.inA), endOfEntry(b, this.inB)];
    const [nameA, nameB] = [endOfName(a, this.inA), endOfName(b, this.inB)];
    const first = a.compare(b, this.inB + FIXED_BYTES, nameB, this.inA + FIXED_BYTES, nameA);
    if (first !== 0) return first < 0 ? "a first" : "b first";
    return a.compare(b, this.inB, endB, this.inA, endA) === 0 ? "same" : "same name";
  }

  step(order: ReturnType<PlaceInTwoTrees["order"]>): void {
    if (order !== "b first") this.inA = endOfEntry(this.#a, this.inA);
    if (order !== "a first") this.inB = endOfEntry(this.#b, this.inB);
  }
}

function endOfName(bytes: Buffer, at: number): number {
  return at + FIXED_BYTES + bytes[at + 9]! * 256 + bytes[at + 10]!;
}

/** The end itself has no entry, and is its own end. */
function endOfEntry(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return at;
  const end = endOfName(bytes, at) + (bytes[at] === KIND_CODES.gap ? 0 : HASH_BYTES);
  // false also where a number is missing
  if (end <= bytes.length) return end;
  throw corrupt(NO_OBJECT, "an entry is cut off");
}

function readEntry(bytes: Buffer, at: number, hashAt: number, name: ObjectHash): Entry {
  const mode = bytes.readUInt16BE(at + 1);
  const size = bytes.readUIntBE(at + 3, 6);
  const content = () => hashFromBytes(bytes.subarray(hashAt, hashAt + HASH_BYTES));
  if (mode > MODE_BITS) throw corrupt(name, "an entry has a mode that is never recorded");
  switch (bytes[at]) {
    case KIND_CODES.file:
      return { kind: "file", mode, size, hash: content() };
    case KIND_CODES.symlink:
      return { kind: "symlink", size, hash: content() };
    case KIND_CODES.directory:
      return { kind: "directory", mode, hash: content() };
    case KIND_CODES.gap: {
      const reason = GAP_REASONS[mode];
      if (reason !== undefined) return { kind: "gap", reason, size };
    }
  }
  throw corrupt(name, "an entry is of an unknown kind");
}

/** True for one path component that can exist in a directory and cannot lead out of it. */
export function isSafeName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("/") && !name.includes("\0");
}

/** [R27] Checks that a path from a row stays below the root. Rows hold paths that no tree has checked. */
export function assertSafePath(path: BytePath): BytePath {
  if (path.split("/").every(isSafeName)) return path;
  throw new EngineError("OBJECT_CORRUPT", "The store names a path that no file can have. It was not used.", {
    object: "",
    checkpoints: [],
  });
}

function corrupt(name: ObjectHash, why: string): EngineError<"OBJECT_CORRUPT"> {
  return new EngineError("OBJECT_CORRUPT", `Object ${name.slice(0, 12)} of the store is damaged: ${why}.`, {
    object: name,
    checkpoints: [],
  });
}

/** Encodes one entry for the rows of a delta; `undefined` (absent) is stored as NULL. */
export function encodeEntry(entry: Entry): Buffer {
  const bytes = Buffer.allocUnsafe(FIXED_BYTES + HASH_BYTES);
  return bytes.subarray(0, writeEntry(bytes, 0, "", entry));
}

/** Decodes what `encodeEntry` wrote. */
export function decodeEntry(bytes: Uint8Array): Entry {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readEntry(buffer, 0, FIXED_BYTES, "" as ObjectHash);
}
