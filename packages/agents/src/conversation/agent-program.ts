/** Runs an agent's own program for a short exchange, and always ends it. */
import { spawn } from "node:child_process";

/** An agent's program to run for a question. */
export interface AgentProgram {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly deadlineMs: number;
}

/** The program while it runs. */
export interface RunningProgram {
  write(text: string): void;
  /** Whole lines of what it prints. */
  readonly lines: AsyncIterable<string>;
  readonly deadline: AbortSignal;
}

/** Runs the program for as long as `work` takes, and ends it. */
export async function withProgram<Result>(
  { command, cwd, environment, deadlineMs }: AgentProgram,
  work: (program: RunningProgram) => Promise<Result>,
): Promise<Result> {
  const [name, ...args] = command;
  const child = spawn(name!, args, { cwd, env: environment, stdio: ["pipe", "pipe", "ignore"] });
  const deadline = AbortSignal.timeout(deadlineMs);
  const failed = new Promise<never>((_, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(new Error(error.code === "ENOENT" ? `${name} is not installed` : error.message)),
    );
    child.on("exit", (code, signal) => reject(new Error(`${name} ended (${code ?? signal})`)));
    deadline.addEventListener("abort", () => reject(new Error(`${name} did not answer in time`)));
  });
  // It may write after the program is gone.
  child.stdin.on("error", () => undefined);
  try {
    const running = work({
      write: (text) => child.stdin.write(text),
      lines: linesOf(child.stdout),
      deadline,
    });
    running.catch(() => undefined);
    return await Promise.race([running, failed]);
  } finally {
    failed.catch(() => undefined);
    child.kill();
    child.stdin.destroy();
    child.stdout.destroy();
  }
}

async function* linesOf(stream: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest = "";
  for await (const part of stream) {
    const lines = (rest + part.toString("utf8")).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}
