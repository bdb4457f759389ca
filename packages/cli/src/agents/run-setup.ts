/** Runs the program that prepares a fork; what it prints goes to the error output. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { endProcesses, RUN_VARIABLE } from "@belay/agents/orchestration";

/** Where a set-up works, with which variables, and how long it may take. */
export interface SetupPlace {
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The run that the fork is made for: stopping it ends the set-up. */
  readonly run: string | undefined;
  readonly timeoutMs: number;
}

/** Why it failed; undefined when it did not. [R1754] When its time is over it is ended, with every process of it. */
export async function runSetup(
  words: readonly string[],
  { directory, environment, run, timeoutMs }: SetupPlace,
): Promise<string | undefined> {
  const [program = "", ...args] = words;
  const id = run ?? randomUUID();
  // in the group of this process: Ctrl-C ends both
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...environment, [RUN_VARIABLE]: id },
    stdio: ["ignore", 2, 2],
  });
  let ending: Promise<void> | undefined;
  const timer = setTimeout(() => {
    ending = endProcesses({ id, pid: child.pid ?? null });
  }, timeoutMs);
  const problem = await problemOf(child, program);
  clearTimeout(timer);
  if (ending === undefined) return problem;
  await ending;
  return `${program} was ended because it took longer than ${timeoutMs / 60_000} minutes`;
}

function problemOf(child: ChildProcess, program: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(`${program} could not be started (${error.code ?? error.message})`),
    );
    child.once("exit", (code, signal) =>
      resolve(code === 0 ? undefined : `${program} ended with ${signal ?? `exit code ${code}`}`),
    );
  });
}
