/** Finds the adapter of an agent. Each is loaded on demand: a hook starts for every tool call. */
import { AGENT_IDS, type AgentId } from "../events/agent-id.ts";
import type { AgentAdapter } from "./adapter.ts";
import type { Payload } from "../events/payload.ts";

const LOADERS: Readonly<Record<AgentId, () => Promise<AgentAdapter>>> = {
  "claude-code": async () => (await import("./claude-code.ts")).claudeCode,
  codex: async () => (await import("./codex.ts")).codex,
  "gemini-cli": async () => (await import("./gemini-cli.ts")).geminiCli,
  opencode: async () => (await import("./opencode.ts")).opencode,
  cursor: async () => (await import("./cursor.ts")).cursor,
  "copilot-cli": async () => (await import("./copilot-cli.ts")).copilotCli,
  "qwen-code": async () => (await import("./qwen-code.ts")).qwenCode,
};

/** True for the name of an agent that has an adapter. */
export function isAgentId(name: string): name is AgentId {
  return (AGENT_IDS as readonly string[]).includes(name);
}

/** The adapter of one agent. */
export async function loadAgent(id: AgentId): Promise<AgentAdapter> {
  return LOADERS[id]();
}

/** The adapters of all agents, in the order of their names' list. */
export async function loadAllAgents(): Promise<AgentAdapter[]> {
  return Promise.all(AGENT_IDS.map(loadAgent));
}

/**
 * The agent that really sent an event. Cursor, Copilot CLI and more also run the hooks in Claude Code's settings, so the
 * name in the command line is only that of the settings file. The payload counts before the
 * environment: an agent started from another one's shell inherits that one's variables.
 */
export function recogniseAgent(named: AgentId, payload: Payload, environment: NodeJS.ProcessEnv): AgentId {
  if (named !== "claude-code") return named;
  if (Object.hasOwn(payload, "cursor_version")) return "cursor";
  const isClaude = Object.hasOwn(payload, "prompt_id") || Object.hasOwn(payload, "permission_mode");
  const isCopilot = Object.hasOwn(payload, "timestamp") && !Object.hasOwn(payload, "transcript_path");
  if (!isClaude && (isCopilot || Object.hasOwn(payload, "stop_reason"))) return "copilot-cli";
  if (environment["COPILOT_CLI"] === "1" && Object.hasOwn(payload, "timestamp")) return "copilot-cli";
  return named;
}
