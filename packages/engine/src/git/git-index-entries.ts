/**
 * The entries of git's index below the workspace root. Only their paths are taken out of the file's bytes
 * at once; the rest is read from them when asked for, so that 50,000 entries cost a few milliseconds.
 */
import type { BytePath } from "../model/byte-path.ts";

export const SUBMODULE_MODE = 0o160000;

/** Where an entry's parts stand, counted from its start; two bytes of flags follow the object's name. */
export const ENTRY_LAYOUT = {
  mtimeSeconds: 8,
  mtimeNanoseconds: 12,
  mode: 24,
  size: 36,
  object: 40,
} as const;

const ASSUME_UNCHANGED = 0x8000;
export const EXTENDED = 0x4000;
export const STAGE = 0x3000;
/** Of the two bytes of further flags that an extended entry has. */
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;

export interface EntrySource {
  readonly bytes: Buffer;
  readonly objectBytes: number;
  /** Relative to the workspace root, sorted. */
  readonly paths: readonly BytePath[];
  /** Where each path's entry starts in `bytes`. */
  readonly starts: readonly number[];
  /** True when some entry is a submodule or unmerged: most indexes have none, and need not be searched for them. */
  readonly hasOddEntries: boolean;
}

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

  /** The paths of files and links, each once. */
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

  /** Modulo 2 ** 32, and 0 also where git was not sure of the stat. */
  size(at: number): number {
    return this.#word(at, ENTRY_LAYOUT.size);
  }

  mode(at: number): number {
    return this.#word(at, ENTRY_LAYOUT.mode);
  }

  /** The name of the content, in hexadecimal digits. */
  object(at: number): string {
    const start = this.#source.starts[at]! + ENTRY_LAYOUT.object;
    return this.#source.bytes.toString("hex", start, start + this.#source.objectBytes);
  }

  /** Git takes such a file for unchanged without looking. */
  isTrusted(at: number): boolean {
    return (this.#flags(at) & ASSUME_UNCHANGED) !== 0 || (this.#furtherFlags(at) & SKIP_WORKTREE) !== 0;
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
