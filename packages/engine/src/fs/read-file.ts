/**
 * Reading a file that others may be writing. A read counts only if the file's stat is the same before
 * and after it; otherwise it is tried again. FIFOs and devices are never opened for reading, symbolic
 * links never followed.
 */
import { closeSync, constants, openSync, readlinkSync, readSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";
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

/**
 * Reads a regular file into pieces of at most `CHUNK_BYTES`, calling `begin` before each attempt.
 * Throws the system's error when it cannot be opened or is no regular file any more (`ENOTFILE`).
 */
export function readFilePieces(
  path: AbsolutePath,
  reader: { begin(): void; piece(bytes: Buffer): void; buffer: Buffer },
): ReadResult {
  const descriptor = openForReading(path);
  try {
    for (let attempt = 1; ; attempt += 1) {
      const before = statDescriptor(descriptor);
      reader.begin();
      readPieces(descriptor, reader);
      const after = statDescriptor(descriptor);
      const stable = sameStat(before, after);
      if (stable || attempt === READ_ATTEMPTS) return { stat: after, stable };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Opens a regular file for reading; anything else is refused without having been read. */
export function openForReading(path: AbsolutePath): number {
  const descriptor = openSync(forSystem(path), READ_FLAGS);
  if (kindOf(statDescriptor(descriptor)) === "file") return descriptor;
  closeSync(descriptor);
  throw Object.assign(new Error(`not a regular file: ${path}`), { code: "ENOTFILE" });
}

function readPieces(descriptor: number, reader: { piece(bytes: Buffer): void; buffer: Buffer }): void {
  const { buffer } = reader;
  for (let position = 0; ; ) {
    const length = fill(descriptor, buffer, position);
    if (length > 0) reader.piece(buffer.subarray(0, length));
    if (length < buffer.length) return;
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
    descriptor = openForReading(path);
  } catch {
    return undefined;
  }
  try {
    const size = Number(statDescriptor(descriptor).size);
    if (size > limit) return undefined;
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
