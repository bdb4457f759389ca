/** A run's output: files that the program writes itself and Belay reads along, so that neither waits for the other. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { makePrivateDirectory } from "../state/private-directory.ts";
import type { RunFiles } from "./run-record.ts";

const { O_CREAT, O_EXCL, O_WRONLY, O_APPEND, O_RDONLY } = constants;

/** Creates the files of a run, for the user alone. */
export function createRunFiles(directory: string): RunFiles {
  makePrivateDirectory(directory);
  const files = { stdout: join(directory, "stdout"), stderr: join(directory, "stderr") };
  for (const file of Object.values(files)) closeSync(openSync(file, O_CREAT | O_EXCL | O_WRONLY, 0o600));
  return files;
}

/** Writes the prompt where a program can read it as its standard input: it is whole even if Belay dies. */
export function writePromptFile(directory: string, prompt: string): string {
  const path = join(directory, "prompt");
  writeFileSync(path, prompt, { mode: 0o600, flag: "wx" });
  return path;
}

/** Opens a file that a program appends to. */
export function openForProgram(path: string): number {
  return openSync(path, O_WRONLY | O_APPEND);
}

/** Reads whole lines of a file as it grows. */
export class GrowingFile implements Disposable {
  readonly #file: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #limit: number;
  #position = 0;
  #rest = "";

  constructor(path: string, limit: number) {
    this.#file = openSync(path, O_RDONLY);
    this.#limit = limit;
  }

  /** True when more was written than is kept. */
  get isOver(): boolean {
    return fstatSync(this.#file).size > this.#limit;
  }

  /** The lines since the last call, as they are read; `ended` also gives the last one without its end. */
  *lines({ ended = false } = {}): Generator<string> {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    while (this.#position < this.#limit) {
      const bytes = readSync(this.#file, chunk, 0, CHUNK_BYTES, this.#position);
      if (bytes === 0) break;
      this.#position += bytes;
      const parts = (this.#rest + this.#decoder.write(chunk.subarray(0, bytes))).split("\n");
      this.#rest = parts.pop()!;
      yield* parts;
      if (this.#rest.length > LONGEST_LINE) this.#rest = "";
    }
    if (ended && this.#rest !== "") yield this.#rest;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

const CHUNK_BYTES = 1 << 16;
const LONGEST_LINE = 16 << 20;

/** Cuts a file to its limit; true when there was more. */
export function cutFile(path: string, limit: number): boolean {
  const file = openSync(path, O_WRONLY);
  try {
    if (fstatSync(file).size <= limit) return false;
    ftruncateSync(file, limit);
    return true;
  } finally {
    closeSync(file);
  }
}
