/** Whether a process still does anything. */
import { readFileSync } from "node:fs";

/** True while a process of this number is there; one that has ended and waits for its parent to notice is not. */
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
