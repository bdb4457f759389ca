/**
 * Reads a file that other processes may be writing. A read counts only if the file's stat is the same before
 * and after it; otherwise it is retried. FIFOs and devices are never opened, symbolic links never followed.
 */
import { closeSync, constants, openSync, readlinkSync, readSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";
import { nativeLook } from "./on-demand.ts";
import { kindOf, sameStat, statDescriptor, statNode, type FileStat } from "./file-stat.ts";

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const READ_ATTEMPTS = 3;

/** Files are hashed and stored in pieces of this size; a file no larger than one piece is one object. */
export const CHUNK_BYTES = 1024 * 1024;

/**
 * The result of one complete read. `stable` is false when the file kept changing: then the last read is
 * reported.
 */
export interface ReadResult {
  readonly stat: FileStat;
  readonly stable: boolean;
}

/** Receives content piece by piece through its own buffer; `begin` starts over. */
export interface PieceReader {
  begin(size: number): void;
  piece(bytes: Buffer): void;
  readonly buffer: Buffer;
}

/**
 * Reads a regular file in pieces of at most `CHUNK_BYTES`, calling `begin` before each attempt.
 * Throws the system's error when the file cannot be opened, `ENOTFILE` when it is no longer a regular file.
 */
export function readFilePieces(path: AbsolutePath, reader: PieceReader): ReadResult {
  using file = new HeldFile(path);
  return file.readPieces(reader);
}

/** A file held open for reading. It can be read again after it has lost its name. */
export class HeldFile implements Disposable {
  readonly #path: AbsolutePath;
  readonly #descriptor: number;

  constructor(path: AbsolutePath) {
    this.#path = path;
    this.#descriptor = openSync(forSystem(path), READ_FLAGS);
  }

  stat(): FileStat {
    return statDescriptor(this.#descriptor);
  }

  /** Whether any process can write to it; undefined when only /proc could tell and it is missing. */
  isBeingWritten(): boolean | undefined {
    const answer = nativeLook()?.openForWriting(this.#descriptor) ?? -1;
    return answer < 0 ? undefined : answer === 1;
  }

  readPieces(reader: PieceReader): ReadResult {
    for (let attempt = 1; ; attempt += 1) {
      const before = assertFile(this.stat(), this.#path);
      reader.begin(Number(before.size));
      readPieces(this.#descriptor, Number(before.size), reader);
      const after = this.stat();
      const stable = sameStat(before, after);
      if (stable || attempt === READ_ATTEMPTS) return { stat: after, stable };
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/**
 * Reads a file of known size into `buffer` with one call. Returns undefined when inode, size or times have
 * changed: the caller must then use `readFilePieces`.
 */
export function readUnchanged(
  path: AbsolutePath,
  buffer: Buffer,
  expected: { size: number; mtimeNs: bigint; ctimeNs: bigint },
): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(forSystem(path), READ_FLAGS);
  } catch {
    return undefined;
  }
  try {
    const length = fill(descriptor, buffer.subarray(0, expected.size), 0);
    const stat = statDescriptor(descriptor);
    const same =
      kindOf(stat) === "file" && stat.mtimeNs === expected.mtimeNs && stat.ctimeNs === expected.ctimeNs;
    return same && length === expected.size && Number(stat.size) === length
      ? buffer.subarray(0, length)
      : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Refuses anything but a regular file before reading. */
function assertFile(stat: FileStat, path: AbsolutePath): FileStat {
  if (kindOf(stat) === "file") return stat;
  throw Object.assign(new Error(`not a regular file: ${path}`), { code: "ENOTFILE" });
}

/**
 * Reads up to the size in the stat. If the file has grown, the second stat shows it and the read does not
 * count.
 */
function readPieces(
  descriptor: number,
  size: number,
  reader: { piece(bytes: Buffer): void; buffer: Buffer },
): void {
  const { buffer } = reader;
  for (let position = 0; position < size;) {
    const length = fill(descriptor, buffer.subarray(0, Math.min(buffer.length, size - position)), position);
    if (length === 0) return;
    reader.piece(buffer.subarray(0, length));
    position += length;
  }
}

/** Reads until the buffer is full or the file ends; a short read is not the end. */
function fill(descriptor: number, buffer: Buffer, position: number): number {
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, position + length);
    if (read === 0) break;
    length += read;
  }
  return length;
}

/** The bytes of a small file; undefined when it is larger than `limit`, missing or not a regular file. */
export function readSmallFile(path: AbsolutePath, limit: number): Buffer | undefined {
  let descriptor: number;
  try {
    // most are missing, and an error costs ten times as much as a stat
    if (statNode(path) === undefined) return undefined;
    descriptor = openSync(forSystem(path), READ_FLAGS);
  } catch {
    return undefined;
  }
  try {
    const stat = statDescriptor(descriptor);
    const size = Number(stat.size);
    if (kindOf(stat) !== "file" || size > limit) return undefined;
    const buffer = Buffer.allocUnsafe(size + 1);
    return buffer.subarray(0, fill(descriptor, buffer, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes of a symbolic link's target. */
export function readLink(path: AbsolutePath): Buffer {
  return readlinkSync(forSystem(path), "buffer");
}
