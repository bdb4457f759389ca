/** What agents are to do, from the command line or a file of tasks. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { AgentBook, AgentTask, RunnableAgent } from "@belay/agents/orchestration";
import { usageError } from "@belay/protocol/errors";

/** Where tasks come from. */
export interface TaskSources {
  readonly directory: string;
  readonly prompts: readonly string[];
  /** A JSON file with a list of tasks; "-" is the standard input. */
  readonly tasks?: string | undefined;
  readonly agent?: string | undefined;
  /** The words after "--". */
  readonly command: readonly string[];
}

/** A task whose agent is known. */
export type PlannedTask = AgentTask & { readonly run: RunnableAgent };

/** All tasks; throws where one of them has no agent or no prompt. */
export function readTasks(sources: TaskSources, agents: AgentBook): PlannedTask[] {
  const { agent, command, prompts } = sources;
  if (agent !== undefined && command.length > 0)
    throw usageError("Either --agent or a command: not both.", HINT);
  const usual = command.length > 0 ? agents.command(command) : undefined;
  const tasks = [...prompts.map((prompt): AgentTask => ({ prompt })), ...readTaskFile(sources)];
  if (tasks.length === 0) throw usageError("No task: what should the agent do?", HINT);
  return tasks.map((task) => {
    const name = task.agent ?? agent;
    if (task.agent === undefined && usual !== undefined) return { ...task, run: usual };
    if (name === undefined) throw usageError("Which agent?", HINT);
    return { ...task, run: agents.find(name) };
  });
}

const HINT =
  "For example: belay agents run --agent claude-code -p 'add tests', or … -p 'add tests' -- my-agent";

/** The tasks of a file. */
export function readTaskFile({ tasks, directory }: Pick<TaskSources, "tasks" | "directory">): AgentTask[] {
  if (tasks === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(tasks === "-" ? 0 : resolve(directory, tasks), "utf8"));
  } catch (error) {
    throw usageError(`${tasks} cannot be read: ${(error as Error).message}`, SHAPE);
  }
  if (!Array.isArray(value)) throw usageError(`${tasks} is not a list of tasks.`, SHAPE);
  return value.map(asTask);
}

const SHAPE =
  'A list such as [{ "agent": "codex", "role": "tests", "prompt": "add tests", "limits": { "timeoutMinutes": 10 } }]';

/** A file names agents; it holds no commands. */
function asTask(value: unknown): AgentTask {
  const { agent, role, prompt = "", name, limits } = Object(value) as Record<string, unknown>;
  const texts = { agent, role, name };
  if (
    typeof prompt !== "string" ||
    Object.values(texts).some((text) => text !== undefined && typeof text !== "string")
  )
    throw usageError("A task has another shape.", SHAPE);
  const { timeoutMinutes, maxCost, maxTokens } = Object(limits) as Record<string, unknown>;
  for (const number of [timeoutMinutes, maxCost, maxTokens])
    if (number !== undefined && !(typeof number === "number" && number > 0))
      throw usageError("The limits of a task have to be numbers.", SHAPE);
  return {
    prompt,
    ...(agent !== undefined && { agent: agent as string }),
    ...(role !== undefined && { role: role as string }),
    ...(name !== undefined && { name: name as string }),
    limits: {
      ...(timeoutMinutes !== undefined && { timeoutMs: (timeoutMinutes as number) * 60_000 }),
      ...(maxCost !== undefined && { maxCost: maxCost as number }),
      ...(maxTokens !== undefined && { maxTokens: maxTokens as number }),
    },
  };
}
