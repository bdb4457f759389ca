/**
 * Reading a file that others may be writing. A read counts only if the file's stat is the same before
 * and after it; otherwise it is tried again. FIFOs and devices are never opened for reading, symbolic
 * links never followed.
 */
import { closeSync, constants, openSync, readlinkSync, readSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";
import { nativeLook } from "./on-demand.ts";
import { kindOf, sameStat, statDescriptor, type FileStat } from "./file-stat.ts";

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const READ_ATTEMPTS = 3;

/** Files are hashed and stored in pieces of this size; a file no larger than one piece is one object. */
export const CHUNK_BYTES = 1024 * 1024;

/** What one complete read saw. `stable` is false when the file kept changing: the last read is reported. */
export interface ReadResult {
  readonly stat: FileStat;
  readonly stable: boolean;
}

/** Takes what is read, piece by piece, through a buffer of its own; `begin` starts anew. */
export interface PieceReader {
  begin(size: number): void;
  piece(bytes: Buffer): void;
  readonly buffer: Buffer;
}

/**
 * Reads a regular file into pieces of at most `CHUNK_BYTES`, calling `begin` before each attempt.
 * Throws the system's error when it cannot be opened or is no regular file any more (`ENOTFILE`).
 */
export function readFilePieces(path: AbsolutePath, reader: PieceReader): ReadResult {
  using file = new HeldFile(path);
  return file.readPieces(reader);
}

/** A file held open for reading: it can be read again when it has lost its name. */
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

  /** Whether any process can write to it; undefined where only /proc may tell. */
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
 * Reads a file of known size into `buffer` in one go; undefined when it is no longer that file, of that
 * size, with those times: then the careful way must be taken.
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

/** What is not a regular file is refused without having been read. */
function assertFile(stat: FileStat, path: AbsolutePath): FileStat {
  if (kindOf(stat) === "file") return stat;
  throw Object.assign(new Error(`not a regular file: ${path}`), { code: "ENOTFILE" });
}

/** Reads up to the size the file had; if it has grown, its stat says so and the read does not count. */
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

/** A small file's bytes in one go (≤ `limit`), or undefined when it is larger, missing or not a regular file. */
export function readSmallFile(path: AbsolutePath, limit: number): Buffer | undefined {
  let descriptor: number;
  try {
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
