/**
 * Turns a scan into a snapshot: reads what is pending, names it, builds the trees bottom-up. Directories
 * in which nothing changed keep their tree without being encoded again, so the cost follows the change.
 * A file that cannot be read is a gap, a file that vanished is absent, a file that would not hold still
 * is captured as last read and marked; the capture as a whole goes on.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { isErrno, type FileStat } from "../fs/file-stat.ts";
import { offerTree } from "../diff/compare-trees.ts";
import { joinPath, type BytePath } from "../model/byte-path.ts";
import type { Doubt, Gap } from "../model/checkpoint.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { sinkBytes, type ContentSink } from "../store/content-sink.ts";
import { ABSENT, FILE, GAP, SYMLINK, TABLE_GAPS, type FileTable } from "../scan/file-table.ts";
import { RACY } from "../scan/stat-columns.ts";
import { readDatabases } from "./read-databases.ts";
import { readFileContent, readLinkContent, type ReadContent } from "./read-content.ts";
import type { ParallelRead } from "./parallel-read.ts";
import type { Scan } from "../scan/scan-request.ts";
import { sleep } from "./sleep.ts";

export interface CaptureInput {
  readonly root: AbsolutePath;
  readonly scan: Scan;
  readonly previous: FileTable | undefined;
  /** Takes trees and link targets. */
  readonly sink: ContentSink;
  /** Takes the content of files. */
  readonly fileSink: ContentSink;
  /** Files whose times are not older than this are read twice, a moment apart. */
  readonly hotSinceNs: bigint;
  /** Has read the bulk of a first capture while the scan ran; what it leaves is read here. */
  readonly parallel?: ParallelRead | undefined;
  /** At most this many bytes are read; the largest files become gaps first. */
  readonly limitBytes: number;
  readonly unlimited: ReadonlySet<BytePath>;
  /** Takes the hot files for a second reading after the answer; without it they are read again at once. */
  hotLater?: ((path: BytePath, first: ObjectHash) => void) | undefined;
}

export interface CapturedTree {
  readonly snapshot: ObjectHash;
  readonly files: number;
  readonly bytes: number;
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  /** Where on disk the content lies that was read just now. */
  readonly read: ReadonlyMap<ObjectHash, BytePath>;
}

export function captureTree(input: CaptureInput): CapturedTree {
  const content = readScanned(input);
  const snapshot = buildTrees(input);
  return { snapshot, ...countEntries(input.scan.table), ...content };
}

/** Reads what a scan left to be read. */
export function readScanned(input: CaptureInput): Pick<CapturedTree, "doubts" | "read"> {
  const doubts: Doubt[] = [];
  const read = new Map<ObjectHash, BytePath>();
  applyByteLimit(input);
  input.parallel?.finish(input.scan);
  const noteUnstable = (path: BytePath) => void doubts.push({ path, reason: "unstable" });
  const note: Done = (path, content) => {
    read.set(content.hash, path);
    if (!content.stable) noteUnstable(path);
  };
  readPending(input, note, noteUnstable);
  return { doubts, read };
}

/** Makes gaps of the largest pending files until the rest fits. */
function applyByteLimit({ scan, limitBytes, unlimited }: CaptureInput): void {
  const { table, pending, pendingPaths } = scan;
  let total = 0;
  for (const index of pending) total += table.size[index]!;
  if (total <= limitBytes) return;
  const candidates = pending
    .map((index, at) => ({ index, path: pendingPaths[at]! }))
    .filter(({ path }) => !unlimited.has(path))
    .sort((a, b) => table.size[b.index]! - table.size[a.index]!);
  for (const { index } of candidates) {
    if (total <= limitBytes) return;
    total -= table.size[index]!;
    table.setGap(index, "limit");
  }
}

type Done = (path: BytePath, content: ReadContent) => void;

function readPending(input: CaptureInput, done: Done, unstable: (path: BytePath) => void): void {
  const { scan, hotSinceNs } = input;
  const hot: { index: number; path: BytePath }[] = [];
  const databases = readDatabases(input, (path, index) => {
    if (scan.table.kind[index] === GAP) return;
    // a log comes and goes between two attempts
    scan.table.kind[index] = FILE;
    const content = readEntry(input, path, index);
    // that a log grows while it is read is no harm
    if (content !== undefined) done(path, { ...content, stable: true });
  });
  databases.unstable.forEach(unstable);
  scan.pending.forEach((index, at) => {
    // a hash means that a worker has read it already
    if (scan.table.kind[index] === GAP || scan.table.hasHash(index) || databases.done.has(index)) return;
    const path = scan.pendingPaths[at]!;
    const content = readEntry(input, path, index);
    if (content === undefined) return;
    done(path, content);
    if (content.stat !== undefined && content.stat.mtimeNs >= hotSinceNs) hot.push({ index, path });
  });
  if (input.hotLater !== undefined)
    for (const { index, path } of hot) input.hotLater(path, scan.table.hashAt(index));
  else if (hot.length > 0) readHotAgain(input, hot, done);
}

/** [R8] Even a read between two equal stats can hold half of what a writer is about to write: two must agree. */
function readHotAgain(
  input: CaptureInput,
  hot: readonly { index: number; path: BytePath }[],
  done: Done,
): void {
  sleep(SETTLE_MS);
  for (const { index, path } of hot) {
    const first = input.scan.table.hashAt(index);
    const content = readEntry(input, path, index);
    if (content !== undefined && content.hash !== first) done(path, { ...content, stable: false });
  }
}

export const SETTLE_MS = 20;

/** Reads one pending entry and puts what was read into the table. */
function readEntry(
  { root, scan, sink, fileSink }: CaptureInput,
  path: BytePath,
  index: number,
): ReadContent | undefined {
  const { table } = scan;
  try {
    const absolute = below(root, path);
    const content =
      table.kind[index] === SYMLINK ? readLinkContent(absolute, sink) : readFileContent(absolute, fileSink);
    table.setHash(index, content.hash);
    table.size[index] = content.size;
    if (content.stat !== undefined) noteStat(table, index, content.stat);
    return content;
  } catch (error) {
    noteUnread(table, index, error);
    return undefined;
  }
}

/** The times that belong to the content: a file touched between the scan and the read is not at rest. */
function noteStat(table: FileTable, index: number, stat: FileStat): void {
  if (table.ctimeNs[index] === stat.ctimeNs && table.mtimeNs[index] === stat.mtimeNs) return;
  table.flags[index] = RACY;
  table.mtimeNs[index] = stat.mtimeNs;
  table.ctimeNs[index] = stat.ctimeNs;
  table.ino[index] = stat.ino;
  table.mode[index] = Number(stat.mode & 0o777n);
}

/** Read errors are told by system call errors; anything else (a full store) ends the capture. */
function noteUnread(table: FileTable, index: number, error: unknown): void {
  if (isErrno(error, "ENOENT", "ENOTDIR")) table.kind[index] = ABSENT;
  else if (isReadError(error)) table.setGap(index, "unreadable");
  else throw error;
}

function isReadError(error: unknown): boolean {
  const { code, errno } = error as NodeJS.ErrnoException;
  return code === "ENOTFILE" || typeof errno === "number";
}

/** Directories are in pre-order: backwards, every child comes before its parent. */
function buildTrees({ scan, previous, sink }: CaptureInput): ObjectHash {
  const { table, unchanged, ownEntry, parent, before } = scan;
  if (previous !== undefined) takeOverTrees(scan, previous);
  for (let directory = table.directories.length - 1; directory >= 0; directory -= 1) {
    const own = ownEntry[directory]!;
    if (unchanged[directory] !== 1 || previous === undefined) {
      const { hash, bytes } = encodeDirectory(table, directory, sink);
      table.setTreeHash(directory, hash);
      if (before[directory]! >= 0) offerBoth(previous!, before[directory]!, hash, bytes);
      if (own >= 0) unchanged[parent[directory]!] = 0;
    }
    if (own >= 0) table.nameTree(own, directory);
  }
  return table.treeHashAt(0);
}

/** Copies the trees of unchanged directories, as many at a time as lie together in both tables. */
function takeOverTrees({ table, unchanged, before }: Scan, previous: FileTable): void {
  for (let start = 0, end: number; start < unchanged.length; start = end) {
    const offset = before[start]! - start;
    for (end = start; unchanged[end] === 1 && before[end]! - end === offset; end += 1);
    if (end > start) table.copyTreeHashes(start, previous, start + offset, end - start);
    else end += 1;
  }
}

/** Gives a directory's tree to the sink and names it. */
export function encodeDirectory(
  table: FileTable,
  directory: number,
  sink: ContentSink,
): { hash: ObjectHash; bytes: Buffer } {
  const bytes = table.encodeTree(directory);
  const hash = hashBytes(bytes);
  sinkBytes(sink, hash, bytes, hashBytes);
  return { hash, bytes };
}

/** The two trees will be compared: to make the previous one anew costs less than to unpack it from the store. */
function offerBoth(previous: FileTable, directory: number, hash: ObjectHash, bytes: Buffer): void {
  const old = previous.encodeTree(directory);
  const oldHash = previous.treeHashAt(directory);
  if (hashBytes(old) !== oldHash) return;
  offerTree(oldHash, old);
  offerTree(hash, bytes);
}

/** The table of a scan has no lost room: what counts is found without going through the directories. */
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
