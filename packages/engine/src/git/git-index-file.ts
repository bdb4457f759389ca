/** Decodes `.git/index`: gitformat-index(5), versions 2 to 4, except split indexes. */
import type { BytePath } from "../model/byte-path.ts";
import { ENTRY_LAYOUT, EXTENDED, IndexEntries, STAGE, SUBMODULE_MODE } from "./git-index-entries.ts";

const HEADER_BYTES = 12;
/** "0xfff or more": then the path ends at its NUL. */
const LONG_PATH = 0xfff;
/** The upper byte of an entry's mode. */
const SUBMODULE = SUBMODULE_MODE >> 8;
/** In a sparse index one entry stands for a directory that is not checked out; none of its files exist. */
const SPARSE_DIRECTORY = 0o040000 >> 8;

/** What is needed to decode an index. */
export interface IndexLayout {
  /** 20 in a SHA-1 repository, 32 in a SHA-256 repository. */
  readonly objectBytes: number;
  /** The directory whose entries are needed, relative to the top level. */
  readonly prefix: BytePath;
}

/** The entries below a directory; undefined when the bytes are not an index, or a split one. */
export function decodeIndexFile(bytes: Buffer, layout: IndexLayout): IndexEntries | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  // an entry has at least 62 bytes: a damaged count must not decide how much memory is allocated
  if (version < 2 || version > 4 || count > bytes.length / 62) return undefined;
  const reader = new EntryReader(bytes, version === 4, layout);
  for (let left = count; left > 0; left -= 1) if (!reader.next()) return undefined;
  if (!reader.endsAlone()) return undefined;
  const { paths, starts, hasOddEntries } = reader;
  return new IndexEntries({ bytes, objectBytes: layout.objectBytes, paths, starts, hasOddEntries });
}

class EntryReader {
  readonly paths: BytePath[] = [];
  readonly starts: number[] = [];
  hasOddEntries = false;
  readonly #bytes: Buffer;
  /** The bytes as text, one byte per character, to slice paths from. */
  readonly #text: string;
  readonly #isCompressed: boolean;
  readonly #objectBytes: number;
  readonly #wanted: string;
  #at = HEADER_BYTES;
  #path = "";

  constructor(bytes: Buffer, isCompressed: boolean, layout: IndexLayout) {
    this.#bytes = bytes;
    this.#text = bytes.toString("latin1");
    this.#isCompressed = isCompressed;
    this.#objectBytes = layout.objectBytes;
    this.#wanted = layout.prefix === "" ? "" : `${layout.prefix}/`;
  }

  /** Reads one entry and keeps it if it is below the prefix; false when the bytes are cut off. */
  next(): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    const flagsAt = start + ENTRY_LAYOUT.object + this.#objectBytes;
    if (flagsAt + 4 > bytes.length) return false;
    const flags = (bytes[flagsAt]! << 8) | bytes[flagsAt + 1]!;
    const pathAt = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4);
    const isRead = this.#isCompressed
      ? this.#readCompressed(pathAt)
      : this.#readPadded(pathAt, flags & LONG_PATH);
    if (!isRead) return false;
    const type = bytes[start + ENTRY_LAYOUT.mode + 2];
    if (type === SPARSE_DIRECTORY || !this.#path.startsWith(this.#wanted)) return true;
    if (type === SUBMODULE || (flags & STAGE) !== 0) this.hasOddEntries = true;
    this.paths.push((this.#wanted === "" ? this.#path : this.#path.slice(this.#wanted.length)) as BytePath);
    this.starts.push(start);
    return true;
  }

  /** At least one NUL pads such an entry to a multiple of eight bytes. */
  #readPadded(start: number, flaggedLength: number): boolean {
    const end = flaggedLength === LONG_PATH ? this.#bytes.indexOf(0, start) : start + flaggedLength;
    if (end < 0 || end >= this.#bytes.length) return false;
    this.#path = this.#text.slice(start, end);
    this.#at += (end - this.#at + 8) & ~7;
    return true;
  }

  /**
   * Version 4 omits the prefix shared with the previous path: a number says how much of that path to drop.
   */
  #readCompressed(start: number): boolean {
    const bytes = this.#bytes;
    let at = start;
    let byte = bytes[at++]!;
    let dropped = byte & 0x7f;
    while ((byte & 0x80) !== 0 && at < bytes.length) {
      byte = bytes[at++]!;
      dropped = (dropped + 1) * 128 + (byte & 0x7f);
    }
    const end = bytes.indexOf(0, at);
    if (end < 0 || dropped > this.#path.length) return false;
    this.#path = this.#path.slice(0, this.#path.length - dropped) + this.#text.slice(at, end);
    this.#at = end + 1;
    return true;
  }

  /**
   * True when no extension follows that changes the meaning of entries. Such extensions have lower-case
   * names.
   */
  endsAlone(): boolean {
    const end = this.#bytes.length - this.#objectBytes;
    for (let at = this.#at; at + 8 <= end; at += 8 + this.#bytes.readUInt32BE(at + 4)) {
      const name = this.#text.slice(at, at + 4);
      if (!/^[A-Z]/.test(name) && name !== "sdir") return false;
    }
    return true;
  }
}
