/** Modules of Node that few commands need and that take milliseconds to load. */
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

export function childProcesses(): typeof import("node:child_process") {
  return load("node:child_process") as typeof import("node:child_process");
}

export function workerThreads(): typeof import("node:worker_threads") {
  return load("node:worker_threads") as typeof import("node:worker_threads");
}
