/** Facts about processes that only files tell (Linux); elsewhere they are unknown and pids must do. */
import { readFileSync } from "node:fs";

/** When the process started, in the kernel's ticks; undefined where the system does not tell. */
export function readProcessStart(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // the command name in parentheses may itself hold spaces and parentheses
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

/** The id of this boot, "" where there is none: a lease of an earlier boot is dead whatever its pid says. */
export function readBootId(): string {
  return readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
