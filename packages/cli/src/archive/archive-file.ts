/** Where an archive goes: stdout, or a file that appears only once it is complete. */
import { createWriteStream, renameSync, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ContractError } from "@belay/protocol/errors";
import type { Output } from "../output/output.ts";

/** Writes to stdout; false when the reader went away before the end. */
export async function writeToStdout(pieces: AsyncIterable<Buffer>, output: Output): Promise<boolean> {
  for await (const piece of pieces) {
    if (!(await output.raw(piece))) return false;
  }
  return true;
}

/** Writes beside the file and renames: a broken export never looks like a complete one. */
export async function writeToFile(pieces: AsyncIterable<Buffer>, path: string): Promise<number> {
  const partial = `${path}.part-${process.pid}`;
  try {
    const bytes = await writeAll(pieces, partial);
    renameSync(partial, path);
    return bytes;
  } catch (error) {
    rmSync(partial, { force: true });
    throw isSystemError(error) ? cannotWrite(path, error) : error;
  }
}

async function writeAll(pieces: AsyncIterable<Buffer>, path: string): Promise<number> {
  const file = createWriteStream(path, { flags: "wx", flush: true });
  await pipeline(Readable.from(pieces), file);
  return file.bytesWritten;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

function cannotWrite(path: string, error: Error): ContractError {
  return new ContractError(
    "OUTPUT_FAILED",
    `${path} could not be written: ${error.message}. Nothing else was changed.`,
    {
      facts: { path },
    },
  );
}
