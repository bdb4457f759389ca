/** A command that tries the result of a merge, in a scratch copy. */
import { ContractError } from "@belay/protocol/errors";
import { runCommand, type CommandEnd } from "../run/run-command.ts";

/** What a check said about a state. */
export interface CheckRun {
  readonly command: readonly string[];
  readonly exitCode: number;
  readonly durationMs: number;
  /** What it printed. */
  readonly output: string;
}

/** A check of merges that runs this command. */
export function checkWith(
  words: readonly string[],
  { environment, signal }: { environment?: NodeJS.ProcessEnv; signal?: AbortSignal | undefined } = {},
): (directory: string) => Promise<CheckRun> {
  return async (directory) => {
    const ended = await runCommand({
      command: words,
      directory,
      ...(environment && { environment }),
      signal,
    });
    if (ended.how === "stopped") throw interrupted();
    const { stdout, stderr, durationMs } = ended;
    const late = ended.how === "late" ? "it took longer than ten minutes\n" : "";
    return { command: words, exitCode: exitOf(ended), durationMs, output: `${stdout}${stderr}${late}` };
  };
}

/** The exit code that stands for how a command ended. */
export function exitOf({ how, exitCode }: CommandEnd): number {
  if (how === "unstarted") return 127;
  return how === "late" ? 124 : (exitCode ?? 1);
}

/** The error of a merge whose program was ended from outside. */
export function interrupted(): ContractError {
  return new ContractError("CONFIRMATION_REQUIRED", "The merge was interrupted. Nothing was changed.", {
    hint: "Run the command again.",
  });
}
