/** What a first capture and its worker agree on. */
import type { MessagePort } from "node:worker_threads";
import type { AbsolutePath } from "../fs/absolute-path.ts";

export interface WorkerTask {
  readonly root: AbsolutePath;
  /** Brings batches, takes packed files back. */
  readonly port: MessagePort;
  readonly counters: SharedArrayBuffer;
}

/** What the two threads count together. */
export const COUNTER = {
  /** Batches that one of the two has taken on. */
  claimed: 0,
  /** Batches that the worker has taken on, and those that it has answered. */
  claimedByWorker: 1,
  answered: 2,
  /** Batches that there are; they only grow until `closed` is 1. */
  offered: 3,
  closed: 4,
} as const;

export const COUNTERS = 5;
