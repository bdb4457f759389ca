/**
 * Everything one scan saw, as columns. A directory is a run of entries, sorted by name. A scan builds this
 * table, the stat cache keeps it on disk, and the next scan compares with it. 50,000 files take a few
 * megabytes, without an object per file.
 * A hash column of zeros means: not known yet.
 */
import type { FileStat } from "../fs/file-stat.ts";
import { MODE_BITS, type Entry, type GapReason } from "../model/entry.ts";
import { HASH_BYTES, type ObjectHash } from "../model/object-hash.ts";
import type { BytePath } from "../model/byte-path.ts";
import { encodeTreeRows, type TreeColumns } from "../model/tree.ts";
import { areAsBefore, EXCLUDED, TABLE_KINDS, type StatOf } from "./stat-columns.ts";

/** The reasons of gaps, by the number that the table has for each. */
export const TABLE_GAPS: readonly GapReason[] = ["too-large", "unreadable", "special", "limit", "forgotten"];

/** All names, and all paths of directories, as bytes with a zero byte between two. */
export interface TableTexts {
  readonly names: Uint8Array;
  readonly paths: Uint8Array;
}

/** The columns of one scan. */
export class FileTable implements TreeColumns {
  readonly kinds = TABLE_KINDS;
  /** The root's own times, "" when it was not at rest. */
  rootTimes = "";
  directories: BytePath[] = [];
  /** Entries of directory i are `firstEntry[i]` … `firstEntry[i] + entryCount[i]`. */
  firstEntry: number[] = [];
  entryCount: number[] = [];
  /** Tree hashes of directories, 32 bytes each. */
  treeHash = new Uint8Array(0);

  /** Captured directories that git ignores; each has its own budget. */
  ignoredRoots = new Set<BytePath>();

  /** The rules that excluded something; entries refer to them by number. */
  exclusions: string[] = [];

  names: string[] = [];
  kind = new Uint8Array(0);
  flags = new Uint8Array(0);
  /** Permission bits; for a gap, the number of its reason. */
  mode = new Uint16Array(0);
  size = new Float64Array(0);
  mtimeNs = new BigInt64Array(0);
  ctimeNs = new BigInt64Array(0);
  ino = new BigUint64Array(0);
  hash = new Uint8Array(0);

  readonly #identity = Symbol();
  #texts: (TableTexts & { readonly nameCount: number; readonly pathCount: number }) | undefined;
  /** The table whose entries already lie in the unused part of the columns. */
  readonly #follows: symbol | undefined;

  /** A table that follows another reserves as much room and numbers its exclusions alike. */
  constructor(previous?: FileTable) {
    if (previous === undefined) return;
    this.#follows = previous.#identity;
    this.exclusions = [...previous.exclusions];
    for (const column of COLUMNS) this[column] = previous[column].slice(0) as never;
    this.treeHash = new Uint8Array(previous.treeHash.length);
  }

  get length(): number {
    return this.names.length;
  }

  addDirectory(path: BytePath): number {
    const index = this.directories.length;
    this.directories.push(path);
    this.firstEntry.push(this.length);
    this.entryCount.push(0);
    if (this.treeHash.length < (index + 1) * HASH_BYTES)
      this.treeHash = grown(this.treeHash, Math.ceil((index + 1) * 1.5) * HASH_BYTES);
    return index;
  }

  /** Appends an entry of the last added directory. */
  addEntry(directory: number, name: string, kind: number, stat: FileStat): number {
    const index = this.#append(directory, name);
    this.kind[index] = kind;
    this.setStat(index, stat);
    return index;
  }

  setStat(index: number, stat: FileStat): void {
    this.mode[index] = Number(stat.mode) & MODE_BITS;
    this.size[index] = Number(stat.size);
    this.mtimeNs[index] = stat.mtimeNs;
    this.ctimeNs[index] = stat.ctimeNs;
    this.ino[index] = stat.ino;
  }

  /** Appends a name that a rule excluded. */
  addExcluded(directory: number, name: string, rule: string, flags: number): void {
    let number = this.exclusions.indexOf(rule);
    if (number < 0) number = this.exclusions.push(rule) - 1;
    const index = this.#append(directory, name);
    this.kind[index] = EXCLUDED;
    this.mode[index] = number;
    this.flags[index] = flags;
  }

  exclusionOf(index: number): string {
    return this.exclusions[this.mode[index]!]!;
  }

  /** Appends all entries of a directory of the previous table; returns the index of the first. */
  copyEntries(directory: number, from: FileTable, source: number): number {
    const first = this.length;
    const start = from.firstEntry[source]!;
    const end = start + from.entryCount[source]!;
    this.#reserveUpTo(first + end - start);
    for (let old = start; old < end; old += 1) this.names.push(from.names[old]!);
    this.entryCount[directory]! += end - start;
    // they are here already
    if (from.#identity === this.#follows && first === start) return first;
    this.kind.set(from.kind.subarray(start, end), first);
    this.flags.set(from.flags.subarray(start, end), first);
    this.mode.set(from.mode.subarray(start, end), first);
    this.size.set(from.size.subarray(start, end), first);
    this.mtimeNs.set(from.mtimeNs.subarray(start, end), first);
    this.ctimeNs.set(from.ctimeNs.subarray(start, end), first);
    this.ino.set(from.ino.subarray(start, end), first);
    this.hash.set(from.hash.subarray(start * HASH_BYTES, end * HASH_BYTES), first * HASH_BYTES);
    return first;
  }

  /** Appends one entry of this table, or of one whose exclusions are numbered alike. */
  copyEntry(directory: number, from: FileTable, source: number): number {
    const index = this.#append(directory, from.names[source]!);
    this.overwriteEntry(index, from, source);
    return index;
  }

  /** Copies another entry of the same name over this one. */
  overwriteEntry(index: number, from: FileTable, source: number): void {
    this.kind[index] = from.kind[source]!;
    this.flags[index] = from.flags[source]!;
    this.mode[index] = from.mode[source]!;
    this.size[index] = from.size[source]!;
    this.mtimeNs[index] = from.mtimeNs[source]!;
    this.ctimeNs[index] = from.ctimeNs[source]!;
    this.ino[index] = from.ino[source]!;
    this.hash.set(from.hash.subarray(source * HASH_BYTES, (source + 1) * HASH_BYTES), index * HASH_BYTES);
  }

  /** Gives the directory an empty run at the end; its old run is unused until the table is compacted. */
  emptyDirectory(directory: number): void {
    this.firstEntry[directory] = this.length;
    this.entryCount[directory] = 0;
  }

  /** Removes a directory; the caller removes its own entry. */
  removeDirectory(directory: number): void {
    this.directories[directory] = GONE;
    this.#texts = undefined;
    this.emptyDirectory(directory);
  }

  /** True when runs lie one behind the other, in the order of their directories. */
  get isCompact(): boolean {
    let end = 0;
    for (const [directory, count] of this.entryCount.entries()) {
      if (this.firstEntry[directory] !== end || this.directories[directory] === GONE) return false;
      end += count;
    }
    return end === this.length;
  }

  /** Names and paths as bytes, separated by NUL; cached until one is added or removed. */
  texts(): TableTexts {
    const isKnown =
      this.#texts?.nameCount === this.names.length && this.#texts.pathCount === this.directories.length;
    if (!isKnown) {
      // a removed directory has no entry either
      const paths = this.directories.map((path) => (path === GONE ? "" : path));
      this.keepTexts({
        names: Buffer.from(this.names.join("\0"), "latin1"),
        paths: Buffer.from(paths.join("\0"), "latin1"),
      });
    }
    return this.#texts!;
  }

  /** Keeps names and paths that were read as bytes, so that `texts` need not join them. */
  keepTexts(texts: TableTexts): void {
    this.#texts = { ...texts, nameCount: this.names.length, pathCount: this.directories.length };
  }

  /** The same table without unused room. */
  compacted(): FileTable {
    const table = new FileTable(this);
    table.rootTimes = this.rootTimes;
    table.ignoredRoots = this.ignoredRoots;
    for (const [old, path] of this.directories.entries()) {
      if (path === GONE) continue;
      const directory = table.addDirectory(path);
      table.copyEntries(directory, this, old);
      if (this.hasTreeHash(old)) table.setTreeHash(directory, this.treeHashAt(old));
    }
    return table;
  }

  /** The indexes of a directory's entries. */
  *entriesOf(directory: number): Generator<number> {
    const first = this.firstEntry[directory]!;
    const end = first + this.entryCount[directory]!;
    for (let index = first; index < end; index += 1) yield index;
  }

  /** True when every entry of a directory has the same stat as before and was at rest. */
  isAsBefore(directory: number, statOf: StatOf): boolean {
    return areAsBefore(this, this.firstEntry[directory]!, this.entryCount[directory]!, statOf);
  }

  /** True when a directory has an entry of this name. */
  hasName(directory: number, name: string): boolean {
    return this.find(directory, name) >= 0;
  }

  /** The index of a name in a directory, -1 when it is not there: names are sorted. */
  find(directory: number, name: string): number {
    let low = this.firstEntry[directory]!;
    const end = low + this.entryCount[directory]!;
    for (let high = end; low < high;) {
      const middle = (low + high) >>> 1;
      if (this.names[middle]! < name) low = middle + 1;
      else high = middle;
    }
    return low < end && this.names[low] === name ? low : -1;
  }

  setGap(index: number, reason: GapReason): void {
    this.kind[index] = GAP;
    this.mode[index] = TABLE_GAPS.indexOf(reason);
  }

  /** True when it had another. */
  setHash(index: number, hash: ObjectHash): boolean {
    return writeHash(this.hash, index, hash);
  }

  hashAt(index: number): ObjectHash {
    return readHash(this.hash, index);
  }

  /** True when an entry has the hash that one of another table has. */
  hasHashOf(index: number, other: FileTable, at: number): boolean {
    for (let byte = 0; byte < HASH_BYTES; byte += 1)
      if (this.hash[index * HASH_BYTES + byte] !== other.hash[at * HASH_BYTES + byte]) return false;
    return true;
  }

  hasHash(index: number): boolean {
    return !isZero(this.hash, index);
  }

  hasTreeHash(directory: number): boolean {
    return !isZero(this.treeHash, directory);
  }

  /** True when the tree of every directory is known, as in the table of a recorded capture. */
  get isWhole(): boolean {
    return this.directories.every((path, directory) => path === GONE || this.hasTreeHash(directory));
  }

  forgetTreeHash(directory: number): void {
    this.treeHash.fill(0, directory * HASH_BYTES, (directory + 1) * HASH_BYTES);
  }

  setTreeHash(directory: number, hash: ObjectHash): void {
    writeHash(this.treeHash, directory, hash);
  }

  treeHashAt(directory: number): ObjectHash {
    return readHash(this.treeHash, directory);
  }

  /** Copies the trees of a range of directories from another table. */
  copyTreeHashes(directory: number, from: FileTable, source: number, count: number): void {
    const trees = from.treeHash.subarray(source * HASH_BYTES, (source + count) * HASH_BYTES);
    this.treeHash.set(trees, directory * HASH_BYTES);
  }

  /** Writes a directory's tree into its own entry. */
  nameTree(own: number, directory: number): void {
    const { hash, treeHash } = this;
    for (let at = own * HASH_BYTES, from = directory * HASH_BYTES, end = at + HASH_BYTES; at < end;)
      hash[at++] = treeHash[from++]!;
  }

  entryAt(index: number): Entry {
    const mode = this.mode[index]!;
    const size = this.size[index]!;
    switch (this.kind[index]) {
      case FILE:
        return { kind: "file", mode, size, hash: this.hashAt(index) };
      case SYMLINK:
        return { kind: "symlink", size, hash: this.hashAt(index) };
      case DIRECTORY:
        return { kind: "directory", mode, hash: this.hashAt(index) };
      default:
        return { kind: "gap", reason: TABLE_GAPS[mode]!, size };
    }
  }

  /** The directory's tree object. */
  encodeTree(directory: number): Buffer {
    const first = this.firstEntry[directory]!;
    return encodeTreeRows(this, first, first + this.entryCount[directory]!);
  }

  #append(directory: number, name: string): number {
    const index = this.length;
    this.#reserveUpTo(index + 1);
    this.names.push(name);
    this.entryCount[directory]! += 1;
    if (this.#follows !== undefined) this.#clear(index);
    return index;
  }

  #clear(index: number): void {
    this.kind[index] = this.flags[index] = this.mode[index] = this.size[index] = 0;
    this.mtimeNs[index] = this.ctimeNs[index] = this.ino[index] = 0n;
    this.hash.fill(0, index * HASH_BYTES, (index + 1) * HASH_BYTES);
  }

  #reserveUpTo(least: number): void {
    if (least <= this.kind.length) return;
    const length = Math.max(64, Math.ceil(least * 1.25), Math.ceil(this.kind.length * 1.5));
    this.kind = grown(this.kind, length);
    this.flags = grown(this.flags, length);
    this.mode = grown(this.mode, length);
    this.size = grown(this.size, length);
    this.mtimeNs = grown(this.mtimeNs, length);
    this.ctimeNs = grown(this.ctimeNs, length);
    this.ino = grown(this.ino, length);
    this.hash = grown(this.hash, length * HASH_BYTES);
  }
}

/** The number of a regular file in the kind column. */
export const FILE = TABLE_KINDS.indexOf("file");
/** The number of a symbolic link in the kind column. */
export const SYMLINK = TABLE_KINDS.indexOf("symlink");
/** The number of a directory in the kind column. */
export const DIRECTORY = TABLE_KINDS.indexOf("directory");
/** The number of a gap in the kind column. */
export const GAP = TABLE_KINDS.indexOf("gap");
/** The scan saw it, but it was gone when it was to be read. */
export const ABSENT = 255;

/** Stands in for a removed directory; no path equals it. */
const GONE = "\0" as BytePath;

const COLUMNS = ["kind", "flags", "mode", "size", "mtimeNs", "ctimeNs", "ino", "hash"] as const;

type Column = Uint8Array | Uint16Array | Float64Array | BigInt64Array | BigUint64Array;

function grown<Kind extends Column>(column: Kind, length: number): Kind {
  const larger = new (column.constructor as new (length: number) => Kind)(length);
  (larger as Uint8Array).set(column as Uint8Array);
  return larger;
}

function isZero(column: Uint8Array, index: number): boolean {
  const start = index * HASH_BYTES;
  for (let at = start; at < start + HASH_BYTES; at += 1) if (column[at] !== 0) return false;
  return true;
}

/** One hash on its way between a column and text. A view of the column for each takes three times as long. */
const oneHash = Buffer.alloc(HASH_BYTES);

/** True when another hash was there. */
function writeHash(column: Uint8Array, index: number, hash: ObjectHash): boolean {
  oneHash.write(hash, "hex");
  let isOther = false;
  for (let from = 0, at = index * HASH_BYTES; from < HASH_BYTES; from += 1, at += 1) {
    if (column[at] === oneHash[from]) continue;
    column[at] = oneHash[from]!;
    isOther = true;
  }
  return isOther;
}

function readHash(column: Uint8Array, index: number): ObjectHash {
  for (let to = 0, at = index * HASH_BYTES; to < HASH_BYTES; to += 1, at += 1) oneHash[to] = column[at]!;
  return oneHash.toString("hex") as ObjectHash;
}
