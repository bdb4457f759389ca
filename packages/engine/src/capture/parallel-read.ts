/**
 * The content of a first capture, read by this thread and one worker. While this thread still scans, the
 * worker packs what has been found, from the front; then this thread packs from the back until they meet.
 * Everything here is synchronous: the worker's packs are received between batches, so that they go into the
 * store as they come.
 */
import type { MessagePort } from "node:worker_threads";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { workerThreads } from "../fs/on-demand.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { FILE, type FileTable } from "../scan/file-table.ts";
import { packFiles, type FileToPack, type PackedFiles } from "./pack-files.ts";
import { COUNTER, COUNTERS, type WorkerTask } from "./pack-worker-protocol.ts";
import type { Scan } from "../scan/scan-request.ts";
import { sleepUntilChanged } from "./sleep.ts";

/** A worker is worth its start only for more files than this. */
const WORKER_FILES = 3000;
const BATCH_BYTES = 1024 * 1024;
const BATCH_FILES = 200;
/** Tenths of a second without an answer from the worker. */
const PATIENCE = 100;

/** Called between batches: files and bytes read so far, and how many files there are. */
export type ReadProgress = (progress: { done: number; total: number; bytes: number }) => void;

/** The files of one first capture, as the scan finds them and two threads read them. */
export class ParallelRead {
  readonly #root: AbsolutePath;
  readonly #writer: ObjectWriter;
  readonly #progress: ReadProgress | undefined;
  readonly #batches: FileToPack[][] = [];
  readonly #counters = new Int32Array(new SharedArrayBuffer(COUNTERS * 4));
  #batch: FileToPack[] = [];
  #batchBytes = 0;
  #files = 0;
  #port: MessagePort | undefined;

  constructor(root: AbsolutePath, writer: ObjectWriter, progress: ReadProgress | undefined) {
    this.#root = root;
    this.#writer = writer;
    this.#progress = progress;
  }

  /** Called by the scan for each file it leaves to be read. */
  offer(at: number, path: BytePath, table: FileTable, index: number): void {
    if (table.kind[index] !== FILE) return;
    const size = table.size[index]!;
    this.#batch.push({ at, path, size, mtimeNs: table.mtimeNs[index]!, ctimeNs: table.ctimeNs[index]! });
    this.#batchBytes += size;
    this.#files += 1;
    if (this.#batchBytes >= BATCH_BYTES || this.#batch.length >= BATCH_FILES) this.#closeBatch();
  }

  /** Packs everything that was offered; files that need care stay without a hash, for `readPending` to read. */
  finish(scan: Scan): void {
    this.#closeBatch();
    Atomics.store(this.#counters, COUNTER.closed, 1);
    Atomics.notify(this.#counters, COUNTER.offered);
    let [done, bytes] = [0, 0];
    const take = ({ packs, read }: PackedFiles) => {
      for (const pack of packs) this.#writer.putPack(pack);
      for (const { at, hash } of read) scan.table.setHash(scan.pending[at]!, hash);
      done += read.length;
      for (const pack of packs) bytes += pack.rawBytes;
      this.#progress?.({ done, total: scan.pending.length, bytes });
    };
    const known = new Set<ObjectHash>();
    for (
      let last = this.#batches.length - 1;
      Atomics.add(this.#counters, COUNTER.claimed, 1) < this.#batches.length;
      last -= 1
    ) {
      take(packFiles(this.#root, this.#batches[last]!, known));
      this.#receive(take);
    }
    this.#awaitWorker(take);
  }

  #closeBatch(): void {
    if (this.#batch.length === 0) return;
    this.#batches.push(this.#batch);
    this.#batch = [];
    this.#batchBytes = 0;
    if (this.#port === undefined && this.#files >= WORKER_FILES) this.#startWorker();
    else if (this.#port !== undefined) this.#post(this.#batches.at(-1)!);
  }

  #startWorker(): void {
    const { port1, port2 } = new (workerThreads().MessageChannel)();
    this.#port = port1;
    const task: WorkerTask = { root: this.#root, port: port2, counters: this.#counters.buffer };
    const file = import.meta.url.endsWith(".ts") ? "./pack-worker.ts" : "./pack-worker.js";
    const worker = new (workerThreads().Worker)(new URL(file, import.meta.url), {
      workerData: task,
      transferList: [port2],
    });
    worker.unref();
    // this thread reads carefully what a failed worker had claimed
    worker.on("error", () => undefined);
    for (const batch of this.#batches) this.#post(batch);
  }

  #post(batch: readonly FileToPack[]): void {
    this.#port!.postMessage(batch);
    Atomics.add(this.#counters, COUNTER.offered, 1);
    Atomics.notify(this.#counters, COUNTER.offered);
  }

  /** Takes the packs that the worker has finished so far. */
  #receive(take: (packed: PackedFiles) => void): void {
    const port = this.#port;
    if (port === undefined) return;
    const { receiveMessageOnPort } = workerThreads();
    for (
      let message = receiveMessageOnPort(port);
      message !== undefined;
      message = receiveMessageOnPort(port)
    ) {
      const { packs, read } = message.message as PackedFiles;
      take({ read, packs: packs.map((pack) => ({ ...pack, data: Buffer.from(pack.data) })) });
    }
  }

  #awaitWorker(take: (packed: PackedFiles) => void): void {
    const counters = this.#counters;
    const isBusy = () =>
      Atomics.load(counters, COUNTER.answered) < Atomics.load(counters, COUNTER.claimedByWorker);
    for (let patience = PATIENCE; patience > 0 && isBusy(); patience -= 1) {
      this.#receive(take);
      const answered = Atomics.load(counters, COUNTER.answered);
      if (isBusy() && sleepUntilChanged(counters, COUNTER.answered, answered)) patience = PATIENCE;
    }
    this.#receive(take);
    this.#port?.close();
  }
}
