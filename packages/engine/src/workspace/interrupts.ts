/**
 * Ctrl-C during a long restore. The engine works in one piece, and Node tells of a signal only when that is done: the
 * native helper counts signals meanwhile, and the work asks between two files. Without the helper a signal
 * ends the process where it is, and the next command recovers.
 */
import { nativeLook } from "../fs/on-demand.ts";
import type { Interrupt } from "../model/plan.ts";

/** Catches interrupts until it is disposed of; undefined where that cannot be done. */
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
