/**
 * Reads what a scan left pending. A file that cannot be read is a gap, a file that vanished is absent, a file
 * that does not hold still is captured as last read and marked. The capture as a whole continues.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { isErrno, type FileStat } from "../fs/file-stat.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Doubt } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { ABSENT, FILE, GAP, SYMLINK, type FileTable } from "../scan/file-table.ts";
import type { Scan } from "../scan/scan-request.ts";
import { RACY } from "../scan/stat-columns.ts";
import type { ContentSink } from "../store/content-sink.ts";
import type { ParallelRead, ReadProgress } from "./parallel-read.ts";
import { readFileContent, readLinkContent, type ReadContent } from "./read-content.ts";
import { readDatabases } from "./read-databases.ts";
import { sleep } from "./sleep.ts";

/** The content to read after a scan, and where it goes. */
export interface Reading {
  readonly root: AbsolutePath;
  readonly scan: Scan;
  /** Takes trees and link targets. */
  readonly sink: ContentSink;
  /** Takes the content of files. */
  readonly fileSink: ContentSink;
  /** Has read the bulk of a first capture while the scan ran; what it leaves is read here. */
  readonly parallel?: ParallelRead | undefined;
  /** Files whose times are not older than this are read twice, a moment apart. */
  readonly hotSinceNs: bigint;
  /** At most this many bytes are read; the largest files become gaps first. */
  readonly limitBytes: number;
  /** Paths to which that limit does not apply. */
  readonly unlimited: ReadonlySet<BytePath>;
  /** Told file by file how much of it is read; not where `parallel` tells that itself. */
  readonly progress?: ReadProgress | undefined;
  /** Takes the hot files for a second reading after the answer; without it they are read again at once. */
  hotLater?: ((path: BytePath, first: ObjectHash) => void) | undefined;
}

/** The same, with the root entered: a directory that is swapped for a link since the scan leads nowhere. [R1891] */
interface EnteredReading extends Reading {
  readonly anchor: Anchor;
}

/** How long a hot file is left alone before its second reading. */
export const SETTLE_MS = 20;

/** Reads the pending entries of a scan into its table; `read` tells where on disk the content lies. */
export function readPending(reading: Reading): {
  doubts: readonly Doubt[];
  read: ReadonlyMap<ObjectHash, BytePath>;
} {
  const doubts: Doubt[] = [];
  const read = new Map<ObjectHash, BytePath>();
  if (reading.scan.pending.length === 0) return { doubts, read };
  applyByteLimit(reading);
  reading.parallel?.finish(reading.scan);
  using anchor = new Anchor(reading.root);
  const entered = { ...reading, anchor };
  const noteUnstable = (path: BytePath) => void doubts.push({ path, reason: "unstable" });
  const note = (path: BytePath, content: ReadContent) => {
    read.set(content.hash, path);
    if (!content.stable) noteUnstable(path);
  };
  const databases = readDatabases(reading, (path, index) => {
    const content = readLog(entered, path, index);
    if (content !== undefined) note(path, content);
  });
  databases.unstable.forEach(noteUnstable);
  const hot = readEntries(entered, databases.done, note);
  if (reading.hotLater !== undefined)
    for (const { index, path } of hot) reading.hotLater(path, reading.scan.table.hashAt(index));
  else if (hot.length > 0) readHotAgain(entered, hot, note);
  return { doubts, read };
}

/** Makes gaps of the largest pending files until the rest fits. */
function applyByteLimit({ scan, limitBytes, unlimited }: Reading): void {
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

/**
 * One file of a database: growth while it is read is harmless, and a log may appear or vanish between two
 * attempts.
 */
function readLog(reading: EnteredReading, path: BytePath, index: number): ReadContent | undefined {
  const { table } = reading.scan;
  if (table.kind[index] === GAP) return undefined;
  table.kind[index] = FILE;
  reading.anchor.forget();
  const content = readEntry(reading, path, index);
  return content && { ...content, stable: true };
}

/** Reads everything that is pending and not done yet; returns the files that are hot. */
function readEntries(
  reading: EnteredReading,
  done: ReadonlySet<number>,
  note: (path: BytePath, content: ReadContent) => void,
): { index: number; path: BytePath }[] {
  const { table, pending, pendingPaths } = reading.scan;
  const hot: { index: number; path: BytePath }[] = [];
  const progress = reading.parallel === undefined ? reading.progress : undefined;
  let bytes = 0;
  pending.forEach((index, at) => {
    progress?.({ done: at, total: pending.length, bytes });
    // a hash means that a worker has read it already
    if (table.kind[index] === GAP || table.hasHash(index) || done.has(index)) return;
    const path = pendingPaths[at]!;
    const content = readEntry(reading, path, index);
    if (content === undefined) return;
    bytes += content.size;
    note(path, content);
    if (content.stat !== undefined && content.stat.mtimeNs >= reading.hotSinceNs) hot.push({ index, path });
  });
  if (pending.length > 0) progress?.({ done: pending.length, total: pending.length, bytes });
  return hot;
}

/**
 * [R8] Even a read between two equal stats can hold half of what a writer is about to write: two readings
 * must agree.
 */
function readHotAgain(
  reading: EnteredReading,
  hot: readonly { index: number; path: BytePath }[],
  note: (path: BytePath, content: ReadContent) => void,
): void {
  sleep(SETTLE_MS);
  reading.anchor.forget();
  for (const { index, path } of hot) {
    const first = reading.scan.table.hashAt(index);
    const content = readEntry(reading, path, index);
    if (content !== undefined && content.hash !== first) note(path, { ...content, stable: false });
  }
}

/** Reads one pending entry and puts what was read into the table. */
function readEntry(
  { anchor, scan, sink, fileSink }: EnteredReading,
  path: BytePath,
  index: number,
): ReadContent | undefined {
  const { table } = scan;
  try {
    const at = anchor.at(path);
    const content = table.kind[index] === SYMLINK ? readLinkContent(at, sink) : readFileContent(at, fileSink);
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

/** A system call that failed is a gap or an absence; any other error (a full store) ends the capture. */
function noteUnread(table: FileTable, index: number, error: unknown): void {
  if (isErrno(error, "ENOENT", "ENOTDIR")) table.kind[index] = ABSENT;
  else if (isReadError(error)) table.setGap(index, "unreadable");
  else throw error;
}

function isReadError(error: unknown): boolean {
  const { code, errno } = error as NodeJS.ErrnoException;
  return code === "ENOTFILE" || typeof errno === "number";
}
