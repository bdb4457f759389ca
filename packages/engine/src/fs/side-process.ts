/** Starts a second Node process beside this one; it shares one descriptor (number 3) and nothing else. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface SideProcess {
  /** Ends it, if it has not ended by itself. */
  stop(): void;
}

export function startSideProcess(node: string, script: URL, options: { args: readonly string[]; descriptor: number }): SideProcess {
  const child = spawn(node, [fileURLToPath(script), ...options.args], {
    stdio: ["ignore", "ignore", "ignore", options.descriptor],
    env: {},
  });
  child.unref();
  // one that does not start does no work; whoever started it does without
  child.on("error", () => undefined);
  return { stop: () => void child.kill("SIGKILL") };
}
