/** The columns by which an unchanged entry is recognised. */
import { kindOf, type FileStat } from "../fs/file-stat.ts";
import { MODE_BITS } from "../model/entry.ts";

/** The kinds of entries, by their number in the kind column. */
export const TABLE_KINDS = ["file", "symlink", "directory", "gap"] as const;

/** Excluded by a rule; the mode column holds the rule's number. */
export const EXCLUDED = 254;

/** Flag of an entry that was not at rest when it was seen. */
export const RACY = 1;
/** Flag of an entry left out for its size: it may be small enough next time. */
export const OVER = 2;

/** The part of a table that is compared with the disk. */
export interface StatColumns {
  readonly names: readonly string[];
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  /** Permission bits; for a gap, the number of its reason. */
  readonly mode: Uint16Array;
  readonly size: Float64Array;
  readonly mtimeNs: BigInt64Array;
  readonly ctimeNs: BigInt64Array;
  readonly ino: BigUint64Array;
}

/** The stat of a name in one directory; undefined when nothing is there. */
export type StatOf = (name: string) => FileStat | undefined;

/** True when every entry of a run has its previous stat and was at rest. */
export function areAsBefore(columns: StatColumns, first: number, count: number, statOf: StatOf): boolean {
  for (let index = first; index < first + count; index += 1) {
    if (columns.flags[index] !== 0) return false;
    if (columns.kind[index] !== EXCLUDED && !hasStat(columns, index, statOf)) return false;
  }
  return true;
}

/** True when an entry has its previous stat. */
export function hasStat(columns: StatColumns, index: number, statOf: StatOf): boolean {
  let stat: FileStat | undefined;
  try {
    stat = statOf(columns.names[index]!);
  } catch {
    return false;
  }
  return (
    stat !== undefined &&
    stat.mtimeNs === columns.mtimeNs[index] &&
    stat.ctimeNs === columns.ctimeNs[index] &&
    stat.ino === columns.ino[index] &&
    Number(stat.size) === columns.size[index] &&
    kindOf(stat) === TABLE_KINDS[columns.kind[index]!] &&
    (Number(stat.mode) & MODE_BITS) === columns.mode[index]
  );
}
