/**
 * The agent's own process, found from a hook: the nearest process above it that is not a shell. Its pid and
 * start time travel as `BELAY_CLIENT` with the hook's other variables, so that every way to carry an event
 * out has them.
 */
import { readFileSync } from "node:fs";

/** A process, precisely enough that a reused pid is not mistaken for it. */
export interface ClientProcess {
  readonly pid: number;
  /** In the kernel's ticks. */
  readonly started: string;
}

/** The variable that carries the agent's process from the hook to the work. */
export const CLIENT_VARIABLE = "BELAY_CLIENT";

/** Programs that only start other programs, the hook's own files included. */
export const SHELLS =
  "belay-hook belay-hook-long sh bash dash ash zsh ksh mksh fish busybox env timeout setsid nice";
/** How many processes up the search goes. */
export const MOST_SHELLS = 6;

/** The variable's value: process number and start time; "" where the system does not tell. */
export function findClient(parent: number): string {
  let pid = parent;
  for (let count = 0; count < MOST_SHELLS && pid > 1; count += 1) {
    const stat = readStat(pid);
    const name = /\((.*)\)/s.exec(stat)?.[1];
    if (name === undefined) return "";
    const facts = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (!SHELLS.split(" ").includes(name)) return `${pid} ${facts[19]}`;
    pid = Number(facts[1]);
  }
  return "";
}

/** A process as the variable holds it. */
export function formatClient({ pid, started }: ClientProcess): string {
  return `${pid} ${started}`;
}

/** The process that the variable holds, if any. */
export function parseClient(variable: string | undefined): ClientProcess | undefined {
  const [, pid, started] = /^(\d+) (\d+)$/.exec(variable ?? "") ?? [];
  return pid === undefined || started === undefined ? undefined : { pid: Number(pid), started };
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return "";
  }
}
