/** Walks the previous scan's entries of one directory alongside the new ones; both are sorted by name. */
import { HASH_BYTES } from "../model/object-hash.ts";
import { DIRECTORY, GAP, type FileTable } from "./file-table.ts";
import { EXCLUDED, RACY } from "./stat-columns.ts";

/** A cursor over the entries that a directory had. */
export class PreviousEntries {
  readonly #table: FileTable | undefined;
  readonly #first: number;
  readonly #end: number;
  #at: number;
  #changed = false;

  constructor(table: FileTable | undefined, directory: number) {
    this.#table = directory < 0 ? undefined : table;
    this.#first = this.#at = this.#table?.firstEntry[directory] ?? 0;
    this.#end = this.#at + (this.#table?.entryCount[directory] ?? 0);
    if (this.#table === undefined) this.#changed = true;
  }

  markChanged(): void {
    this.#changed = true;
  }

  /** True when every new entry existed before, unchanged, and none is missing. */
  isExhaustedUnchanged(count: number): boolean {
    return !this.#changed && count === this.#end - this.#first;
  }

  /** Takes over the hash when the entry is provably the same. */
  reuse(table: FileTable, index: number): boolean {
    const old = this.find(table.names[index]!);
    const before = this.#table;
    if (before === undefined || old < 0 || before.flags[old] === RACY || !sameKeys(table, index, before, old))
      return false;
    if (before.mode[old] !== table.mode[index]) this.#changed = true;
    const from = old * HASH_BYTES;
    table.hash.set(before.hash.subarray(from, from + HASH_BYTES), index * HASH_BYTES);
    return true;
  }

  compareDirectory(table: FileTable, index: number): void {
    const old = this.find(table.names[index]!);
    const before = this.#table;
    if (
      before === undefined ||
      old < 0 ||
      before.kind[old] !== DIRECTORY ||
      before.mode[old] !== table.mode[index]
    )
      this.#changed = true;
  }

  compareGap(table: FileTable, index: number): void {
    const old = this.find(table.names[index]!);
    const before = this.#table;
    const same =
      before !== undefined &&
      old >= 0 &&
      before.kind[old] === GAP &&
      before.mode[old] === table.mode[index] &&
      before.size[old] === table.size[index];
    if (!same) this.#changed = true;
  }

  compareExcluded(name: string): void {
    const old = this.find(name);
    if (old < 0 || this.#table?.kind[old] !== EXCLUDED) this.#changed = true;
  }

  /** The previous index of a name, -1 when it was not there. Names must be looked up in order. */
  find(name: string): number {
    const table = this.#table;
    if (table === undefined) return -1;
    while (this.#at < this.#end && table.names[this.#at]! < name) this.#at += 1;
    return this.#at < this.#end && table.names[this.#at] === name ? this.#at : -1;
  }
}

function sameKeys(a: FileTable, i: number, b: FileTable, j: number): boolean {
  return (
    a.kind[i] === b.kind[j] &&
    a.size[i] === b.size[j] &&
    a.ino[i] === b.ino[j] &&
    a.mtimeNs[i] === b.mtimeNs[j] &&
    a.ctimeNs[i] === b.ctimeNs[j] &&
    b.hasHash(j)
  );
}
