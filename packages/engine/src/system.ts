/**
 * What the engine needs from the world besides files: the time, fresh ids, who this process is.
 * The only file of the engine that reads the clock or the process; everything else is handed a `System`.
 */
import { homedir } from "node:os";
import { randomId } from "./model/ids.ts";
import type { ProcessIdentity } from "./model/process-identity.ts";
import type { System } from "./model/system.ts";
import { readBootId, readProcessStart } from "./fs/process-identity.ts";

export function createSystem(): System {
  return {
    now: () => Date.now(),
    iso: (ms) => new Date(ms).toISOString(),
    // `performance` would load a module of its own first
    elapsed: () => Number(process.hrtime.bigint() / 1000n) / 1000,
    newId: randomId,
    owner: { pid: process.pid, started: readProcessStart(process.pid) ?? "", boot: readBootId() },
    isAlive,
    commandPath: process.env["PATH"] ?? "/usr/bin:/bin",
    homeDirectory: homedir(),
    userId: process.getuid?.(),
  };
}

function isAlive(owner: ProcessIdentity): boolean {
  if (owner.boot !== readBootId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const started = readProcessStart(owner.pid);
  return started === undefined || owner.started === "" || started === owner.started;
}
