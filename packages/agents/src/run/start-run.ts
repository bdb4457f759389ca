/** Starts an agent's program for a run that has begun: no shell, a process group of its own, output into files. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { filledIn, PROMPT } from "./agent-template.ts";
import { RUN_VARIABLE } from "./process-tree.ts";
import { openForProgram, writePromptFile } from "./run-log.ts";
import type { Processes, ProgramProcess, RunRecord } from "./run-record.ts";
import type { ProgramEnd } from "./watch-run.ts";

/** What starting needs. */
export interface Start {
  readonly run: RunRecord;
  readonly directory: string;
  /** The conversation to go on with. */
  readonly session: string | null;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: Processes;
}

/** A program that was started. */
export interface StartedProgram {
  readonly process: ProgramProcess;
  readonly ended: Promise<ProgramEnd>;
}

/** Belay's own variables that are not the agent's business. */
const OWN = ["BELAY_TOKEN", "BELAY_HOOK_TOKEN"];

/** Starts the program; throws where it cannot be started. */
export async function startProgram(start: Start): Promise<StartedProgram> {
  const { run, directory, session, processes } = start;
  const [program = "", ...args] = filledIn(run.command, run.prompt, session);
  const readsPrompt = !run.command.some((word) => word.includes(PROMPT));
  const input = readsPrompt ? writePromptFile(dirname(run.log!.stdout), run.prompt) : "/dev/null";
  const files = [openSync(input, "r"), openForProgram(run.log!.stdout), openForProgram(run.log!.stderr)];
  try {
    const environment: NodeJS.ProcessEnv = { ...start.environment, [RUN_VARIABLE]: run.id };
    for (const name of OWN) delete environment[name];
    const child = spawn(program, args, { cwd: directory, env: environment, stdio: files, detached: true });
    // an agent goes on although the process that started it ends
    child.unref();
    const ended = new Promise<ProgramEnd>((resolve) => {
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    return { process: processes.identify(child.pid!), ended };
  } finally {
    for (const file of files) closeSync(file);
  }
}
