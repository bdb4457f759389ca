/** An agent for tests: a process of its own, and the events it sends. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import {
  processIdentity,
  type TakenCheckpoint,
  type ThreadId,
  type ToolRequest,
  type ToolResult,
} from "../../src/index.ts";
import type { TempWorkspace } from "./temp-workspace.ts";

/** An agent that is a process of its own and announces its tools, as those with hooks do. */
export async function agent({ workspace }: TempWorkspace, name: string): Promise<Agent> {
  // it starts a command for each line it is told, and ends all of them when it is told nothing more
  const client = spawn("bash", ["--norc", "-c", "while read -r line; do sleep 600 & done; kill $(jobs -p)"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  onTestFinished(() => void client.stdin.end());
  const identity = processIdentity(client.pid!);
  const { id } = await workspace.threads.open({
    agent: name,
    externalId: name,
    brackets: true,
    client: identity,
  });
  return new Agent(workspace, id, client);
}

export class Agent {
  readonly #workspace: TempWorkspace["workspace"];
  readonly thread: ThreadId;
  readonly #client: ChildProcess;
  #calls = 0;

  constructor(workspace: TempWorkspace["workspace"], thread: ThreadId, client: ChildProcess) {
    this.#workspace = workspace;
    this.thread = thread;
    this.#client = client;
  }

  async prompt(content: string): Promise<void> {
    await this.#workspace.turns.prompt(this.thread, { content });
  }

  /** A tool that is still running when this returns. */
  async startTool(work: () => void = () => undefined, call: Partial<ToolRequest> = {}): Promise<string> {
    const toolUseId = `${this.thread}-${(this.#calls += 1)}`;
    await this.#workspace.turns.beginTool(this.thread, { tool: "Bash", toolUseId, ...call });
    work();
    return toolUseId;
  }

  async endTool(toolUseId: string, result: Partial<ToolResult> = {}): Promise<void> {
    await this.#workspace.turns.endTool(this.thread, { toolUseId, ...result });
  }

  /** A process that runs until the agent ends. */
  async startCommand(): Promise<void> {
    const { pid, stdin } = this.#client;
    stdin!.write("\n");
    while (readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8") === "") await pause(5);
  }

  /** The agent lives on, what it started does not. */
  async endCommands(): Promise<void> {
    const { pid } = this.#client;
    const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    for (const child of children()
      .split(" ")
      .filter((text) => text !== ""))
      process.kill(Number(child));
    while (children() !== "") await pause(5);
  }

  async tool(work: () => void): Promise<void> {
    await this.endTool(await this.startTool(work));
  }

  async stop(): Promise<void> {
    await this.#workspace.turns.end(this.thread);
  }

  async die(): Promise<void> {
    this.#client.kill("SIGKILL");
    if (this.#client.exitCode === null && this.#client.signalCode === null) await once(this.#client, "exit");
  }
}

/** The resident process looks, and looks again after an agent had time to tell of what has ended. */
export async function lookTwice({ workspace }: TempWorkspace): Promise<TakenCheckpoint | null> {
  expect(await workspace.turns.noticeCutOff()).toBeNull();
  await pause(2000);
  return workspace.turns.noticeCutOff();
}
