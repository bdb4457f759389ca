/**
 * What the engine needs from the world besides files: time, new ids, the identity of this process. The only
 * file of the engine that reads the clock or the process; all other code receives a `System`.
 */
import { homedir, tmpdir } from "node:os";
import { randomId } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { LocalTime, System } from "../model/system.ts";
import {
  isZombie,
  readBootId,
  readDescendantStarts,
  readProcessStart,
  readUptimeTicks,
} from "./process-identity.ts";

/** The real system: clock, ids, this process. */
export function createSystem(): System {
  return {
    now: () => Date.now(),
    iso: (ms) => new Date(ms).toISOString(),
    toLocal,
    fromLocal: ({ year, month, day, hour, minute, second }) =>
      new Date(year, month - 1, day, hour, minute, second).getTime(),
    // `performance` would have to load a module first
    elapsed: () => Number(process.hrtime.bigint() / 1000n) / 1000,
    newId: randomId,
    owner: processIdentity(process.pid),
    isAlive,
    hasStarted,
    commandPath: process.env["PATH"] ?? "/usr/bin:/bin",
    homeDirectory: homeDirectory(),
    userId: process.getuid?.(),
  };
}

function toLocal(ms: number): LocalTime {
  const date = new Date(ms);
  return {
    year: date.getFullYear(),
    month: date.getMonth() + 1,
    day: date.getDate(),
    hour: date.getHours(),
    minute: date.getMinutes(),
    second: date.getSeconds(),
  };
}

/** Where programs put files that may be swept away. */
export function temporaryDirectory(): string {
  return tmpdir();
}

/** The identity of a running process. */
export function processIdentity(pid: number): ProcessIdentity {
  return { pid, started: readProcessStart(pid) ?? "", boot: readBootId() };
}

function hasStarted({ pid }: ProcessIdentity, since: number): boolean | undefined {
  const uptime = readUptimeTicks();
  const starts = readDescendantStarts(pid);
  if (uptime === undefined || starts === undefined) return undefined;
  // a process started in the same hundredth of a second counts
  const sinceTicks = uptime - Math.ceil((Date.now() - since) / 10) - 1;
  return starts.some((ticks) => ticks >= sinceTicks);
}

/**
 * A user without a name and without `HOME` has no home directory. `/` serves, since it is never protected
 * either.
 */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

function isAlive(owner: ProcessIdentity): boolean {
  if (owner.boot !== readBootId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  if (isZombie(owner.pid)) return false;
  const started = readProcessStart(owner.pid);
  return started === undefined || owner.started === "" || started === owner.started;
}
