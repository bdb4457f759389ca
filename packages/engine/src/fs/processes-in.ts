/** The processes whose working directory lies in a directory. Only /proc knows; elsewhere the list is empty. */
import { readdirSync, readlinkSync } from "node:fs";
import { isInside, type AbsolutePath } from "./absolute-path.ts";

/** Processes of other users may be missing. */
export function processesIn(directory: AbsolutePath): number[] {
  return pids().filter((pid) => {
    const cwd = workingDirectory(pid);
    return cwd !== undefined && isInside(cwd, directory);
  });
}

function pids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function workingDirectory(pid: number): AbsolutePath | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`, "latin1") as AbsolutePath;
  } catch {
    return undefined;
  }
}
