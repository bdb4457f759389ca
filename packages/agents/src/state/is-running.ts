/** Whether a process is still running. */
import { readFileSync } from "node:fs";

/** True while a process with this pid exists; one that has ended and was not reaped does not count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return !isZombie(pid);
}

/** The state follows the command's name, which may itself hold parentheses. */
function isZombie(pid: number): boolean {
  try {
    return /^.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
