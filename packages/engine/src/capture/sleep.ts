/** Waiting on the thread itself: a capture is synchronous from beginning to end. */

/** Blocks this thread for a time. */
export function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Waits a little for a shared counter to move on; false when it did not. */
export function sleepUntilChanged(counters: Int32Array, index: number, seen: number): boolean {
  return Atomics.wait(counters, index, seen, 100) !== "timed-out";
}
