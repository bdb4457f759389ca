/**
 * Runs a command of the user to its end: in a directory, without a shell, with a limit of time and of output. [R101] When
 * it returns, no process of the command is left, however it ended.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { endProcesses, RUN_VARIABLE } from "./process-tree.ts";

/** A command and where it runs. */
export interface CommandRequest {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  /** What it reads on its standard input; defaults to nothing. */
  readonly input?: string;
  /** Ends it before its time. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of it. */
export interface CommandEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** Null where it did not end by itself. */
  readonly exitCode: number | null;
  /** `late`: it was ended after its time. `stopped`: by the signal. `unstarted`: the error output says why. */
  readonly how: "exit" | "late" | "stopped" | "unstarted";
  /** True when it printed more than is read. */
  readonly isCut: boolean;
  readonly durationMs: number;
}

const TIMEOUT_MS = 10 * 60 * 1000;
/** Of each output this much is read. */
export const MOST_OUTPUT_BYTES = 16 << 20;

/** Runs a command in a directory until it ends, is stopped or takes too long. */
export async function runCommand(request: CommandRequest): Promise<CommandEnd> {
  const [program = "", ...args] = request.command;
  const { timeoutMs = TIMEOUT_MS, signal, input } = request;
  const id = randomUUID();
  const started = Date.now();
  const child = spawn(program, args, {
    cwd: request.directory,
    env: { ...(request.environment ?? process.env), [RUN_VARIABLE]: id },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const [stdout, stderr] = [new Collected(child.stdout), new Collected(child.stderr)];
  let how: CommandEnd["how"] = "exit";
  const end = (why: "late" | "stopped") => {
    how = why;
    void endProcesses({ id, pid: child.pid ?? null });
  };
  const timer = setTimeout(() => end("late"), timeoutMs);
  const stop = () => end("stopped");
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      how = "unstarted";
      stderr.add(`${program} could not be started: ${error.message}\n`);
      resolve(null);
    });
    // its output may be held open by a process that it left behind
    child.once("exit", () => void endProcesses({ id, pid: child.pid ?? null }));
    child.once("close", (code) => resolve(code));
  });
  clearTimeout(timer);
  signal?.removeEventListener("abort", stop);
  await endProcesses({ id, pid: child.pid ?? null });
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode,
    how,
    isCut: stdout.isCut || stderr.isCut,
    durationMs: Date.now() - started,
  };
}

/** What a program prints, up to a limit: the rest is read and dropped, so that the program does not wait. */
class Collected {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(stream: NodeJS.ReadableStream) {
    stream.on("data", (part: Buffer) => {
      this.#bytes += part.length;
      if (!this.isCut) this.#parts.push(part);
    });
  }

  add(text: string): void {
    this.#parts.push(Buffer.from(text));
  }

  get isCut(): boolean {
    return this.#bytes > MOST_OUTPUT_BYTES;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}
