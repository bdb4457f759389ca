/**
 * A worker that goes through the previous scan from its end while the main thread scans from the front,
 * and marks each directory all of whose entries still have the stat they had. It decides nothing: the
 * main thread takes a mark instead of looking itself, and looks itself where there is none.
 */
import { Worker } from "node:worker_threads";
import type { AbsolutePath } from "../fs/absolute-path.ts";

/** Below this many entries the worker is not up before the scan is over. */
export const COMPANION_ENTRIES = 10_000;

export interface CompanionTask {
  readonly root: AbsolutePath;
  readonly cachePath: AbsolutePath;
  /** The cache that the main thread has read: another one is of no use. */
  readonly checksum: string;
  /** One byte a directory: 1 = every entry is as before. */
  readonly verified: SharedArrayBuffer;
  /** How far the main thread has come. */
  readonly position: SharedArrayBuffer;
}

export class ScanCompanion {
  readonly #verified: Uint8Array;
  readonly #position: Int32Array;
  readonly #worker: Worker;

  constructor(task: Pick<CompanionTask, "root" | "cachePath" | "checksum"> & { directories: number }) {
    const { directories, ...facts } = task;
    const verified = new SharedArrayBuffer(directories);
    const position = new SharedArrayBuffer(4);
    this.#verified = new Uint8Array(verified);
    this.#position = new Int32Array(position);
    const file = import.meta.url.endsWith(".ts") ? "./companion-worker.ts" : "./companion-worker.js";
    const workerData: CompanionTask = { ...facts, verified, position };
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData });
    this.#worker.unref();
    // a companion that fails leaves no marks; the main thread then looks at everything itself
    this.#worker.on("error", () => undefined);
  }

  hasVerified(directory: number): boolean {
    return Atomics.load(this.#verified, directory) === 1;
  }

  /** Tells the worker that directories up to this one need no looking at any more. */
  reached(directory: number): void {
    if (directory >= 0) Atomics.store(this.#position, 0, directory);
  }

  stop(): void {
    Atomics.store(this.#position, 0, 2 ** 31 - 1);
    void this.#worker.terminate();
  }
}
