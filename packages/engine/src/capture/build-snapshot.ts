/**
 * Turns a scan into a snapshot: reads what is pending, then builds the trees, bottom up. A directory in which nothing
 * changed keeps its tree without being encoded again, so the cost follows the change.
 */
import { joinPath } from "../model/byte-path.ts";
import type { Gap } from "../model/checkpoint.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { FILE, GAP, SYMLINK, TABLE_GAPS, type FileTable } from "../scan/file-table.ts";
import type { Scan } from "../scan/scan-request.ts";
import { sinkBytes, type ContentSink } from "../store/content-sink.ts";
import { readPending, type Reading } from "./read-pending.ts";

/** Reads, names and counts what a scan found; reuses trees of the `previous` scan. */
export function buildSnapshot(reading: Reading, previous: FileTable | undefined) {
  const content = readPending(reading);
  const snapshot = buildTrees(reading, previous);
  return { snapshot, ...countEntries(reading.scan.table), ...content };
}

/** Directories are in pre-order: backwards, every child comes before its parent. */
function buildTrees({ scan, sink }: Reading, previous: FileTable | undefined): ObjectHash {
  const { table, unchanged, ownEntry, parent } = scan;
  if (previous !== undefined) takeOverTrees(scan, previous);
  for (let directory = table.directories.length - 1; directory >= 0; directory -= 1) {
    const own = ownEntry[directory]!;
    if (unchanged[directory] !== 1 || previous === undefined) {
      table.setTreeHash(directory, encodeDirectory(table, directory, sink));
      if (own >= 0) unchanged[parent[directory]!] = 0;
    }
    if (own >= 0) table.nameTree(own, directory);
  }
  return table.treeHashAt(0);
}

/** Copies the trees of unchanged directories, as many at once as lie together in both tables. */
function takeOverTrees({ table, unchanged, before }: Scan, previous: FileTable): void {
  for (let start = 0, end: number; start < unchanged.length; start = end) {
    const offset = before[start]! - start;
    for (end = start; unchanged[end] === 1 && before[end]! - end === offset; end += 1);
    if (end > start) table.copyTreeHashes(start, previous, start + offset, end - start);
    else end += 1;
  }
}

/** Encodes a directory's tree, gives it to the sink and names it. */
export function encodeDirectory(table: FileTable, directory: number, sink: ContentSink): ObjectHash {
  const bytes = table.encodeTree(directory);
  const hash = hashBytes(bytes);
  sinkBytes(sink, hash, bytes, hashBytes);
  return hash;
}

/** The table of a scan has no unused rows, so there is no need to go through the directories. */
function countEntries(table: FileTable): { files: number; bytes: number; gaps: Gap[] } {
  let files = 0;
  let bytes = 0;
  let gapCount = 0;
  for (let index = 0; index < table.length; index += 1) {
    const kind = table.kind[index];
    if (kind === GAP) gapCount += 1;
    if (kind !== FILE && kind !== SYMLINK) continue;
    files += 1;
    bytes += table.size[index]!;
  }
  return { files, bytes, gaps: gapCount === 0 ? [] : gapsOf(table) };
}

function gapsOf(table: FileTable): Gap[] {
  return table.directories.flatMap((path, directory) =>
    [...table.entriesOf(directory)]
      .filter((index) => table.kind[index] === GAP)
      .map((index) => ({
        path: joinPath(path, table.names[index]!),
        reason: TABLE_GAPS[table.mode[index]!]!,
        size: table.size[index]!,
      })),
  );
}
