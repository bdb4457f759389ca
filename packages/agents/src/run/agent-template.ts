/**
 * How the real agents are run without a terminal, and where their streams say what it cost. Belay adds no flag that
 * switches an agent's own permission checks off.
 */
import { fieldsOf, textAt, type Fields } from "../review/json-output.ts";
import {
  addTokens,
  numberAt,
  ofObjects,
  readAnyFacts,
  tokensOf,
  type AgentFacts,
  type ReadFacts,
} from "./agent-facts.ts";

/** Stands for the prompt in a command; without it the program gets the prompt on its standard input. */
export const PROMPT = "{prompt}";

/** Stands for the agent's own name of a conversation. */
const SESSION = "{session}";

/** How an agent is run. */
export interface AgentTemplate {
  readonly command: readonly string[];
  /** The command that goes on with a conversation; undefined where it cannot. */
  readonly resume?: readonly string[];
  /** For one run: trusts the directory, which is a new one in a fork. Only where the user agreed. */
  readonly trust?: readonly string[];
  /** What the user should know before it starts. */
  readonly notice?: string;
  readonly reportsCost: boolean;
  readonly reportsTokens: boolean;
  readonly read: ReadFacts;
}

/** The agents that Belay knows how to run. */
export const AGENT_TEMPLATES: Readonly<Record<string, AgentTemplate>> = {
  "claude-code": {
    command: words("claude -p --output-format stream-json --verbose --permission-mode acceptEdits"),
    resume: words(
      `claude -p --resume ${SESSION} --output-format stream-json --verbose --permission-mode acceptEdits`,
    ),
    reportsCost: true,
    reportsTokens: true,
    read: ofObjects(readClaude),
  },
  codex: {
    command: words("codex exec --json --skip-git-repo-check --sandbox workspace-write -"),
    resume: words(`codex exec --json --skip-git-repo-check --sandbox workspace-write resume ${SESSION} -`),
    reportsCost: false,
    reportsTokens: true,
    read: ofObjects(readCodex),
  },
  "gemini-cli": {
    command: words(`gemini -p ${PROMPT} -o stream-json --approval-mode auto_edit`),
    resume: words(`gemini --resume ${SESSION} -p ${PROMPT} -o stream-json --approval-mode auto_edit`),
    trust: ["--skip-trust"],
    reportsCost: false,
    reportsTokens: true,
    read: ofObjects(readGemini),
  },
  opencode: {
    command: words(`opencode run --format json ${PROMPT}`),
    resume: words(`opencode run --format json --session ${SESSION} ${PROMPT}`),
    notice: "opencode allows every tool by itself when it runs without a terminal.",
    reportsCost: true,
    reportsTokens: true,
    read: ofObjects(readOpencode),
  },
  "copilot-cli": {
    command: words(`copilot -p ${PROMPT} --output-format json`),
    trust: ["--trust-folder"],
    reportsCost: false,
    reportsTokens: false,
    read: readAnyFacts,
  },
  "qwen-code": {
    command: words(`qwen -p ${PROMPT} --output-format stream-json`),
    reportsCost: false,
    reportsTokens: true,
    read: ofObjects(readClaude),
  },
};

/** A command with the prompt and the conversation in their places. */
export function filledIn(command: readonly string[], prompt: string, session: string | null): string[] {
  return command.map((word) =>
    word.replaceAll(PROMPT, () => prompt).replaceAll(SESSION, () => session ?? ""),
  );
}

function words(line: string): string[] {
  return line.split(" ");
}

/** Claude Code, and Qwen Code after it. A message may come in several lines with the same figures. */
function readClaude(facts: AgentFacts, line: Fields): AgentFacts {
  const session = textAt(line, "session_id") || facts.session;
  const type = textAt(line, "type");
  if (type === "assistant") {
    const usage = usageOf(fieldsOf(fieldsOf(line, "message"), "usage"));
    // what the last message read is what the conversation holds so far
    return { ...facts, session, tokens: usage ?? facts.tokens };
  }
  if (type !== "result") return { ...facts, session };
  const failed = line["is_error"] === true;
  const answer = textAt(line, "result");
  return {
    session,
    cost: numberAt(line, "total_cost_usd"),
    tokens: usageOf(fieldsOf(line, "usage")) ?? facts.tokens,
    finished: true,
    failure: failed ? answer || textAt(line, "subtype") : null,
    answer,
  };
}

function usageOf(usage: Fields) {
  const read = numberAt(usage, "cache_read_input_tokens");
  const written = numberAt(usage, "cache_creation_input_tokens");
  return tokensOf({
    input: numberAt(usage, "input_tokens"),
    output: numberAt(usage, "output_tokens"),
    cached: read === null && written === null ? null : (read ?? 0) + (written ?? 0),
  });
}

function readCodex(facts: AgentFacts, line: Fields): AgentFacts {
  switch (textAt(line, "type")) {
    case "thread.started":
      return { ...facts, session: textAt(line, "thread_id") || facts.session };
    case "turn.completed": {
      const usage = fieldsOf(line, "usage");
      const input = numberAt(usage, "input_tokens");
      const output = numberAt(usage, "output_tokens");
      const cached = numberAt(usage, "cached_input_tokens");
      // what came from its cache is part of the input
      const total = input === null && output === null ? null : (input ?? 0) + (output ?? 0);
      const tokens = addTokens(facts.tokens, tokensOf({ input, output, cached, total }));
      return { ...facts, tokens, finished: true, failure: null };
    }
    case "turn.failed":
      return {
        ...facts,
        finished: true,
        failure: textAt(fieldsOf(line, "error"), "message") || "the turn failed",
      };
    case "item.completed": {
      const item = fieldsOf(line, "item");
      return textAt(item, "type") === "agent_message" ? { ...facts, answer: textAt(item, "text") } : facts;
    }
    default:
      return facts;
  }
}

function readGemini(facts: AgentFacts, line: Fields): AgentFacts {
  const session = textAt(line, "session_id") || facts.session;
  switch (textAt(line, "type")) {
    case "message":
      if (textAt(line, "role") !== "assistant") return { ...facts, session };
      return { ...facts, session, answer: `${facts.answer}${textAt(line, "content")}` };
    case "tool_use":
      return { ...facts, session, answer: "" };
    case "result": {
      const stats = fieldsOf(line, "stats");
      const tokens = tokensOf({
        input: numberAt(stats, "input_tokens"),
        output: numberAt(stats, "output_tokens"),
        cached: numberAt(stats, "cached"),
        total: numberAt(stats, "total_tokens"),
      });
      const failed = textAt(line, "status") === "error";
      const failure = failed ? textAt(fieldsOf(line, "error"), "message") || "it failed" : null;
      return { ...facts, session, tokens, finished: true, failure };
    }
    default:
      return { ...facts, session };
  }
}

function readOpencode(facts: AgentFacts, line: Fields): AgentFacts {
  const session = textAt(line, "sessionID") || facts.session;
  const part = fieldsOf(line, "part");
  switch (textAt(line, "type")) {
    case "step_finish": {
      const told = fieldsOf(part, "tokens");
      const cache = fieldsOf(told, "cache");
      const read = numberAt(cache, "read");
      const written = numberAt(cache, "write");
      const tokens = tokensOf({
        input: numberAt(told, "input"),
        output: numberAt(told, "output"),
        cached: read === null && written === null ? null : (read ?? 0) + (written ?? 0),
      });
      const cost = numberAt(part, "cost");
      return {
        ...facts,
        session,
        cost: cost === null ? facts.cost : (facts.cost ?? 0) + cost,
        tokens: addTokens(facts.tokens, tokens),
        finished: true,
      };
    }
    case "text":
      return { ...facts, session, answer: textAt(part, "text") };
    case "error":
      return { ...facts, session, failure: textAt(fieldsOf(line, "error"), "name") || "it failed" };
    default:
      return { ...facts, session };
  }
}
