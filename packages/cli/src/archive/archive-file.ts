/** Where an archive goes: stdout, or a file that appears only once it is complete. */
import { once } from "node:events";
import { createWriteStream, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "../command-error.ts";
import { EXIT } from "../exit-code.ts";
import type { Output } from "../output/output.ts";

/** Writes to stdout; stops when nobody reads any more. Answers with the number of bytes. */
export async function writeToStdout(pieces: AsyncIterable<Buffer | string>, output: Output): Promise<number> {
  let bytes = 0;
  for await (const piece of pieces) {
    if (!(await output.raw(piece))) throw cannotWrite("stdout", new Error("the reader went away"));
    bytes += Buffer.byteLength(piece);
  }
  return bytes;
}

/** Writes beside the file and renames: a broken export never looks like a whole one. */
export async function writeToFile(pieces: AsyncIterable<Buffer | string>, path: string): Promise<number> {
  const target = resolve(path);
  const partial = `${target}.part-${process.pid}`;
  try {
    const bytes = await writeAll(pieces, partial);
    renameSync(partial, target);
    return bytes;
  } catch (error) {
    rmSync(partial, { force: true });
    throw isSystemError(error) ? cannotWrite(path, error) : error;
  }
}

async function writeAll(pieces: AsyncIterable<Buffer | string>, path: string): Promise<number> {
  const stream = createWriteStream(path, { flags: "wx", flush: true });
  await once(stream, "open");
  let bytes = 0;
  for await (const piece of pieces) {
    if (!stream.write(piece)) await once(stream, "drain");
    bytes += Buffer.byteLength(piece);
  }
  stream.end();
  await once(stream, "finish");
  return bytes;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

function cannotWrite(path: string, error: Error): CommandError {
  return new CommandError(
    "OUTPUT_FAILED",
    `${path} could not be written: ${error.message}. Nothing else was changed.`,
    {
      exit: EXIT.failed,
      hint: "Choose another place, or free some space.",
      facts: { path },
    },
  );
}
