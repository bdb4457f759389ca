/** The worker of a first capture: takes batches from the end of the list until the two threads meet. */
import { workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { packFiles, type FileToPack, type PackedFiles } from "./pack-files.ts";

export interface WorkerTask {
  readonly root: AbsolutePath;
  readonly batches: readonly (readonly FileToPack[])[];
  readonly port: MessagePort;
  /** [batches claimed in all, messages sent by the worker, batches claimed by the worker] */
  readonly shared: SharedArrayBuffer;
}

const { root, batches, port, shared } = workerData as WorkerTask;
const counters = new Int32Array(shared);
const known = new Set<ObjectHash>();

function send(message: PackedFiles): void {
  port.postMessage(message);
  Atomics.add(counters, 1, 1);
  Atomics.notify(counters, 1);
}

for (let index = batches.length - 1; Atomics.add(counters, 0, 1) < batches.length; index -= 1) {
  Atomics.add(counters, 2, 1);
  const packed = packFiles(root, batches[index]!, known);
  send(packed);
}
