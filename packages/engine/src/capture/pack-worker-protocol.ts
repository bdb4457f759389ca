/** What the main thread of a first capture and its worker share. */
import type { MessagePort } from "node:worker_threads";
import type { AbsolutePath } from "../fs/absolute-path.ts";

/** What the worker starts with. */
export interface WorkerTask {
  readonly root: AbsolutePath;
  /** Batches come in, packed files go out. */
  readonly port: MessagePort;
  readonly counters: SharedArrayBuffer;
}

/** The places of the counters that both threads see. */
export const COUNTER = {
  /** Batches that either thread has claimed. */
  claimed: 0,
  /** Batches that the worker has claimed, and those it has answered. */
  claimedByWorker: 1,
  answered: 2,
  /** Batches offered so far; grows until `closed` is 1. */
  offered: 3,
  closed: 4,
} as const;

/** How many counters there are. */
export const COUNTERS = 5;
