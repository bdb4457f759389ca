/**
 * The processes of a run: those of its group and session, their descendants, and on Linux every process that carries
 * the run's mark in its environment, also one that left the group and was given another parent. A process that cleared
 * its environment and left the session before it was ever seen is not found.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasProcessEnded, isRunning, statFields } from "../state/is-running.ts";
import type { Processes, ProgramProcess } from "./run-record.ts";

/** The variable that marks every process of a run. */
export const RUN_VARIABLE = "BELAY_RUN";

/**
 * The pid of a recorded program, where that program is alive: the system may have given the pid of a dead one to a
 * program that is none of Belay's business.
 */
export function livingPid(program: ProgramProcess | null, processes: Processes): number | null {
  return program !== null && processes.isAlive(program) ? program.pid : null;
}

/** How long processes have to end by themselves. */
const PATIENCE_MS = 5000;
const LOOK_MS = 50;

/** [R101] Ends every process of a run: a request to end, five seconds, then by force. */
export async function endProcesses(
  run: { readonly id: string; readonly pid: number | null },
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<void> {
  signal(run, "SIGTERM");
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    if (processesOf(run).length === 0) return;
    await sleep(LOOK_MS);
  }
  // what they start meanwhile is found by the next look
  for (let left = MOST_LOOKS; left > 0 && processesOf(run).length > 0; left -= 1) {
    signal(run, "SIGKILL");
    await sleep(LOOK_MS);
  }
}

const MOST_LOOKS = 200;

/** The pids of a run's processes that have not ended. */
export function processesOf({ id, pid }: { readonly id: string; readonly pid: number | null }): number[] {
  const all = readProcesses();
  if (all === undefined) return pid !== null && isGroupAlive(pid) ? [pid] : [];
  const found = new Set<number>();
  const mark = `${RUN_VARIABLE}=${id}`;
  for (const each of all) {
    if (each.pid === process.pid) continue;
    const isOurs = pid !== null && (each.group === pid || each.session === pid);
    if (isOurs || environmentOf(each.pid).split("\0").includes(mark)) found.add(each.pid);
  }
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const each of all) if (found.has(each.parent) && each.pid !== process.pid) found.add(each.pid);
  }
  return [...found];
}

function signal(
  run: { readonly id: string; readonly pid: number | null },
  name: "SIGTERM" | "SIGKILL",
): void {
  if (run.pid !== null) kill(-run.pid, name);
  for (const pid of processesOf(run)) kill(pid, name);
}

function kill(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // it ended meanwhile
  }
}

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** Undefined where the system has no /proc. */
function readProcesses(): ProcessRow[] | undefined {
  let names: string[];
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  if (names.length === 0) return undefined;
  return names.flatMap((name) => {
    const fields = statFields(readText(`/proc/${name}/stat`));
    const [, parent, group, session] = fields;
    if (session === undefined || hasProcessEnded(fields)) return [];
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), session: Number(session) }];
  });
}

function environmentOf(pid: number): string {
  return readText(`/proc/${pid}/environ`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function isGroupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return isRunning(pid);
  }
}
