/** The worker of a first capture: packs batches in the order in which the scan finds them. */
import { receiveMessageOnPort, workerData } from "node:worker_threads";
import type { ObjectHash } from "../model/object-hash.ts";
import { packFiles, type FileToPack } from "./pack-files.ts";
import { COUNTER, type WorkerTask } from "./pack-worker-protocol.ts";
import { sleepUntilChanged } from "./sleep.ts";

const { root, port, counters: shared } = workerData as WorkerTask;
const counters = new Int32Array(shared);
const known = new Set<ObjectHash>();

for (let next = 0; claimNext(next); next += 1) {
  const batch = receiveMessageOnPort(port)!.message as readonly FileToPack[];
  port.postMessage(packFiles(root, batch, known));
  Atomics.add(counters, COUNTER.answered, 1);
  Atomics.notify(counters, COUNTER.answered);
}

/** Waits for the next batch; false when there will be none, or the main thread has taken it from the other end. */
function claimNext(next: number): boolean {
  for (let offered = 0; (offered = Atomics.load(counters, COUNTER.offered)) <= next;) {
    if (Atomics.load(counters, COUNTER.closed) === 1) return false;
    sleepUntilChanged(counters, COUNTER.offered, offered);
  }
  // counted before the claim: a thread that sees the claim waits for the answer
  Atomics.add(counters, COUNTER.claimedByWorker, 1);
  if (Atomics.add(counters, COUNTER.claimed, 1) < Atomics.load(counters, COUNTER.offered)) return true;
  Atomics.sub(counters, COUNTER.claimedByWorker, 1);
  return false;
}
