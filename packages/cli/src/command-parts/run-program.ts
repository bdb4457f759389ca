/** Runs another program in the foreground: it has the terminal and gets the signals, and we end with it. */
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";

/** How the program ended. */
export interface Ended {
  /** Its exit code; 128 + n for signal n; 127 not found, 126 not executable. */
  readonly exit: number;
  /** Why it did not start. */
  readonly failure?: string;
}

/** Runs a program and waits for its end. */
export async function runProgram(words: readonly string[], directory: string): Promise<Ended> {
  const [program = "", ...args] = words;
  const passOnTo = listenForSignals();
  const child = spawn(program, args, { cwd: directory, stdio: "inherit" });
  passOnTo(child);
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const exit = error.code === "EACCES" ? 126 : 127;
      resolve({ exit, failure: `${program} could not be started (${error.code ?? error.message})` });
    });
    child.once("exit", (code, signal) => {
      resolve({ exit: signal === null ? (code ?? 1) : 128 + constants.signals[signal] });
    });
  });
}

/**
 * Passes signals on. We listen before the program starts, so that a signal meanwhile does not end us and
 * leave the program behind. We listen after its end too, because many agents end with a second Ctrl-C, which
 * must not hit the checkpoint that follows.
 */
function listenForSignals(): (child: ChildProcess) => void {
  let program: ChildProcess | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    process.on(signal, () => {
      // a terminal sends Ctrl-C to both processes: passed on, it would count twice
      const fromTerminal =
        (signal === "SIGINT" || signal === "SIGQUIT") && [0, 1, 2].some((fd) => isatty(fd));
      if (!fromTerminal) program?.kill(signal);
    });
  }
  return (child) => void (program = child);
}
