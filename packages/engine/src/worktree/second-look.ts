/**
 * A second thread for the scan of a big tree by a new process: nearly all of such a scan is one `lstat` for each
 * entry, which two threads do in half the time. A thread takes as long to start as the process itself, so it is
 * started before anything else, and only for trees that were big the last time.
 */
import type { Worker } from "node:worker_threads";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { workerThreads } from "../fs/on-demand.ts";
import { CLAIM, type LookTask, type SharedTable } from "./second-look-protocol.ts";
import { sleepUntilChanged } from "./sleep.ts";

export class SecondLook {
  readonly #worker: Worker;
  #isTaken = false;

  constructor() {
    const file = import.meta.url.endsWith(".ts") ? "./second-look-worker.ts" : "./second-look-worker.js";
    this.#worker = new (workerThreads().Worker)(new URL(file, import.meta.url), { trackUnmanagedFds: false });
    // without it the scan looks at everything itself
    this.#worker.on("error", () => undefined);
    this.#worker.unref();
  }

  /**
   * The other thread begins at the end of the table. The answer tells of a directory whether that thread has seen
   * all its entries to be as before; if not, it is the caller's to look at. Good for one scan.
   */
  begin(root: AbsolutePath, table: SharedTable): ((directory: number) => boolean) | undefined {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    const claims = new Int32Array(new SharedArrayBuffer(table.entryCount.length * 4));
    const task: LookTask = { root, table, claims };
    this.#worker.postMessage(task);
    return (directory) => hasSeenSame(claims, directory);
  }
}

function hasSeenSame(claims: Int32Array, directory: number): boolean {
  Atomics.compareExchange(claims, directory, CLAIM.free, CLAIM.first);
  while (Atomics.load(claims, directory) === CLAIM.second)
    if (!sleepUntilChanged(claims, directory, CLAIM.second)) return false;
  return Atomics.load(claims, directory) === CLAIM.same;
}
