/**
 * What the engine needs from the world besides files: the time, fresh ids, who this process is.
 * The only file of the engine that reads the clock or the process; everything else is handed a `System`.
 */
import { homedir } from "node:os";
import { randomId } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { System } from "../model/system.ts";
import {
  isZombie,
  readBootId,
  readDescendantStarts,
  readProcessStart,
  readUptimeTicks,
} from "./process-identity.ts";

export function createSystem(): System {
  return {
    now: () => Date.now(),
    iso: (ms) => new Date(ms).toISOString(),
    // `performance` would load a module of its own first
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

/** A process that is running now. */
export function processIdentity(pid: number): ProcessIdentity {
  return { pid, started: readProcessStart(pid) ?? "", boot: readBootId() };
}

function hasStarted({ pid }: ProcessIdentity, since: number): boolean | undefined {
  const uptime = readUptimeTicks();
  const starts = readDescendantStarts(pid);
  if (uptime === undefined || starts === undefined) return undefined;
  // a process that started in the same hundredth of a second counts
  const sinceTicks = uptime - Math.ceil((Date.now() - since) / 10) - 1;
  return starts.some((ticks) => ticks >= sinceTicks);
}

/** A user whom the system does not know by name, and who has no `HOME`, has none: `/` is as good as a home to keep out of. */
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
