/** Progress of an exchange with a remote: the caller gets every step, readers of events hear of it twice a second. */
import type { Exchange, SyncProgress } from "@belay/engine";

/** One step of an exchange. */
export type SyncStep = Pick<SyncProgress, "phase" | "bytes" | "bytesTotal" | "objects" | "objectsTotal">;

const TELL_MS = 500;

/** Tells readers of events how far an exchange is. */
export function tellingProgress(
  exchange: Exchange,
  which: Pick<SyncProgress, "remote" | "direction">,
  now: () => number,
): (step: SyncStep) => void {
  const begun = now();
  let toldAt = begun;
  return (step) => {
    const at = now();
    if (at - toldAt < TELL_MS) return;
    toldAt = at;
    const perMs = step.bytes / Math.max(1, at - begun);
    const left = step.bytesTotal - step.bytes;
    const etaMs = perMs === 0 ? null : Math.round(left / perMs);
    exchange.tell({
      type: "sync_progress",
      ...which,
      ...step,
      bytesPerSecond: Math.round(perMs * 1000),
      etaMs,
    });
  };
}
