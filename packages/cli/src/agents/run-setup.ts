/** Runs the program that prepares a fork; what it prints goes to the error output. */
import { spawn } from "node:child_process";

/** Why it failed; undefined when it did not. */
export function runSetup(
  words: readonly string[],
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const [program = "", ...args] = words;
  const child = spawn(program, args, { cwd: directory, env: environment, stdio: ["ignore", 2, 2] });
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(`${program} could not be started (${error.code ?? error.message})`),
    );
    child.once("exit", (code, signal) =>
      resolve(code === 0 ? undefined : `${program} ended with ${signal ?? `exit code ${code}`}`),
    );
  });
}
