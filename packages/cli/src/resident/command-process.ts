/** Commands that the resident process has done by a process of its own, because they would keep it from serving. */
import type { RunCommand, WorkProgress } from "@belay/server";
import { ownEnvironment } from "./own-environment.ts";

/** Runs commands that nothing waits for, with low priority; an error that they report is thrown. */
export function backgroundCommand(
  home: string,
): (directory: string, words: readonly string[], how: { retryMs: number }) => Promise<object> {
  return async (directory, words, { retryMs }) => {
    const run = commandProcess(home, { isLow: true, variables: { BELAY_SYNC_RETRY_MS: String(retryMs) } });
    const { signal } = new AbortController();
    const answer = await run(directory, words, { progress: () => undefined, signal });
    const { error } = answer as { error?: { code: string; message: string } };
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    return answer;
  };
}

/** Runs commands on the stores of a home. */
export function commandProcess(
  home: string,
  { isLow = false, variables = {} }: { isLow?: boolean; variables?: Record<string, string> } = {},
): RunCommand {
  return (directory, words, { progress, input, signal }) =>
    new Promise((done, fail) => {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const options = ["--json", "--home", home, "-C", directory];
      const child = spawn(process.execPath, [process.argv[1]!, ...options, ...words], {
        cwd: "/",
        stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe", "ipc"],
        env: ownEnvironment({ BELAY_RESIDENT: "off", ...variables }),
      });
      if (isLow) lowerPriority(child.pid);
      const [said, troubles]: [Buffer[], Buffer[]] = [[], []];
      child.stdout!.on("data", (piece: Buffer) => said.push(piece));
      child.stderr!.on("data", (piece: Buffer) => troubles.push(piece));
      child.on("message", (message) => progress(message as WorkProgress));
      child.on("error", fail);
      signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
      // a command that ends before it has read everything says why
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
      child.on("close", (code, killedBy) => {
        try {
          done(JSON.parse(Buffer.concat(said).toString("utf8")) as object);
        } catch {
          const why = Buffer.concat(troubles).toString("utf8").trim();
          fail(new Error(`belay ${words[0]} ended with ${killedBy ?? code} and said: ${why}`));
        }
      });
    });
}

/** Where the system does not allow it, the work is done all the same. */
function lowerPriority(pid: number | undefined): void {
  try {
    const { constants, setPriority } = process.getBuiltinModule("node:os");
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // not worth a word
  }
}

/** A reader does not look more often. */
const TELL_MS = 100;
let toldAt = 0;

/** Tells the process that started this command how far it has come, if it was started that way. */
export function tellParentProcess(progress: WorkProgress): void {
  if (!process.connected || performance.now() - toldAt < TELL_MS) return;
  toldAt = performance.now();
  process.send?.(progress);
}
