/**
 * A process that stands still, stopped by a signal of its own, when it is about to move or open a certain file: however
 * fast the machine is, it is then in the middle of its work until it is told to go on.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface StandingStill {
  /** It stops only while there is a file of this name. */
  readonly flag?: string;
  readonly call?: "renameSync" | "openSync";
}

/** The value of NODE_OPTIONS for it. It stops once. */
export function standsStillAt(name: string, { flag, call = "renameSync" }: StandingStill = {}): string {
  const code = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { ${call}: original } = fs;
    let stops = true;
    fs.${call} = (...words) => {
      const isThere = words.some((word) => String(word).endsWith(${JSON.stringify(`/${name}`)}));
      if (stops && isThere && ${flag === undefined ? "true" : `fs.existsSync(${JSON.stringify(flag)})`}) {
        stops = false;
        process.kill(process.pid, "SIGSTOP");
      }
      return original(...words);
    };
    syncBuiltinESMExports();`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/** Whether a process stands still. */
export function isStandingStill(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
}

/** Returns when a process stands still. */
export async function untilStandingStill(pid: number): Promise<void> {
  while (!isStandingStill(pid)) await sleep(5);
}
