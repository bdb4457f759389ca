/**
 * The log of failures in hooks: written without the host, which may be what is broken; `belay doctor` reads
 * it.
 */
import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { shorten } from "../events/describe.ts";
import { textOf, type Payload } from "../events/payload.ts";
import { makePrivateDirectory } from "./private-directory.ts";

/** A failure in a hook while its agent continued. */
export interface Trouble {
  readonly agent: string;
  readonly event: string;
  readonly problem: string;
}

const LOG_LIMIT = 256 << 10;

/** Appends to the log of what went wrong in hooks; never throws. */
export function logTrouble(home: string, trouble: Trouble, now: number): void {
  try {
    makePrivateDirectory(join(home, "agents"));
    const log = join(home, "agents", "trouble.log");
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT) renameSync(log, `${log}.old`);
    appendFileSync(log, `${JSON.stringify({ at: new Date(now).toISOString(), ...trouble })}\n`, {
      mode: 0o600,
    });
  } catch {
    // The user still gets the warning in the answer.
  }
}

/** The warning for the user that a step may not be captured. */
export function notCaptured(problem: string): string {
  return `Belay: this step may not be captured (${problem}). \`belay doctor\` says more.`;
}

/** The event's own name, as its agent spells it. */
export function eventName(payload: Payload): string {
  return shorten(textOf(payload, "hook_event_name", "hookName", "belay_event", "type") ?? "unknown", 60);
}
