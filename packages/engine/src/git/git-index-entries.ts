/**
 * The entries of git's index below the workspace root. Only paths are extracted up front; other fields are
 * read from the file's bytes on demand, so that 50,000 entries take a few milliseconds.
 */
import type { BytePath } from "../model/byte-path.ts";

/** The mode of a submodule's entry. */
export const SUBMODULE_MODE = 0o160000;

/** The offsets of an entry's fields from its start. Two bytes of flags follow the object's name. */
export const ENTRY_LAYOUT = {
  mtimeSeconds: 8,
  mtimeNanoseconds: 12,
  dev: 16,
  ino: 20,
  mode: 24,
  uid: 28,
  gid: 32,
  size: 36,
  object: 40,
} as const;

const ASSUME_UNCHANGED = 0x8000;
/** The flag of an entry that has two more bytes of flags. */
export const EXTENDED = 0x4000;
/** The bits that hold the stage of an unmerged path. */
export const STAGE = 0x3000;
/** One of the flags that only an extended entry has. */
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;

/** The bytes that entries are read from. */
export interface EntrySource {
  readonly bytes: Buffer;
  readonly objectBytes: number;
  /** Relative to the workspace root, sorted. */
  readonly paths: readonly BytePath[];
  /** The offset of each path's entry in `bytes`. */
  readonly starts: readonly number[];
  /** True when an entry is a submodule or unmerged. Most indexes have none and need no search. */
  readonly hasOddEntries: boolean;
}

/** Index entries by place, decoded on demand. */
export class IndexEntries {
  readonly paths: readonly BytePath[];
  readonly #source: EntrySource;

  constructor(source: EntrySource) {
    this.paths = source.paths;
    this.#source = source;
  }

  get length(): number {
    return this.paths.length;
  }

  /** The paths of files and links, without duplicates. */
  files(): readonly BytePath[] {
    const { paths, hasOddEntries } = this.#source;
    if (!hasOddEntries) return paths;
    return paths.filter((path, at) => this.mode(at) !== SUBMODULE_MODE && path !== paths[at - 1]);
  }

  mtimeSeconds(at: number): number {
    return this.#word(at, ENTRY_LAYOUT.mtimeSeconds);
  }

  mtimeNanoseconds(at: number): number {
    return this.#word(at, ENTRY_LAYOUT.mtimeNanoseconds);
  }

  /** Modulo 2 ** 32; 0 where git did not trust the stat. */
  size(at: number): number {
    return this.#word(at, ENTRY_LAYOUT.size);
  }

  mode(at: number): number {
    return this.#word(at, ENTRY_LAYOUT.mode);
  }

  /** The offset of an entry in the bytes of the index. */
  startOf(at: number): number {
    return this.#source.starts[at]!;
  }

  /** The object name of the content, in hexadecimal digits. */
  object(at: number): string {
    const start = this.#source.starts[at]! + ENTRY_LAYOUT.object;
    return this.#source.bytes.toString("hex", start, start + this.#source.objectBytes);
  }

  /** True when git treats the file as unchanged without checking. */
  isTrusted(at: number): boolean {
    return (this.#flags(at) & ASSUME_UNCHANGED) !== 0 || (this.#furtherFlags(at) & SKIP_WORKTREE) !== 0;
  }

  /** True for a path that a sparse checkout leaves out of the working tree. */
  isSkipped(at: number): boolean {
    return (this.#furtherFlags(at) & SKIP_WORKTREE) !== 0;
  }

  isIntendedOnly(at: number): boolean {
    return (this.#furtherFlags(at) & INTENT_TO_ADD) !== 0;
  }

  isUnmerged(at: number): boolean {
    return (this.#flags(at) & STAGE) !== 0;
  }

  #word(at: number, offset: number): number {
    return this.#source.bytes.readUInt32BE(this.#source.starts[at]! + offset);
  }

  #flags(at: number): number {
    return this.#source.bytes.readUInt16BE(this.#flagsStart(at));
  }

  #furtherFlags(at: number): number {
    return (this.#flags(at) & EXTENDED) === 0 ? 0 : this.#source.bytes.readUInt16BE(this.#flagsStart(at) + 2);
  }

  #flagsStart(at: number): number {
    return this.#source.starts[at]! + ENTRY_LAYOUT.object + this.#source.objectBytes;
  }
}
