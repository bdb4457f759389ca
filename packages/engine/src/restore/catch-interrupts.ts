/**
 * Ctrl-C during a long restore. A restore runs without returning to the event loop, so Node cannot deliver signals
 * meanwhile. The native helper counts them, and the restore looks at the count between two files. Without
 * the helper a signal ends the process at once, and the next command recovers.
 */
import { nativeLook } from "../fs/on-demand.ts";
import type { Interrupt } from "../model/plan.ts";

/** Counts interrupts until it is disposed of; undefined without the native helper. */
export function catchInterrupts(takingBack: Interrupt["takingBack"]): (Interrupt & Disposable) | undefined {
  const native = nativeLook();
  if (native === undefined) return undefined;
  native.catchSignals();
  return {
    count: () => native.signalsCaught(),
    takingBack,
    [Symbol.dispose]: () => native.releaseSignals(),
  };
}
