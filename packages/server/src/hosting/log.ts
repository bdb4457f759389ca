/** The resident process's log: one JSON object per line, in a file that is rotated before it grows large. */
import { appendFileSync, renameSync, statSync } from "node:fs";

/** The facts of a log line. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** Where the resident process reports what it does. */
export interface Log {
  info(message: string, facts?: LogFacts): void;
  error(message: string, facts?: LogFacts): void;
}

const LARGEST_BYTES = 1024 * 1024;
const KEPT = 3;

/** A log that appends JSON lines to a file. */
export function createFileLog(path: string, clock: () => number): Log {
  const write = (level: string, message: string, facts: LogFacts = {}) => {
    const line = JSON.stringify({ time: new Date(clock()).toISOString(), level, message, ...facts });
    try {
      turnOver(path);
      appendFileSync(path, `${line}\n`, { mode: 0o600 });
    } catch {
      // a full disk must not end the process
    }
  };
  return {
    info: (message, facts) => write("info", message, facts),
    error: (message, facts) => write("error", message, facts),
  };
}

function turnOver(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < LARGEST_BYTES) return;
  for (let kept = KEPT - 1; kept > 0; kept -= 1) {
    try {
      renameSync(kept === 1 ? path : `${path}.${kept - 1}`, `${path}.${kept}`);
    } catch {
      // the first time there is nothing to rotate
    }
  }
}
