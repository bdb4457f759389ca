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

function isZombie(pid: number): boolean {
  try {
    return hasProcessEnded(statFields(readFileSync(`/proc/${pid}/stat`, "latin1")));
  } catch {
    return false;
  }
}

/** The fields of /proc/<pid>/stat from the state on; the command's name before it may itself hold parentheses. */
export function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/**
 * True for a zombie, which has ended: its parent only has to notice. A process whose first thread has ended looks
 * like one although its other threads, whose number is the last field looked at, still write.
 */
export function hasProcessEnded({ 0: state, 17: threads }: readonly string[]): boolean {
  return state === "X" || (state === "Z" && Number(threads) <= 1);
}
