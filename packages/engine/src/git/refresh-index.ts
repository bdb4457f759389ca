/**
 * Git's index for another directory that holds the same files: where git had seen that a file is as committed, it knows
 * that of the copy too. Otherwise git, and every capture, would read all files of a new fork to find nothing changed.
 */
import { createHash } from "node:crypto";
import type { BytePath } from "../model/byte-path.ts";
import { ENTRY_LAYOUT, SUBMODULE_MODE } from "./git-index-entries.ts";
import { decodeIndexFile } from "./git-index-file.ts";

/** The times of a file, and which file it is. */
export interface IndexedStat {
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

/** Both sides of the copy. */
export interface CopiedFiles {
  /** When the index was written: a file that is not older may have changed since git looked at it. */
  readonly writtenNs: bigint;
  readonly objectBytes: number;
  readonly owner: { readonly dev: bigint; readonly uid: bigint; readonly gid: bigint };
  /** A file of the original and its copy, which have the same content; undefined where that is not known. */
  statsOf(path: BytePath): { original: IndexedStat; copy: IndexedStat } | undefined;
}

/** The index with the stat of each copy whose original git knows as unchanged; as it is, if it cannot be read. */
export function refreshIndex(index: Buffer, files: CopiedFiles): Buffer {
  const { objectBytes, owner } = files;
  const entries = decodeIndexFile(index, { objectBytes, prefix: "" as BytePath });
  if (entries === undefined) return index;
  const bytes = Buffer.from(index);
  for (const [at, path] of entries.paths.entries()) {
    if (entries.isUnmerged(at) || entries.isIntendedOnly(at) || entries.mode(at) === SUBMODULE_MODE) continue;
    const stats = files.statsOf(path);
    if (stats === undefined || stats.original.mtimeNs >= files.writtenNs) continue;
    const start = entries.startOf(at);
    const known = bytes.subarray(start, start + ENTRY_LAYOUT.object);
    const { original, copy } = stats;
    if (!isTime(known, 0, original.ctimeNs) || !isTime(known, ENTRY_LAYOUT.mtimeSeconds, original.mtimeNs))
      continue;
    if (known.readUInt32BE(ENTRY_LAYOUT.size) !== original.size % WORD) continue;
    putTime(known, 0, copy.ctimeNs);
    putTime(known, ENTRY_LAYOUT.mtimeSeconds, copy.mtimeNs);
    for (const [offset, value] of [
      [ENTRY_LAYOUT.dev, owner.dev],
      [ENTRY_LAYOUT.ino, copy.ino],
      [ENTRY_LAYOUT.uid, owner.uid],
      [ENTRY_LAYOUT.gid, owner.gid],
    ] as const)
      known.writeUInt32BE(Number(BigInt.asUintN(32, value)), offset);
  }
  return withChecksum(bytes, objectBytes);
}

const WORD = 2 ** 32;
const NANOSECONDS = 1_000_000_000n;

/** A time of whole seconds only proves nothing here: the file would be read. */
function isTime(entry: Buffer, offset: number, timeNs: bigint): boolean {
  return (
    entry.readUInt32BE(offset) === Number(BigInt.asUintN(32, timeNs / NANOSECONDS)) &&
    entry.readUInt32BE(offset + 4) === Number(timeNs % NANOSECONDS)
  );
}

function putTime(entry: Buffer, offset: number, timeNs: bigint): void {
  entry.writeUInt32BE(Number(BigInt.asUintN(32, timeNs / NANOSECONDS)), offset);
  entry.writeUInt32BE(Number(timeNs % NANOSECONDS), offset + 4);
}

/** An index may be without one: then its last bytes are zeros. */
function withChecksum(bytes: Buffer, objectBytes: number): Buffer {
  const end = bytes.length - objectBytes;
  if (bytes.subarray(end).every((byte) => byte === 0)) return bytes;
  const hash = createHash(objectBytes === 20 ? "sha1" : "sha256");
  hash.update(bytes.subarray(0, end)).digest().copy(bytes, end);
  return bytes;
}
