/**
 * A few bytes that two processes see: an unnamed temporary file, written and read at positions. Slower
 * than shared memory and free of its conditions; good enough for marks that are only ever set.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Opens a file whose name is gone before anyone can see it: nothing is left behind. */
export function openNamelessFile(purpose: string): number {
  const directory = mkdtempSync(join(tmpdir(), `belay-${purpose}-`));
  const path = join(directory, "file");
  const descriptor = openSync(path, "wx+", 0o600);
  try {
    unlinkSync(path);
    rmdirSync(directory);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

export class SharedBytes {
  readonly descriptor: number;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  static create(purpose: string, length: number): SharedBytes {
    const descriptor = openNamelessFile(purpose);
    ftruncateSync(descriptor, length);
    return new SharedBytes(descriptor);
  }

  read(into: Uint8Array, position: number): void {
    readSync(this.descriptor, into, 0, into.length, position);
  }

  write(bytes: Uint8Array, position: number): void {
    writeSync(this.descriptor, bytes, 0, bytes.length, position);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
