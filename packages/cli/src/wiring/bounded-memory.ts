/**
 * Keeps a process small that exchanges hundreds of megabytes. V8 lets its young generation grow to 48 MiB, and frees buffers
 * late: a push of 20,000 files took 300 MiB, and takes a third less with this, in the same time.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bounds the memory of this process from now on; what is returned collects garbage at once. */
export function boundMemory(): () => void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
