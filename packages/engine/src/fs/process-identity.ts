/** Facts about processes that only Linux exposes as files. Elsewhere they are unknown and pids must do. */
import { readdirSync, readFileSync } from "node:fs";

/** The start time of a process in kernel ticks; undefined where the system does not report it. */
export function readProcessStart(pid: number): string | undefined {
  return readFacts(pid)?.[19];
}

/**
 * True for a process that has ended but was not reaped by its parent, which may never happen: the first
 * process of many containers does not reap. A zombie still has a pid and a start time.
 */
export function isZombie(pid: number): boolean {
  const facts = readFacts(pid);
  if (facts?.[0] === "X") return true;
  // the first thread of a process may have ended while others still write: [17] is their number
  return facts?.[0] === "Z" && Number(facts[17]) <= 1;
}

/** The fields of /proc/<pid>/stat from the state on. */
function readFacts(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // the command name in parentheses may itself contain spaces and parentheses
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/**
 * The id of this boot, "" where there is none. A lease of an earlier boot is dead even if its pid is in use
 * again.
 */
export function readBootId(): string {
  return readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/** How long the system has been up, in kernel ticks (hundredths of a second). */
export function readUptimeTicks(): number | undefined {
  const seconds = readText("/proc/uptime")?.split(" ")[0];
  return seconds === undefined ? undefined : Math.floor(Number(seconds) * 100);
}

/**
 * The start times of all descendants of a process, in kernel ticks; undefined where the kernel has no child
 * lists.
 */
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
  // a thread may have ended meanwhile; if every list is missing, the kernel was built without them
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
