/** Modules of Node that few commands need and that take milliseconds to load. */
import type * as ChildProcesses from "node:child_process";
import { createRequire } from "node:module";
import type * as WorkerThreads from "node:worker_threads";

const load = createRequire(import.meta.url);

export function childProcesses(): typeof ChildProcesses {
  return load("node:child_process") as typeof ChildProcesses;
}

export function workerThreads(): typeof WorkerThreads {
  return load("node:worker_threads") as typeof WorkerThreads;
}
