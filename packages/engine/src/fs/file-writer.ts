/** A new file, written piece by piece and small pieces together. */
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";

/** Takes text of one byte per character, or bytes. */
export interface FileWriter extends Disposable {
  write(piece: string | Uint8Array): void;
}

const TOGETHER = 256 * 1024;

/** Opens a file for one writer; what it had is gone. Disposing it writes the rest. */
export function fileWriter(path: AbsolutePath): FileWriter {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(forSystem(path), flags, 0o600);
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const flush = () => {
    const all = Buffer.concat(waiting);
    for (let at = 0; at < all.length;) at += writeSync(descriptor, all, at);
    waiting = [];
    bytes = 0;
  };
  return {
    write(piece) {
      const part = typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
      waiting.push(part);
      bytes += part.length;
      if (bytes >= TOGETHER) flush();
    },
    [Symbol.dispose]() {
      try {
        flush();
      } finally {
        closeSync(descriptor);
      }
    },
  };
}
