/**
 * The content of a big first capture, read by this thread and one worker: this one takes batches from
 * the front, the worker from the back, until they meet. Everything here is synchronous: the worker's
 * packs are received between batches, so that they go into the store as they come.
 */
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from "node:worker_threads";
import { sleepUntilChanged } from "./sleep.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { FILE, GAP } from "./file-table.ts";
import { packFiles, type FileToPack, type PackedFiles } from "./pack-files.ts";
import type { WorkerTask } from "./pack-worker.ts";
import type { Scan } from "./scan.ts";

/** Below this many files a worker costs more than it saves. */
export const PARALLEL_FILES = 4000;
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_FILES = 200;

export type ReadProgress = (progress: { done: number; total: number; bytes: number }) => void;

/** Reads what it can; files that need care stay without a hash, for `captureTree` to read. */
export function readInParallel(input: { root: AbsolutePath; scan: Scan; writer: ObjectWriter; progress?: ReadProgress | undefined }): void {
  const { root, scan, writer } = input;
  const batches = toBatches(scan);
  const shared = new SharedArrayBuffer(12);
  const counters = new Int32Array(shared);
  const { port1, port2 } = new MessageChannel();
  startWorker({ root, batches, port: port2, shared });
  const total = scan.pending.length;
  let [done, bytes] = [0, 0];
  const take = ({ packs, read }: PackedFiles) => {
    for (const pack of packs) writer.putPack(pack);
    for (const { at, hash } of read) scan.table.setHash(scan.pending[at]!, hash);
    done += read.length;
    for (const pack of packs) bytes += pack.rawBytes;
    input.progress?.({ done, total, bytes });
  };
  const known = new Set<ObjectHash>();
  for (let index = 0; Atomics.add(counters, 0, 1) < batches.length; index += 1) {
    take(packFiles(root, batches[index]!, known));
    receive(port1, take);
  }
  finish(port1, counters, take);
}

function toBatches({ table, pending, pendingPaths }: Scan): FileToPack[][] {
  const batches: FileToPack[][] = [];
  let batch: FileToPack[] = [];
  let bytes = 0;
  pending.forEach((index, at) => {
    if (table.kind[index] !== FILE || table.kind[index] === GAP) return;
    const size = table.size[index]!;
    batch.push({ at, path: pendingPaths[at]!, size, mtimeNs: table.mtimeNs[index]!, ctimeNs: table.ctimeNs[index]! });
    bytes += size;
    if (bytes < BATCH_BYTES && batch.length < BATCH_FILES) return;
    batches.push(batch);
    batch = [];
    bytes = 0;
  });
  if (batch.length > 0) batches.push(batch);
  return batches;
}

function startWorker(task: WorkerTask): void {
  const file = import.meta.url.endsWith(".ts") ? "./pack-worker.ts" : "./pack-worker.js";
  const worker = new Worker(new URL(file, import.meta.url), { workerData: task, transferList: [task.port] });
  worker.unref();
}

/** Takes what the worker has sent so far. */
function receive(port: MessagePort, take: (packed: PackedFiles) => void): void {
  for (let message = receiveMessageOnPort(port); message !== undefined; message = receiveMessageOnPort(port)) {
    const { packs, read } = message.message as PackedFiles;
    take({ read, packs: packs.map((pack) => ({ ...pack, data: Buffer.from(pack.data) })) });
  }
}

/** Waits for what the worker has claimed; if it died over it, the files are left to be read carefully. */
function finish(port: MessagePort, counters: Int32Array, take: (packed: PackedFiles) => void): void {
  const isBusy = () => Atomics.load(counters, 1) < Atomics.load(counters, 2);
  for (let patience = PATIENCE; patience > 0 && isBusy(); patience -= 1) {
    if (sleepUntilChanged(counters, 1, Atomics.load(counters, 1))) patience = PATIENCE;
  }
  receive(port, take);
  port.close();
}

/** Tenths of a second without a sign of life. */
const PATIENCE = 100;
