/**
 * A tree object: one directory, its entries sorted by name bytes. The bytes are the identity of the
 * directory, so each content has exactly one encoding, and `decodeTree` refuses any other. A name with a
 * separator, "..", a duplicate or a wrong order means damage or an attack.
 * Layout: docs/format.md.
 */
import type { BytePath } from "./byte-path.ts";
import { EngineError } from "./errors.ts";
import { MODE_BITS, type Entry, type GapReason } from "./entry.ts";
import { HASH_BYTES, hashFromBytes, type ObjectHash } from "./object-hash.ts";

/** Entries by name, in byte order. */
export type Tree = ReadonlyMap<string, Entry>;

const MAGIC = Buffer.from("belay tree 1\n", "latin1");
const KIND_CODES = { file: 0x66, symlink: 0x6c, directory: 0x64, gap: 0x67 } as const;
const GAP_REASONS: readonly GapReason[] = ["too-large", "unreadable", "special", "limit", "forgotten"];
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

/** An entry whose hash lies in a column of hashes. `number` is the mode, or the index of a gap's reason. */
export interface TreeRow {
  readonly name: string;
  readonly kind: Entry["kind"];
  readonly number: number;
  readonly size: number;
  /** The offset of the hash. */
  readonly hashAt: number;
}

/** The same bytes as `encodeTree`, without building a string per hash. */
export function encodeTreeRows(rows: readonly TreeRow[], hashes: Buffer): Buffer {
  let length = MAGIC.length;
  for (const { name } of rows) length += FIXED_BYTES + name.length + HASH_BYTES;
  const bytes = Buffer.allocUnsafe(length);
  let at = MAGIC.copy(bytes, 0);
  for (const { name, kind, number, size, hashAt } of rows) {
    bytes[at] = KIND_CODES[kind];
    writeNumber(bytes, at + 1, 2, kind === "symlink" ? 0 : number);
    writeNumber(bytes, at + 3, 6, kind === "directory" ? 0 : size);
    writeNumber(bytes, at + 9, 2, name.length);
    at += FIXED_BYTES;
    for (let place = 0; place < name.length; place += 1) bytes[at++] = name.charCodeAt(place);
    if (kind === "gap") continue;
    for (let from = hashAt, end = hashAt + HASH_BYTES; from < end;) bytes[at++] = hashes[from++]!;
  }
  return bytes.subarray(0, at);
}

/** Big-endian. The methods of `Buffer` check each value, and a big directory is encoded by every live capture. */
function writeNumber(bytes: Buffer, at: number, length: number, value: number): void {
  for (let place = at + length - 1, rest = value; place >= at; place -= 1) {
    bytes[place] = rest % 256;
    rest = Math.floor(rest / 256);
  }
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
