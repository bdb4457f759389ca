/** Facts about processes that only files tell (Linux); elsewhere they are unknown and pids must do. */
import { readdirSync, readFileSync } from "node:fs";

/** When the process started, in the kernel's ticks; undefined where the system does not tell. */
export function readProcessStart(pid: number): string | undefined {
  return readFacts(pid)?.[19];
}

/**
 * True for a process that has ended and whose parent has not taken notice yet, which may be never: the first process of
 * many containers does not. It has a number and a start, and does nothing any more.
 */
export function isZombie(pid: number): boolean {
  const state = readFacts(pid)?.[0];
  return state === "Z" || state === "X";
}

/** What the kernel tells of a process, from its state on. */
function readFacts(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // the command name in parentheses may itself hold spaces and parentheses
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** The id of this boot, "" where there is none: a lease of an earlier boot is dead whatever its pid says. */
export function readBootId(): string {
  return readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/** How long the system has been up, in the kernel's ticks (hundredths of a second). */
export function readUptimeTicks(): number | undefined {
  const seconds = readText("/proc/uptime")?.split(" ")[0];
  return seconds === undefined ? undefined : Math.floor(Number(seconds) * 100);
}

/** When each process below another one started, in the kernel's ticks; undefined where the kernel keeps no such lists. */
export function readDescendantStarts(pid: number): number[] | undefined {
  const children = readChildren(pid);
  if (children === undefined) return undefined;
  return children.flatMap((child) => [
    Number(readProcessStart(child) ?? 0),
    ...(readDescendantStarts(child) ?? []),
  ]);
}

function readChildren(pid: number): number[] | undefined {
  let lists: (string | undefined)[];
  try {
    lists = readdirSync(`/proc/${pid}/task`).map((task) => readText(`/proc/${pid}/task/${task}/children`));
  } catch {
    return undefined;
  }
  // a thread may have ended meanwhile; without any list the kernel was built without them
  if (lists.every((list) => list === undefined)) return undefined;
  return lists.flatMap((list) =>
    (list ?? "")
      .split(" ")
      .filter((text) => text !== "")
      .map(Number),
  );
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
