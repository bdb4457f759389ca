/**
 * A hook without a resident process: a process of its own does the work, and goes on when the hook has to leave. A capture
 * blocks the process that takes it, so no timer in that process could keep a deadline.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { ownEnvironment } from "../resident/own-environment.ts";
import type { HookEvent } from "./run-hook-alone.ts";

/** The worker's input. */
export type WorkerInput = Omit<HookEvent, "input"> & { readonly input: string };

/** A worker process and its answer. */
export interface HookWorker {
  readonly pid: number | null;
  /** What to print; rejects when the worker failed. */
  readonly answer: Promise<string>;
}

/** Starts a process that carries out one event of a hook. */
export function startHookWorker(home: string, event: HookEvent): HookWorker {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, [process.argv[1]!, "--home", home, "hook-worker"], {
    // the agent may kill whatever it started when it is interrupted
    detached: true,
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
    env: ownEnvironment(),
  });
  const input: WorkerInput = { ...event, input: event.input.toString("utf8") };
  child.stdin.on("error", () => undefined).end(JSON.stringify(input));
  return { pid: child.pid ?? null, answer: answerOf(child) };
}

async function answerOf(child: ChildProcess): Promise<string> {
  let answer = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (answer += text));
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0 || answer === "") throw new Error(`the hook's worker ended with ${status}`);
  return answer;
}
