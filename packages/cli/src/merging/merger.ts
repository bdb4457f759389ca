/** Who combines conflicts: a command that the user typed, the agent in the role of the merger, or an endpoint. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  filledIn,
  NO_FACTS,
  PROMPT,
  runCommand,
  type AgentBook,
  type AgentEndpoint,
  type RunnableAgent,
  type Tokens,
} from "@belay/agents/orchestration";
import { ContractError } from "@belay/protocol/errors";
import type { Scratch } from "./merger-scratch.ts";
import { readAnswers, RULES, type mergerTask, type MergerAnswer } from "./merger-task.ts";

/** What combines conflicts: the agent in the role of the merger, or an endpoint. */
export type Merger =
  | { readonly kind: "agent"; readonly agent: RunnableAgent }
  | { readonly kind: "endpoint"; readonly endpoint: AgentEndpoint };

/** What one try came to. [R102] What was not reported is null. */
export interface MergerTry {
  /** Undefined where there is no answer. */
  readonly answers: ReadonlyMap<string, MergerAnswer> | undefined;
  /** Why there is none. */
  readonly problem: string | undefined;
  readonly cost: number | null;
  readonly tokens: Tokens | null;
}

/** How a merger is asked. */
export interface MergerQuestion {
  readonly task: ReturnType<typeof mergerTask>;
  readonly environment: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The role that settings give. */
const ROLE = "merger";

/** The merger of the settings; throws `AGENT_NOT_FOUND` where they name none. */
export function mergerOf(agents: AgentBook): Merger {
  const name = agents.inRole(ROLE);
  if (name === undefined)
    throw new ContractError("AGENT_NOT_FOUND", "No merger is set. Nothing was started.", {
      hint: "`agents.roles.merger` in config.json names one; or give a command: `belay resolve --agent -- my-merger`.",
      facts: { agent: ROLE, agents: agents.names },
    });
  const endpoint = agents.endpoint(name);
  return endpoint === undefined
    ? { kind: "agent", agent: agents.find(name) }
    : { kind: "endpoint", endpoint };
}

/** What the user agrees to when a merger is first used. */
export function mergerWords(merger: Merger): readonly string[] {
  return merger.kind === "agent"
    ? merger.agent.command
    : ["send-conflicts-to", merger.endpoint.url, merger.endpoint.model];
}

/** Runs an agent in the scratch copy; it edits the files there. */
export async function runMerger(
  { command, environment: own, read }: RunnableAgent,
  scratch: Scratch,
  { task, environment, timeoutMs, signal }: MergerQuestion,
): Promise<MergerTry> {
  writeFileSync(scratch.task, JSON.stringify(task, null, 2), { mode: 0o600 });
  const prompt = `Resolve the merge conflicts that ${scratch.task} describes, in this directory. Write your answer to ${scratch.answer}. ${RULES.join(" ")}\n`;
  const readsPrompt = !command.some((word) => word.includes(PROMPT));
  const ended = await runCommand({
    command: filledIn(command, prompt, null),
    directory: scratch.tree,
    environment: { ...environment, ...own, BELAY_TASK: scratch.task, BELAY_ANSWER: scratch.answer },
    timeoutMs,
    signal,
    ...(readsPrompt && { input: prompt }),
  });
  const { cost, tokens } = ended.stdout.split("\n").reduce(read, NO_FACTS);
  const failed = (problem: string) => ({ answers: undefined, problem, cost, tokens });
  if (ended.how === "late") return failed("it took too long");
  if (ended.exitCode !== 0)
    return failed(
      ended.how === "unstarted" ? ended.stderr.trim() : `it ended with ${ended.exitCode ?? "a signal"}`,
    );
  const text = textOf(scratch.answer);
  if (text === undefined) return failed("it wrote no answer to the file that $BELAY_ANSWER names");
  const answers = readAnswers(text);
  return { answers, problem: answers === undefined ? NO_ANSWER : undefined, cost, tokens };
}

const NO_ANSWER = "its answer is not what was asked for";

/** Undefined where there is no such file. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Asks an endpoint; its answer has the texts. */
export async function askEndpoint(
  { url, model }: AgentEndpoint,
  { task, environment, timeoutMs, signal }: MergerQuestion,
): Promise<MergerTry> {
  const nothing = { answers: undefined, cost: null, tokens: null };
  try {
    const late = AbortSignal.timeout(timeoutMs);
    const key = environment[KEY_VARIABLE];
    const response = await fetch(`${url.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && key !== "" && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, response_format: { type: "json_object" }, messages: messagesOf(task) }),
    });
    if (!response.ok) return { ...nothing, problem: `it answered with ${response.status}` };
    const { choices, usage } = (await response.json()) as ChatAnswer;
    const answers = readAnswers(choices?.[0]?.message?.content ?? "");
    return {
      answers,
      problem: answers === undefined ? NO_ANSWER : undefined,
      cost: null,
      tokens: tokensOf(usage),
    };
  } catch (error) {
    const isLate = (error as Error).name === "TimeoutError";
    return {
      ...nothing,
      problem: isLate ? "it took too long" : `it could not be asked: ${(error as Error).message}`,
    };
  }
}

/** Where the key of an endpoint comes from. */
const KEY_VARIABLE = "BELAY_MERGER_KEY";

interface ChatAnswer {
  readonly choices?: readonly { readonly message?: { readonly content?: string } }[];
  readonly usage?: { prompt_tokens?: number; completion_tokens?: number; total_tokens?: number };
}

function messagesOf(task: MergerQuestion["task"]) {
  const rules = [
    "You combine merge conflicts of source files.",
    ...RULES.slice(1),
    "Answer with nothing but one JSON object of the form in `answer`, where each answer also has `content`: the whole text of the file.",
    "Outside the regions the text is the line-wise merge of ours and theirs, byte for byte.",
  ];
  return [
    { role: "system", content: rules.join(" ") },
    { role: "user", content: JSON.stringify(task) },
  ];
}

function tokensOf(usage: ChatAnswer["usage"]): Tokens | null {
  const {
    prompt_tokens: input = null,
    completion_tokens: output = null,
    total_tokens: total = null,
  } = usage ?? {};
  return input === null && output === null && total === null ? null : { input, output, cached: null, total };
}
